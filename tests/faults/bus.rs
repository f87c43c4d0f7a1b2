//! A and K. What other clients of the bus may send, and what toolhost makes of it.

use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::Message;

use crate::common::raw::Raw;
use crate::world::World;

#[tokio::test]
async fn frames_that_are_no_message_leave_a_line_in_the_log_and_stop_nothing() {
    let mut world = World::start(json!({})).await;
    let mut raw = Raw::connect(&world.bus.url).await;
    raw.text().await.expect("the greeting");
    // This caller makes JSON of all it hears, which some of it is not.
    for (frame, logged) in [
        (Message::text(r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"healthy""#), "not JSON"),
        (Message::binary(r#"{"type":"ovos.persona.tools.call","data":7,"context":{}}"#), "data is a number"),
        (Message::text(r#"{"type":"ovos.persona.tools.call","data":null,"context":{}}"#), "malformed message"),
        (Message::text("\u{feff}{\"type\":\"ovos.persona.tools.call\"}"), "byte order mark"),
        (Message::text("{}"), "malformed message"),
        (Message::binary(b"\x00\x01".as_slice()), "malformed message"),
    ] {
        raw.send(frame.clone()).await;
        let url = world.bus.url.clone();
        world.caller.reconnect(&url).await;
        world.healthy().await;
        world.logged(logged).await;
    }
    world.stop().await;
}
