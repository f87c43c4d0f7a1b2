//! `toolhost migrate watch`: what somebody who only listens is told.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::common::caller::{Caller, predecessor};
use crate::common::eventually::within;
use crate::common::host::Host;
use crate::common::peers::RealBus;
use crate::hosts::{Hosting, Kind, TOOLBOX, runs, toolbox};

/// A running watch, and what it tells line by line.
struct Watching {
    child: Child,
    lines: mpsc::UnboundedReceiver<Value>,
    /// What was last told of each toolbox.
    last: HashMap<String, Value>,
}

impl Watching {
    #[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
    fn start(url: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolhost"))
            .args(["migrate", "watch", "--bus", url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("toolhost starts");
        let stdout = child.stdout.take().expect("its stdout");
        let (tell, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || read(stdout, &tell));
        Self {
            child,
            lines,
            last: HashMap::new(),
        }
    }

    /// Waits until what is told of the toolbox is as wanted.
    async fn told(&mut self, toolbox_id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        within("it is told", async {
            loop {
                if let Some(line) = self.last.get(toolbox_id).filter(|line| wanted(line)) {
                    return line.clone();
                }
                let line = self.lines.recv().await.expect("the watch goes on");
                let id = line["toolbox_id"].as_str().expect("an id").to_owned();
                self.last.insert(id, line);
            }
        })
        .await
    }

    /// Ends it as Ctrl-C does; what it told at last.
    async fn end(mut self) -> Vec<Value> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"));
        kill(pid, Signal::SIGINT).expect("the signal is sent");
        let mut last = Vec::new();
        within("it ends", async {
            while let Some(line) = self.lines.recv().await {
                last.push(line);
            }
        })
        .await;
        assert_eq!(self.child.wait().expect("it ended").code(), Some(0));
        last
    }
}

fn read(stdout: ChildStdout, tell: &mpsc::UnboundedSender<Value>) {
    for line in BufReader::new(stdout).lines() {
        let line = serde_json::from_str(&line.expect("a line")).expect("JSON");
        // The test may have seen enough.
        tell.send(line).unwrap_or_default();
    }
}

#[tokio::test]
async fn each_topic_is_told_with_its_callers_and_what_its_host_answers() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let config = json!({"bus": {"url": bus.url()}, "toolboxes": {"ignores": toolbox(Kind::Ignoring, &bus), "answers": toolbox(Kind::Toolhost, &bus)}});
    let host = Host::start(&config).await;
    let mut watch = Watching::start(&bus.url());
    for (toolbox_id, expected) in [(TOOLBOX, "old_only"), ("ignores", "new"), ("answers", "new")] {
        let line = watch.told(toolbox_id, |line| line["host"] == expected).await;
        assert_eq!(line["topic"], predecessor(toolbox_id));
        assert_eq!(line["callers"], json!([]));
    }
    assert_eq!(runs(&bus), 0, "no tool was called");

    let call = json!({"name": "shout", "kwargs": {"text": "ada"}});
    for toolbox_id in [TOOLBOX, "answers", "ignores"] {
        caller.send(&predecessor(toolbox_id), &call).await;
    }
    watch.told("answers", |line| line["host"] == "both").await;
    let line = watch.told("ignores", |line| line["host"] == "new_only").await;
    assert_eq!(line["callers"][0]["source"], "caller");
    assert_eq!(line["callers"][0]["context_keys"], "token source destination session");

    old.end();
    let _new = Hosting::start(Kind::Both, &bus, &mut caller).await;
    caller.send("ovos.persona.tools.discover", &json!({})).await;
    watch.told(TOOLBOX, |line| line["host"] == "new").await;
    caller.send(&predecessor(TOOLBOX), &call).await;
    watch.told(TOOLBOX, |line| line["host"] == "both").await;
    let last = watch.end().await;
    let topics: Vec<_> = last
        .iter()
        .map(|line| line["toolbox_id"].as_str().expect("an id"))
        .collect();
    assert_eq!(topics, ["answers", "ignores", TOOLBOX]);
    assert_eq!(last[2]["predecessor_calls"], 2);
    host.stop().await;
}

#[tokio::test]
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
async fn a_watch_ends_with_its_time_and_says_where_no_bus_is() {
    let bus = RealBus::start().await;
    let watch = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
        let output = command
            .args(["migrate", "watch", "--for", "1s", "--bus", url])
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    };
    assert_eq!(watch(&bus.url()), (Some(0), String::new()));
    let (code, said) = watch("ws://127.0.0.1:1/core");
    assert_eq!(code, Some(3));
    assert!(
        said.contains("the message bus at ws://127.0.0.1:1/core cannot be reached"),
        "{said}"
    );
}
