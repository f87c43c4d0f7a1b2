//! Toolboxes that sleep, as callers on the bus and the owner see them.

use serde_json::{Value, json};

use crate::common::caller::{Caller, DISCOVER, INVOKE, LIST};
use crate::common::embedded::Embedded;
use crate::common::eventually::{eventually, within};
use crate::common::host::{Host, moody};
use crate::common::scratch::Scratch;

fn lazy(own: &Value) -> Value {
    let mut toolbox = moody(own);
    toolbox["start"] = "lazy".into();
    // Wherever the host has its file.
    toolbox["cwd"] = "/".into();
    toolbox
}

fn config(url: &str, toolboxes: &Value) -> Value {
    json!({"bus": {"url": url}, "tool_service": true, "toolboxes": toolboxes})
}

/// A host that keeps what it keeps in `state`.
async fn run(config: &Value, state: &Scratch) -> Host {
    let mut host = Host::launch_with(config, |command| _ = command.env("XDG_STATE_HOME", state.path()));
    host.ready().await;
    host
}

async fn sleeps(host: &Host, toolbox_id: &str) {
    eventually("it sleeps", || {
        let toolbox = host.toolbox(toolbox_id);
        toolbox["state"] == "asleep" && toolbox["processes"] == json!([])
    })
    .await;
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn after_a_new_start_of_the_host_its_tools_are_told_and_no_process_runs() {
    let bus = Embedded::start().await;
    let state = Scratch::new();
    let config = config(&bus.url, &json!({"big": lazy(&json!({}))}));
    let host = run(&config, &state).await;
    sleeps(&host, "big").await;
    host.stop().await;
    let kept = state.path().join("toolhost/tools/big.json");
    assert!(kept.exists());

    let host = run(&config, &state).await;
    let mut caller = Caller::connect(&bus.url).await;
    let discovered = caller.ask(DISCOVER, &json!({})).await;
    assert!(names(&discovered).contains(&"echo"), "{discovered}");
    let listed = caller.ask(LIST, &json!({})).await;
    assert!(names(&listed).contains(&"echo"), "{listed}");
    let got = caller.ask("ovos.tools.get", &json!({"name": "echo"})).await;
    assert_eq!(got["name"], "echo", "{got}");
    let toolbox = host.toolbox("big");
    assert_eq!(
        (&toolbox["state"], &toolbox["processes"]),
        (&json!("asleep"), &json!([]))
    );
    assert_eq!(toolbox["reason"], "started by the next call");
    assert!(!host.log().contains("process started"), "{}", host.log());
    // By the flat name as well.
    let invoked = caller.ask(INVOKE, &json!({"name": "echo", "args": {"n": 1}})).await;
    assert_eq!(invoked["result"], json!({"n": 1}), "{invoked}");
    assert_eq!(host.toolbox("big")["state"], "ready");
    assert_eq!(host.toolbox("big")["restarts"], 0);
    host.stop().await;
}

#[tokio::test]
async fn the_host_is_ready_before_a_slow_lazy_toolbox_has_told_its_tools() {
    let bus = Embedded::start().await;
    let gate = Scratch::new();
    let go = gate.path().join("go");
    let toolboxes = json!({"big": lazy(&json!({"wait_for_file": go})), "small": moody(&json!({}))});
    let host = Host::launch(&config(&bus.url, &toolboxes));
    eventually("it is on the bus", || {
        host.status()
            .is_some_and(|status| status["host"]["bus"]["state"] == "connected")
    })
    .await;
    let mut caller = Caller::connect(&bus.url).await;
    let asked = async {
        while caller.ask("mycroft.toolhost.is_ready", &json!({})).await != json!({"status": true}) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    within("it is ready", asked).await;
    assert_eq!(host.toolbox("big")["state"], "starting");
    std::fs::write(go, "").unwrap();
    sleeps(&host, "big").await;
    host.stop().await;
}

#[tokio::test]
async fn what_nobody_calls_goes_and_its_owner_sees_it_asleep() {
    let bus = Embedded::start().await;
    let mut idle = moody(&json!({}));
    idle["idle_timeout"] = "200ms".into();
    let host = Host::start(&config(&bus.url, &json!({"idle": idle, "busy": moody(&json!({}))}))).await;
    sleeps(&host, "idle").await;
    assert_eq!(host.toolbox("busy")["state"], "ready");
    let mut caller = Caller::connect(&bus.url).await;
    let kwargs = json!({"n": 1});
    assert_eq!(caller.call("idle", "echo", &kwargs).await, Ok(kwargs));
    // A reload does not wake it.
    sleeps(&host, "idle").await;
    caller.ask("ovos.tools.reload", &json!({})).await;
    assert_eq!(host.toolbox("idle")["state"], "asleep");
    host.stop().await;
}

#[tokio::test]
async fn a_lazy_toolbox_that_is_required_shows_at_the_start_that_it_can() {
    let bus = Embedded::start().await;
    let broken = json!({"command": ["no-such-program"], "start": "lazy", "required": true});
    let mut host = Host::launch(&config(&bus.url, &json!({"broken": broken})));
    assert_eq!(host.ended().await.code(), Some(1));
    assert!(
        host.log().contains("the required toolbox 'broken' cannot be started"),
        "{}",
        host.log()
    );
}
