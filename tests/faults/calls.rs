//! E. Calls past their time, names nobody has, results nobody can carry.

use std::time::Duration;

use serde_json::json;

use crate::common::caller::INVOKE;
use crate::harness::{Hosted, is_alive};
use crate::moods::{Healthy, LANGUAGES, entry, mood};
use crate::world::World;

#[tokio::test]
async fn a_call_past_its_time_does_not_wedge_the_next_ones_in_any_language() {
    let healthy = Healthy::start().await;
    let one = async |language: &str| {
        let mut config = mood(language, &json!({}));
        config.timeout = Duration::from_secs(4);
        let toolbox = Hosted::start(config).ready().await;
        let pid = toolbox.pid().await;
        let slow = toolbox.call("hang", json!({})).await;
        assert_eq!(
            slow,
            Err("TimeoutError: 'hang' did not answer within 4s".into()),
            "{language}"
        );
        toolbox.served_again().await;
        for n in 0..5 {
            assert_eq!(
                toolbox.call("echo", json!({"n": n})).await,
                Ok(json!({"n": n})),
                "{language}"
            );
        }
        assert!(!is_alive(pid), "{language}: the busy process is replaced");
    };
    healthy.beside(futures_util::future::join_all(LANGUAGES.map(one))).await;
    healthy.never_noticed().await;
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_told_whatever_it_is() {
    let mut world = World::start(json!({})).await;
    for name in ["", "__proto__", "constructor", "__class__", "nope\n", "no\u{0}pe"] {
        let error = world.call("healthy", name, json!({})).await.unwrap_err();
        assert_eq!(error, format!("Unknown tool: '{name}'"));
        let data = world.caller.ask(INVOKE, &json!({"name": name})).await;
        assert_eq!(data["error"], format!("Unknown tool: '{name}'"));
        world.healthy().await;
    }
    let long = "x".repeat(1 << 20);
    let error = world.call("healthy", &long, json!({})).await.unwrap_err();
    assert!(error.starts_with("Unknown tool: 'xxx"), "{} bytes", error.len());
    for name in [json!(5), json!(["echo"]), json!({"echo": 1}), json!(true)] {
        let data = world.caller.ask("ovos.tools.get", &json!({"name": name})).await;
        assert!(data["error"].as_str().unwrap().starts_with("Unknown tool: '"), "{data}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_result_the_bus_cannot_carry_is_an_error_and_the_connection_stays() {
    let mut large = entry("rust", &json!({}));
    large["max_line"] = "100MiB".into();
    large["timeout"] = "60s".into();
    let mut world = World::start(json!({"large": large, "usual": entry("python", &json!({}))})).await;
    let mebibytes = |n: usize| json!({"bytes": n << 20});
    assert_eq!(
        world
            .call("large", "big", mebibytes(5))
            .await
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        5 << 20
    );
    for (toolbox, size, expected) in [
        (
            "large",
            20,
            "ResultTooLarge: result too large (20971522 bytes, limit 8388608)",
        ),
        (
            "large",
            70,
            "ResultTooLarge: result too large (73400322 bytes, limit 8388608)",
        ),
        ("usual", 20, "ProtocolError: line longer than 16777216 bytes"),
    ] {
        let big = world.send(toolbox, "big", mebibytes(size)).await;
        world.healthy().await;
        assert_eq!(world.answer(&big).await, Err(expected.into()), "{toolbox} {size} MiB");
    }
    assert_eq!(world.lines(&["connected to the bus"]).len(), 1, "{}", world.host.log());
    world.stop().await;
}
