//! Calls that come at awkward moments: before the first describe, across replacements, beside a hang.

use std::time::Duration;

use serde_json::{Value, json};
use toolhost::config::{Mode, ToolboxConfig};
use toolhost::supervisor::Patience;

use crate::harness::{DEADLINE, Folder, Hosted, config, eventually, moody};

/// A toolbox with one tool `t` that sleeps `s` seconds; options shape its describe and its end.
const SHAPED: &str = r#"
import json, os, sys, time
options = json.loads(sys.argv[1])
second = False
if "second_hangs" in options:
    try: os.close(os.open(options["second_hangs"], os.O_CREAT | os.O_EXCL))
    except FileExistsError: second = True
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "describe":
        time.sleep(options.get("describe_delay", 0))
        once = options.get("describes_once")
        if once:
            if os.path.exists(once): sys.exit(1)
            open(once, "w").close()
        if second: time.sleep(600)
        tool = {"name": "t", **options.get("tool", {})}
        print(json.dumps({"id": request["id"], "result": {"tools": [tool]}}), flush=True)
    else:
        time.sleep(request["kwargs"].get("s", 0))
        print(json.dumps({"id": request["id"], "result": 1}), flush=True)
if options.get("lingers"): time.sleep(600)
"#;

fn shaped(options: &Value) -> ToolboxConfig {
    config("shaped", &["python3", "-c", SHAPED, &options.to_string()])
}

#[tokio::test]
async fn a_tools_own_time_holds_for_calls_that_came_before_it_was_known() {
    let mut slow = shaped(&json!({"describe_delay": 0.5, "tool": {"timeout": 60}}));
    // Long enough for the toolbox to come up, and over before the call is.
    slow.timeout = Duration::from_secs(6);
    assert_eq!(Hosted::start(slow).call("t", json!({"s": 7})).await, Ok(json!(1)));
    let quick = shaped(&json!({"describe_delay": 0.5, "tool": {"timeout": "1s"}}));
    let error = Hosted::start(quick).call("t", json!({"s": 15})).await.unwrap_err();
    assert_eq!(error, "TimeoutError: 't' did not answer within 1s");
}

#[tokio::test]
async fn a_bad_early_call_costs_a_run_once_toolbox_no_place() {
    let mut once = shaped(&json!({"describe_delay": 0.5, "lingers": true}));
    once.mode = Mode::Oneshot;
    let toolbox = Hosted::start(once);
    assert_eq!(
        toolbox.call("nope", json!({})).await,
        Err("Unknown tool: 'nope'".into())
    );
    for _ in 0..2 {
        assert_eq!(toolbox.call("t", json!({})).await, Ok(json!(1)));
    }
}

#[tokio::test]
async fn a_run_once_toolbox_takes_as_many_calls_as_it_has_places_before_any_waits() {
    let mut once = shaped(&json!({}));
    (once.mode, once.max_pending, once.processes) = (Mode::Oneshot, 1, 4);
    let toolbox = Hosted::start(once).ready().await;
    let calls = [(); 4].map(|()| toolbox.send("t", json!({"s": 0.3})));
    for call in calls {
        assert_eq!(call.get().await, Ok(json!(1)));
    }
}

#[tokio::test]
async fn calls_go_on_through_two_replacements() {
    let mut first = Hosted::start(moody(&json!({}))).ready().await;
    let busy = first.send("sleep", json!({"seconds": 1}));
    let oldest = first.send("echo", json!({"from": "first"}));
    first.pending(1).await;
    let mut second = Hosted::start_after(moody(&json!({})), first.task.take());
    first.handle.stop(Duration::from_secs(10));
    let older = second.send("echo", json!({"from": "second"}));
    second.pending(1).await;
    let third = Hosted::start_after(moody(&json!({})), second.task.take());
    second.handle.stop(Duration::from_secs(10));
    assert_eq!(busy.get().await, Ok(json!("slept")));
    assert_eq!(oldest.get().await, Ok(json!({"from": "first"})));
    assert_eq!(older.get().await, Ok(json!({"from": "second"})));
    assert_eq!(third.call("echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn one_hung_call_of_a_concurrent_toolbox_takes_no_neighbor_with_it() {
    let mut config = moody(&json!({"capabilities": ["concurrent"]}));
    config.timeout = Duration::from_secs(3);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    let hung = toolbox.send("sleep", json!({"seconds": 60}));
    // Still at work when the hung one's time and grace are over.
    tokio::time::sleep(Duration::from_millis(1800)).await;
    let neighbor = toolbox.send("sleep", json!({"seconds": 2.6}));
    assert_eq!(
        hung.get().await,
        Err("TimeoutError: 'sleep' did not answer within 3s".into())
    );
    assert_eq!(neighbor.get().await, Ok(json!("slept")));
    assert_eq!(toolbox.pid().await, pid, "it answers others, so it is not replaced");
}

#[tokio::test]
async fn a_concurrent_toolbox_that_hangs_as_a_whole_is_replaced() {
    let mut config = moody(&json!({"capabilities": ["concurrent"]}));
    config.timeout = Duration::from_millis(700);
    let toolbox = Hosted::start(config).ready().await;
    let pid = toolbox.pid().await;
    // Stopped, it answers nobody, and calls keep coming.
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGSTOP).unwrap();
    let start = std::time::Instant::now();
    while toolbox.call("echo", json!({})).await.is_err() {
        assert!(start.elapsed() < DEADLINE, "never replaced");
    }
    assert_ne!(toolbox.pid().await, pid);
}

#[tokio::test]
async fn a_process_that_dies_in_a_describe_hides_no_tools_that_are_served() {
    let folder = Folder::new();
    let mut once = shaped(&json!({"describes_once": folder.path("described")}));
    once.mode = Mode::Oneshot;
    let toolbox = Hosted::start(once).ready().await;
    assert_eq!(toolbox.tools().await, Some(vec!["t".to_owned()]));
    assert_eq!(toolbox.call("t", json!({})).await, Ok(json!(1)));
}

#[tokio::test]
async fn a_sibling_that_never_comes_up_delays_no_discover() {
    let folder = Folder::new();
    let mut two = shaped(&json!({"second_hangs": folder.path("first")}));
    (two.processes, two.describe_timeout) = (2, Duration::from_secs(60));
    let toolbox = Hosted::start(two).ready().await;
    let start = std::time::Instant::now();
    assert_eq!(toolbox.tools().await, Some(vec!["t".to_owned()]));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_start_while_a_run_once_process_lingers_does_not_make_the_toolbox_look_down() {
    let mut once = shaped(&json!({"lingers": true}));
    once.mode = Mode::Oneshot;
    let toolbox = Hosted::start(once).ready().await;
    assert_eq!(toolbox.call("t", json!({})).await, Ok(json!(1)));
    toolbox.handle.start();
    assert_eq!(toolbox.tools().await, Some(vec!["t".to_owned()]));
}

#[tokio::test]
async fn a_change_is_asked_of_the_process_that_told_it() {
    let folder = Folder::new();
    let file = folder.path("grow");
    let mut config = moody(&json!({"extra_tool_file": file}));
    config.processes = 2;
    let toolbox = Hosted::start(config).ready().await;
    std::fs::write(&file, "").unwrap();
    let lines = json!({"lines": ["{\"event\": \"tools_changed\"}", "{\"id\": $ID, \"result\": 1}"]});
    assert_eq!(toolbox.call("raw", lines).await, Ok(json!(1)));
    let brief = toolbox.handle.brief();
    let grown = || {
        brief
            .borrow()
            .tools
            .as_ref()
            .is_some_and(|tools| tools.get("grown").is_some())
    };
    eventually("the new tool", grown).await;
}

#[tokio::test]
async fn a_tool_that_asks_for_an_endless_time_gets_the_usual_one() {
    let toolbox = Hosted::start(shaped(&json!({"tool": {"timeout": 1e19}})));
    assert_eq!(toolbox.call("t", json!({})).await, Ok(json!(1)));
}

#[tokio::test]
async fn a_tool_whose_schema_is_none_costs_itself_alone() {
    let toolbox = Hosted::start(shaped(&json!({"tool": {"argument_schema": 5}})));
    let error = toolbox.call("t", json!({})).await.unwrap_err();
    assert_eq!(
        error,
        "Invalid schema of 't': argument_schema: expected an object or a boolean"
    );
    let definition = toolbox
        .handle
        .describe(Patience::Short)
        .await
        .unwrap()
        .get("t")
        .unwrap()
        .definition
        .as_str()
        .to_owned();
    assert!(
        definition.contains(r#""argument_schema":{"type":"object"}"#),
        "{definition}"
    );
}

#[tokio::test]
async fn an_own_path_is_not_shown_to_callers() {
    let mut config = config("odd", &["no-such-program"]);
    config.env.0.insert("PATH".into(), "/opt/s3cr3t-token/bin".into());
    let error = Hosted::start(config).call("any", json!({})).await.unwrap_err();
    assert!(
        error.contains("'no-such-program' not found on the PATH that its env sets"),
        "{error}"
    );
    assert!(!error.contains("s3cr3t"), "{error}");
}

#[tokio::test]
async fn an_answer_without_an_end_of_line_counts_though_a_daemon_holds_the_pipe() {
    let program = r#"
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "describe":
        print(json.dumps({"id": request["id"], "result": {"tools": [{"name": "t"}]}}), flush=True)
    else:
        if os.fork() == 0:
            os.setsid(); time.sleep(5); os._exit(0)
        sys.stdout.write(json.dumps({"id": request["id"], "result": 1})); sys.stdout.flush(); os._exit(0)
"#;
    let mut config = config("daemon", &["python3", "-c", program]);
    config.mode = Mode::Oneshot;
    assert_eq!(
        Hosted::start(config).ready().await.call("t", json!({})).await,
        Ok(json!(1))
    );
}
