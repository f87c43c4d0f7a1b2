//! The commands that ask, over a real bus with a small host on it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;
use toolhost::bus::embedded::{EmbeddedBus, EmbeddedOptions};
use toolhost::bus::link::{FrameHandler, Sender, Transport as _};
use toolhost::cli::attach::attach;
use toolhost::cli::request::Request;

/// The program, in an environment of its own.
#[allow(clippy::disallowed_methods, reason = "a test starts the program as a user does")]
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

/// Runs the program against `url`.
fn toolhost(url: &str, arguments: &[&str]) -> Output {
    command(arguments).args(["--bus", url]).output().unwrap()
}

/// The exit code and what went to stdout and stderr.
fn said(url: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = toolhost(url, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Answers for the toolboxes `wordnet` and `empty` as a host of OVOS-TOOLS-1 does.
struct Host(Sender);

const DEFINITION: &str = r#"{"name":"define_word","toolbox_id":"wordnet","description":"Define a word","argument_schema":{"maximum":1e400}}"#;

impl Host {
    fn answer(&self, asked: &Value, data: &str) {
        let topic = format!("{}.response", asked["type"].as_str().unwrap());
        let context = &asked["context"];
        self.0
            .send(format!(r#"{{"type":"{topic}","data":{data},"context":{context}}}"#).into());
    }

    fn call(&self, asked: &Value, arguments: &str) {
        let data = match asked["data"]["name"].as_str().unwrap() {
            "echo" => format!(
                r#"{{"toolbox_id":"wordnet","result":{{"got": {}, "n": 1.50}}}}"#,
                asked["data"][arguments]
            ),
            name => json!({"toolbox_id": "wordnet", "error": format!("Unknown tool: '{name}'")}).to_string(),
        };
        self.answer(asked, &data);
    }
}

impl FrameHandler for Host {
    fn frame(&mut self, frame: Utf8Bytes) {
        let asked: Value = serde_json::from_str(&frame).unwrap();
        let topic = asked["type"].as_str().unwrap();
        // The bus greets, and brings the answers of this host back.
        if topic.starts_with("ovos.") && !topic.ends_with(".response") {
            assert_eq!(asked["context"]["source"], "toolhost", "who asks has a name");
        }
        match topic {
            "ovos.persona.tools.call" if asked["data"]["toolbox_id"] == "wordnet" => {
                assert_eq!(asked["context"].get("session"), None);
                // Somebody else's answer on the same topic, before ours.
                let mut other = asked.clone();
                other["context"]["toolhost_call"] = "another".into();
                self.answer(&other, r#"{"result":"not yours"}"#);
                self.call(&asked, "kwargs");
            }
            "ovos.persona.tools.wordnet.call" => self.call(&asked, "kwargs"),
            "ovos.tools.invoke" => self.call(&asked, "args"),
            "ovos.tools.get" => self.answer(&asked, DEFINITION),
            "ovos.tools.list" | "ovos.tools.reload" => {
                self.answer(&asked, &format!(r#"{{"tools": [ {DEFINITION} ]}}"#))
            }
            "ovos.persona.tools.discover" => {
                self.answer(&asked, &format!(r#"{{"toolbox_id":"wordnet","tools":[{DEFINITION}]}}"#));
                self.answer(&asked, r#"{"toolbox_id":"empty","tools":[]}"#);
            }
            _ => {}
        }
    }
}

/// A bus with the host on it, until dropped.
async fn bus_with_host() -> (String, tokio_util::sync::DropGuard) {
    let stop = CancellationToken::new();
    let bus = EmbeddedBus::bind("127.0.0.1:0".parse().unwrap(), EmbeddedOptions::default())
        .await
        .unwrap();
    let attachment = bus.attach(stop.clone());
    let host = Host(attachment.sender());
    let url = bus.url();
    tokio::spawn(attachment.run(host));
    tokio::spawn(bus.run(stop.clone()));
    (url, stop.drop_guard())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_question_gets_its_own_answer_and_nothing_else_on_stdout() {
    let (url, _stop) = bus_with_host().await;
    let list = format!("[{DEFINITION}]\n");
    let call = ["call", "wordnet", "echo", "word=tool", "n:=123456789012345678901"];
    let got = "{\"got\":{\"word\":\"tool\",\"n\":123456789012345678901},\"n\":1.50}\n";
    let table: [(&[&str], &str); 9] = [
        (&call, got),
        (&[&call[..], &["--predecessor"]].concat(), got),
        (
            &["call", "wordnet", "echo", "--json", "{ }"],
            "{\"got\":{},\"n\":1.50}\n",
        ),
        (&["call", "wordnet", "echo"], "{\"got\":{},\"n\":1.50}\n"),
        (&["invoke", "echo", "a=b"], "{\"got\":{\"a\":\"b\"},\"n\":1.50}\n"),
        (&["get", "define_word"], &format!("{DEFINITION}\n")),
        (&["list"], &list),
        (&["reload"], &list),
        (
            &["discover", "--timeout", "300ms"],
            &format!(
                "[{{\"toolbox_id\":\"wordnet\",\"tools\":[{DEFINITION}]}},{{\"toolbox_id\":\"empty\",\"tools\":[]}}]\n"
            ),
        ),
    ];
    for (arguments, expected) in table {
        let (code, stdout, stderr) = said(&url, arguments);
        assert_eq!(
            (code, stdout.as_str(), stderr.as_str()),
            (Some(0), expected, ""),
            "{arguments:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_tool_ends_with_1_on_stderr() {
    let (url, _stop) = bus_with_host().await;
    let (code, stdout, stderr) = said(&url, &["call", "wordnet", "nope"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert_eq!(
        stderr,
        "error: Unknown tool: 'nope'\nhint: `toolhost discover` shows which tools there are\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_at_home_ends_with_3_and_says_who() {
    let (url, _stop) = bus_with_host().await;
    let (code, stdout, stderr) = said(&url, &["call", "wiki", "search", "--timeout", "200ms"]);
    assert_eq!((code, stdout.as_str()), (Some(3), ""));
    let expected = format!("error: nobody on {url} answered for toolbox 'wiki' within 200ms\nhint: ");
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_bus_ends_with_3_long_before_the_time_for_the_answer() {
    let started = Instant::now();
    let (code, _, stderr) = said("ws://127.0.0.1:1/core", &["list", "--timeout", "600s"]);
    assert_eq!(code, Some(3));
    assert!(
        stderr.starts_with("error: the bus at ws://127.0.0.1:1/core cannot be reached: "),
        "{stderr}"
    );
    assert!(stderr.contains("refused"), "{stderr}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_at_once_never_take_each_others_answers() {
    let (url, _stop) = bus_with_host().await;
    let callers: Vec<_> = (0..8)
        .map(|n| {
            let url = url.clone();
            tokio::task::spawn_blocking(move || said(&url, &["call", "wordnet", "echo", &format!("n:={n}")]).1)
        })
        .collect();
    for (n, caller) in callers.into_iter().enumerate() {
        assert_eq!(caller.await.unwrap(), format!("{{\"got\":{{\"n\":{n}}},\"n\":1.50}}\n"));
    }
}

#[test]
fn a_bus_alone_prints_its_url_and_ends_well() {
    let mut bus = command(&["bus", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let (code, _, stderr) = said(url.trim(), &["discover", "--timeout", "200ms"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("answered with a toolbox within 200ms"), "{stderr}");
    let address = url
        .trim()
        .trim_start_matches("ws://")
        .trim_end_matches("/core")
        .to_owned();
    let second = command(&["bus", &address]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(
        String::from_utf8(second.stderr)
            .unwrap()
            .contains("a bus is running there already")
    );
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(bus.id().try_into().unwrap()),
        nix::sys::signal::Signal::SIGTERM,
    )
    .unwrap();
    assert_eq!(bus.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_bus_within_the_process_is_asked_like_any_other() {
    let stop = CancellationToken::new();
    let bus = EmbeddedBus::bind("127.0.0.1:0".parse().unwrap(), EmbeddedOptions::default())
        .await
        .unwrap();
    let host = bus.attach(stop.clone());
    let sender = host.sender();
    tokio::spawn(host.run(Host(sender)));
    let request = Request::new("ovos.tools.list", "{}");
    let asker_stop = CancellationToken::new();
    let mut attached = attach(
        bus.attach(asker_stop.clone()),
        "here".to_owned(),
        request.key(),
        asker_stop,
    );
    let answer = attached.wire.ask(&request, Duration::from_secs(5)).await.unwrap();
    assert_eq!(answer.as_str(), format!(r#"{{"tools": [ {DEFINITION} ]}}"#));
    attached.end.await;
    stop.cancel();
}

#[test]
fn a_toolbox_hosted_for_one_call_is_told_about_once_with_what_can_be_done() {
    let folder = std::env::temp_dir().join(format!("toolhost-one-call-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("broken.py", "def f(:\n");
    write(
        "fine.py",
        "import sys\ndef hi(n: int):\n  print('what-it-printed', file=sys.stderr)\n  raise ValueError('no')\n",
    );
    let keys = "restart: {give_up_after: 1}";
    write(
        "t.yaml",
        &format!(
            "toolboxes:\n  broken: {{script: ./broken.py, {keys}}}\n  gone: {{command: [no-such-program]}}\n  fine: {{script: ./fine.py}}\n"
        ),
    );
    let file = folder.join("t.yaml");
    let path = std::env::var_os("PATH").unwrap();
    let said = |arguments: &[&str]| {
        let output = command(arguments)
            .env("PATH", &path)
            .arg("--config")
            .arg(&file)
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for toolbox in ["broken", "gone"] {
        let broken = said(&["call", toolbox, "f"]);
        assert!(broken.starts_with("error: ToolboxUnavailable: "), "{broken}");
        assert!(!broken.contains("tried again") && !broken.contains("ERROR"), "{broken}");
        assert!(
            broken.ends_with("\nhint: --log-level info shows what the toolbox printed\n"),
            "{broken}"
        );
    }
    assert_eq!(
        said(&["call", "fine", "hi", "n:=1"]),
        "error: ValueError: no\nhint: --log-level info shows what the toolbox printed\n"
    );
    assert!(said(&["call", "fine", "hi", "n:=1", "--log-level", "info"]).contains("what-it-printed"));
    assert_eq!(
        said(&["call", "fine", "Hi"]),
        "error: Unknown tool: 'Hi'\nhint: the tools there are: hi\n"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
