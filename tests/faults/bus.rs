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
    for (frame, logged) in [
        (
            Message::text(r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"healthy""#),
            "not JSON",
        ),
        (
            Message::binary(r#"{"type":"ovos.persona.tools.call","data":7,"context":{}}"#),
            "its data is not an object",
        ),
        (
            Message::text(r#"{"type":"ovos.persona.tools.call","data":{},"context":null}"#),
            "its context is not an object",
        ),
        (
            Message::text("\u{feff}{\"type\":\"ovos.persona.tools.call\"}"),
            "byte order mark",
        ),
        // No topic, so that nobody knows whom it is for: one of the lines above is all that is said of its kind.
        (Message::text("{}"), "malformed message dropped"),
        (Message::binary(b"\x00\x01".as_slice()), "malformed message dropped"),
    ] {
        raw.send(frame.clone()).await;
        // The caller makes JSON of all it hears, which some of this is not.
        let url = world.bus.url.clone();
        raw.sync("marker").await;
        world.caller.reconnect(&url).await;
        world.healthy().await;
        world.logged(logged).await;
    }
    assert_eq!(world.lines(&["connected to the bus"]).len(), 1, "{}", world.host.log());
    world.stop().await;
}
