//! `toolhost migrate watch`: what somebody who only listens is told.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::common::caller::{CALL, Caller, DISCOVER, call, predecessor};
use crate::common::eventually::{DEADLINE, within};
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::hosts::{Hosting, Kind, TOOLBOX, runs, toolbox};

/// A running watch, and what it tells line by line.
struct Watching {
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
    /// What it says beside that.
    said: mpsc::UnboundedReceiver<String>,
    /// What was last told of each toolbox.
    last: HashMap<String, Value>,
    /// What its hosts were said to answer, in all lines.
    verdicts: HashMap<String, Vec<String>>,
}

impl Watching {
    #[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
    fn start(url: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolhost"))
            .args(["migrate", "watch", "--bus", url])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("toolhost starts");
        let lines = read(child.stdout.take().expect("its stdout"));
        let said = read(child.stderr.take().expect("its stderr"));
        Self {
            child,
            lines,
            said,
            last: HashMap::new(),
            verdicts: HashMap::new(),
        }
    }

    /// Waits until it listens: until a topic of which nobody has heard is told.
    async fn listens(&mut self, caller: &mut Caller) {
        let topic = format!("beginning-{}", fastrand::u32(..));
        within("it listens", async {
            loop {
                caller.send(&predecessor(&topic), &json!({"name": "x"})).await;
                let soon = tokio::time::timeout(Duration::from_millis(100), self.lines.recv()).await;
                let Ok(line) = soon else { continue };
                self.take(&line.expect("the watch goes on"));
                if self.last.contains_key(&topic) {
                    return;
                }
            }
        })
        .await;
    }

    /// Waits until it has heard everything the caller has.
    async fn catch_up(&mut self, caller: &mut Caller) {
        let topic = format!("marker-{}", fastrand::u32(..));
        caller.send(&predecessor(&topic), &json!({"name": "x"})).await;
        self.told(&topic, |_| true).await;
    }

    fn take(&mut self, line: &str) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let id = line["toolbox_id"].as_str().expect("an id").to_owned();
        let verdict = line["host"].as_str().expect("a word").to_owned();
        self.verdicts.entry(id.clone()).or_default().push(verdict);
        self.last.insert(id, line);
    }

    /// Waits until it says so.
    async fn says(&mut self, wanted: &str) {
        within(wanted, async {
            while !self.said.recv().await.expect("the watch goes on").contains(wanted) {}
        })
        .await;
    }

    /// Waits until what is told of the toolbox is as wanted.
    async fn told(&mut self, toolbox_id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        within("it is told", async {
            loop {
                if let Some(line) = self.last.get(toolbox_id).filter(|line| wanted(line)) {
                    return line.clone();
                }
                let line = self.lines.recv().await.expect("the watch goes on");
                self.take(&line);
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
                last.push(serde_json::from_str(&line).expect("JSON"));
            }
        })
        .await;
        assert_eq!(self.child.wait().expect("it ended").code(), Some(0));
        last
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The lines of a stream, as they come.
fn read(stream: impl Read + Send + 'static) -> mpsc::UnboundedReceiver<String> {
    let (tell, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            // The test may have seen enough.
            tell.send(line.expect("a line")).unwrap_or_default();
        }
    });
    lines
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

    let shout = json!({"name": "shout", "kwargs": {"text": "ada"}});
    for toolbox_id in [TOOLBOX, "answers"] {
        caller.send(&predecessor(toolbox_id), &shout).await;
    }
    for _ in 0..3 {
        caller.send(&predecessor("ignores"), &shout).await;
        // Every host shows that it lives.
        let token = caller.send(DISCOVER, &json!({})).await;
        caller.wait(&token, 3).await;
    }
    watch.told("answers", |line| line["host"] == "both").await;
    let line = watch.told("ignores", |line| line["host"] == "new_only").await;
    let who = &line["callers"][0];
    assert_eq!(who["source"], "caller");
    assert_eq!(who["context_keys"], "token source destination session");
    assert_eq!(
        who["digest"],
        Value::Null,
        "what serves toolhost alone is nobody's to read"
    );

    old.end();
    let _new = Hosting::start(Kind::Both, &bus, &mut caller).await;
    caller.send(DISCOVER, &json!({})).await;
    watch.told(TOOLBOX, |line| line["host"] == "new").await;
    caller.send(&predecessor(TOOLBOX), &shout).await;
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

/// A host of each kind, one that forwards before it, and callers on both topics.
async fn beside_a_forwarder(kind: Kind, way: &str, expected: &str) {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut watch = Watching::start(&bus.url());
    watch.listens(&mut caller).await;
    let _host = Hosting::start(kind, &bus, &mut caller).await;
    let forwarder =
        json!({"bus": {"url": bus.url()}, "migrate": {way: [TOOLBOX]}, "toolboxes": {"unrelated": moody(&json!({}))}});
    let forwarder = Host::start(&forwarder).await;
    watch.told(TOOLBOX, |line| line["forwarded"] == json!([way])).await;
    for topic in [
        CALL.to_owned(),
        predecessor(TOOLBOX),
        CALL.to_owned(),
        predecessor(TOOLBOX),
    ] {
        let token = caller
            .send(&topic, &call(TOOLBOX, "shout", &json!({"text": "ada"})))
            .await;
        let answer = caller.hear_answer(&token, &format!("{topic}.response")).await;
        assert_eq!(answer["result"], json!({"text": "ADA"}), "{kind:?} {way} {topic}");
    }
    watch.told(TOOLBOX, |line| line["host"] == expected).await;
    watch.catch_up(&mut caller).await;
    // Where that takes long, probes may have shown more.
    let fits = |word: &str| word == expected || (expected, word) == ("new", "new_only");
    let verdicts = watch.verdicts[TOOLBOX].clone();
    assert!(
        fits(verdicts.last().expect("a verdict")),
        "{kind:?} {way}: {verdicts:?}"
    );
    assert_eq!(
        verdicts.contains(&"both".to_owned()),
        expected == "both",
        "{kind:?} {way}: {verdicts:?}"
    );
    let last = watch.end().await;
    let line = last
        .iter()
        .find(|line| line["toolbox_id"] == TOOLBOX)
        .expect("it is told");
    assert!(fits(line["host"].as_str().expect("a word")), "{line}");
    assert_eq!(line["forwarded"], json!([way]));
    assert_eq!(
        (&line["predecessor_calls"], &line["replacement_calls"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        line["callers"].as_array().expect("callers").len(),
        1,
        "one who forwards is none"
    );
    forwarder.stop().await;
}

#[tokio::test]
async fn the_answers_of_one_that_forwards_to_an_old_host_are_not_taken_for_the_hosts() {
    beside_a_forwarder(Kind::Old, "to_predecessor", "old_only").await;
}

#[tokio::test]
async fn the_answers_of_one_that_forwards_to_a_new_host_are_not_taken_for_the_hosts() {
    beside_a_forwarder(Kind::Ignoring, "to_static", "new").await;
}

#[tokio::test]
async fn a_host_that_answers_both_topics_is_known_whoever_stands_before_it() {
    beside_a_forwarder(Kind::Both, "to_predecessor", "both").await;
    beside_a_forwarder(Kind::Toolhost, "to_static", "both").await;
}

#[tokio::test]
async fn a_host_is_known_by_its_answer_to_a_probe_before_anybody_calls() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _host = Hosting::start(Kind::Both, &bus, &mut caller).await;
    let mut watch = Watching::start(&bus.url());
    watch.told(TOOLBOX, |line| line["host"] == "new").await;
    let forwarder = json!({"bus": {"url": bus.url()}, "migrate": {"to_static": [TOOLBOX]}, "toolboxes": {"unrelated": moody(&json!({}))}});
    let _forwarder = Host::start(&forwarder).await;
    let line = watch.told(TOOLBOX, |line| line["host"] == "both").await;
    assert_eq!(
        (&line["predecessor_calls"], &line["callers"]),
        (&json!(0), &json!([])),
        "a probe is no call, and one who probes no caller"
    );
    assert_eq!(runs(&bus), 0);
    watch.end().await;
}

#[tokio::test]
async fn a_watch_that_begins_later_sees_by_a_forwarded_call_that_there_is_one() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let forwarder = json!({"bus": {"url": bus.url()}, "migrate": {"to_predecessor": [TOOLBOX]}, "toolboxes": {"unrelated": moody(&json!({}))}});
    let forwarder = Host::start(&forwarder).await;
    let mut watch = Watching::start(&bus.url());
    watch.told(TOOLBOX, |line| line["host"] == "old_only").await;
    caller
        .call(TOOLBOX, "shout", &json!({"text": "ada"}))
        .await
        .expect("a result");
    let line = watch
        .told(TOOLBOX, |line| line["forwarded"] == json!(["to_predecessor"]))
        .await;
    assert_eq!(line["host"], "old_only");
    watch.catch_up(&mut caller).await;
    assert!(
        !watch.verdicts[TOOLBOX].contains(&"both".to_owned()),
        "{:?}",
        watch.verdicts
    );
    watch.end().await;
    forwarder.stop().await;
}

#[tokio::test]
async fn a_watch_says_when_the_bus_is_gone_and_back_and_goes_on() {
    let mut bus = RealBus::start().await;
    let host = json!({"bus": {"url": bus.url()}, "toolboxes": {"answers": toolbox(Kind::Toolhost, &bus)}});
    let host = Host::start(&host).await;
    let mut watch = Watching::start(&bus.url());
    watch.told("answers", |line| line["host"] == "new").await;
    bus.kill();
    watch.says("the bus is gone").await;
    bus.restart().await;
    watch.says("the bus is back, asking its hosts anew").await;
    let mut caller = Caller::connect(&bus.url()).await;
    let _old = Hosting::start(Kind::Old, &bus, &mut caller).await;
    caller.send(DISCOVER, &json!({})).await;
    watch.told(TOOLBOX, |line| line["host"] == "old_only").await;
    watch.end().await;
    host.stop().await;
}

#[tokio::test]
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
async fn a_watch_that_nobody_reads_any_more_ends() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["migrate", "watch", "--bus", &bus.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("toolhost starts");
    drop(child.stdout.take());
    let start = Instant::now();
    let mut ended = None;
    while ended.is_none() && start.elapsed() < DEADLINE {
        let topic = predecessor(&format!("t{}", fastrand::u32(..)));
        caller.send(&topic, &json!({"name": "x"})).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        ended = child.try_wait().expect("its state");
    }
    child.kill().ok();
    child.wait().expect("it is gone");
    assert_eq!(ended.and_then(|status| status.code()), Some(0), "it ends by itself");
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
