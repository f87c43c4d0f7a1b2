//! H. Names that stand twice.

use serde_json::{Value, json};
use toolhost::supervisor::Patience;
use toolhost::supervisor::status::Phase;

use crate::common::caller::{INVOKE, LIST};
use crate::common::eventually::eventually;
use crate::harness::Hosted;
use crate::moods::{LANGUAGES, entry, mood};
use crate::world::World;

#[tokio::test]
async fn a_name_of_two_toolboxes_stays_theirs_while_one_of_them_is_down() {
    let tools = json!([{"name": "search", "description": "d"}]);
    let mut frail = entry("rust", &json!({"tools": tools}));
    frail["restart"] = json!({"when": "never"});
    let mut world = World::start(json!({"a": entry("node", &json!({"tools": tools})), "b": frail})).await;
    let told = json!({"name": "echo", "error": "Ambiguous tool name: 'echo' is owned by 'a', 'b', 'healthy'"});
    let listed = |answer: Value| {
        answer["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["name"] == "echo")
            .count()
    };
    assert_eq!(world.caller.ask(INVOKE, &json!({"name": "echo"})).await, told);
    assert_eq!(listed(world.caller.ask(LIST, &json!({})).await), 3);
    assert_eq!(world.call("b", "echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    world.call("b", "exit", json!({"status": 1})).await.unwrap_err();
    eventually("it is down", || world.host.toolbox("b")["state"] == "failed").await;
    assert_eq!(
        world.caller.ask(INVOKE, &json!({"name": "echo"})).await,
        told,
        "as before"
    );
    assert_eq!(listed(world.caller.ask(LIST, &json!({})).await), 3);
    assert_eq!(
        world.call("a", "echo", json!({"n": 1})).await,
        Ok(json!({"n": 1})),
        "the pair still says whose"
    );
    world.stop().await;
}

#[tokio::test]
async fn a_toolbox_that_lists_a_name_twice_is_refused_and_says_which() {
    for language in LANGUAGES {
        let own = json!({"tools": [{"name": "a"}, {"name": "b"}, {"name": "a"}]});
        let toolbox = Hosted::start(mood(language, &own));
        let Phase::Backoff(reason) = toolbox.wait_for(|phase| matches!(phase, Phase::Backoff(_))).await else {
            unreachable!()
        };
        assert!(
            reason.contains("'a'") && reason.contains("twice"),
            "{language}: {reason}"
        );
    }
}

/// A caller who was told the tools may ask for the list next.
#[tokio::test(flavor = "multi_thread")]
async fn tools_that_somebody_was_told_of_are_in_every_list_from_then_on() {
    for round in 0..60 {
        let toolbox = Hosted::start(mood("rust", &json!({})));
        let described = toolbox.handle.describe(Patience::Short).await.expect("it is up");
        let listed = toolbox.handle.brief().borrow().tools.clone();
        assert_eq!(listed.map(|tools| tools.len()), Some(described.len()), "round {round}");
    }
}
