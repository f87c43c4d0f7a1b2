//! C and L. Reloads that come thick and fast.

use serde_json::{Value, json};

use crate::common::caller::RELOAD;
use crate::common::eventually::eventually;
use crate::moods::entry;
use crate::world::World;

fn numbered(n: usize) -> Value {
    let mut toolbox = entry("rust", &json!({}));
    toolbox["env"]["ROUND"] = n.to_string().into();
    toolbox
}

#[tokio::test]
async fn twenty_quick_reloads_of_an_edited_toolbox_leave_one_process_of_it() {
    let mut world = World::start(json!({"edited": numbered(0), "removed": numbered(0)})).await;
    let mut tokens = Vec::new();
    for n in 1..=20 {
        world.write(&json!({"edited": numbered(n)}));
        tokens.push(world.caller.send(RELOAD, &json!({})).await);
        world.healthy().await;
    }
    for token in &tokens {
        let answers = world.caller.wait(token, 1).await;
        assert_eq!(answers[0].get("error"), None, "each is answered");
    }
    assert!(world.caller.nothing_was_answered_twice());
    eventually("one process of each", || world.host.processes().len() == 2).await;
    assert_eq!(world.call("edited", "echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    let environment = std::fs::read(format!("/proc/{}/environ", world.host.pid_of("edited"))).unwrap();
    assert!(
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == b"ROUND=20"),
        "that of the last file"
    );
    let removed = world.host.toolbox("removed");
    assert_eq!(removed, Value::Null, "what was removed stays down");
    world.stop().await;
}

#[tokio::test]
async fn a_reload_during_a_reload_costs_no_call_and_is_answered_too() {
    let own = json!({"capabilities": ["concurrent"]});
    let kept = entry("rust", &own);
    let mut edited = entry("rust", &own);
    let removed = entry("rust", &own);
    let mut world = World::start(json!({"kept": kept, "edited": edited, "removed": removed})).await;
    let pid = world.host.pid_of("kept");
    let mut running = Vec::new();
    for id in ["kept", "edited", "removed"] {
        running.push(world.send(id, "slowly", json!({"seconds": 1})).await);
    }
    eventually("they run", || {
        ["kept", "edited", "removed"]
            .iter()
            .all(|id| world.host.toolbox(id)["processes"][0]["in_flight"] == 1)
    })
    .await;
    edited["env"]["MORE"] = "1".into();
    world.write(&json!({"kept": kept, "edited": edited, "added": entry("bash", &json!({}))}));
    let first = world.caller.send(RELOAD, &json!({})).await;
    let second = world.caller.send(RELOAD, &json!({})).await;
    for token in running {
        assert_eq!(
            world.answer(&token).await,
            Ok(json!("slept")),
            "what was in hand is finished"
        );
    }
    for token in [first, second] {
        let answer = world.caller.wait(&token, 1).await.remove(0);
        let of = |id: &str| {
            answer["tools"]
                .as_array()
                .unwrap()
                .iter()
                .any(|tool| tool["toolbox_id"] == id)
        };
        assert_eq!(
            [of("kept"), of("edited"), of("added"), of("removed")],
            [true, true, true, false]
        );
    }
    assert_eq!(world.host.pid_of("kept"), pid);
    assert!(world.caller.nothing_was_answered_twice());
    world.stop().await;
}
