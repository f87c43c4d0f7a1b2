//! A whole migration, from an old host and old callers to the predecessor switched off: no call goes unanswered or is
//! answered twice on the way.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, predecessor};
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::forwarding::{answers, config, shout};
use crate::hosts::{Hosting, Kind, TOOLBOX, runs, toolbox};

/// Callers of the one toolbox, each told by its source.
struct Callers<'a> {
    bus: &'a RealBus,
    caller: Caller,
    /// What was asked: its token and the topic of its answer.
    asked: Vec<(String, String)>,
}

impl Callers<'_> {
    /// Each of them calls once and waits for its answer; the first `moved` on the replacement.
    async fn call(&mut self, moved: usize) {
        for n in 0..3 {
            let source = format!("caller {n}");
            let topic = if n < moved {
                CALL.to_owned()
            } else {
                predecessor(TOOLBOX)
            };
            let data = json!({"toolbox_id": TOOLBOX, "name": "shout", "kwargs": {"text": source}});
            let token = self.caller.send_from(&source, &topic, &data).await;
            let answer = format!("{topic}.response");
            let told = self.caller.hear_answer(&token, &answer).await;
            assert_eq!(told["result"], json!({"text": source.to_uppercase()}), "{topic}");
            self.asked.push((token, answer));
        }
    }

    /// Whether each call so far has one answer, and ran once.
    async fn check(&mut self) {
        self.caller.catch_up().await;
        for (token, topic) in &self.asked {
            let to_the_asker = |answer: &&&Value| answer["context"]["toolhost_forwarded"].is_null();
            let answers = self.caller.answers(token);
            let answers: Vec<_> = answers.iter().filter(to_the_asker).collect();
            assert_eq!(answers.len(), 1, "{topic}: {answers:?}");
            assert_eq!(answers[0]["type"], *topic);
        }
        assert_eq!(runs(self.bus), self.asked.len(), "each call ran once");
    }
}

/// Whether `toolhost migrate report` says it is quiet.
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn quiet(socket: &Path, period: &str) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    let command = command
        .args(["migrate", "report", "--quiet", period, "--socket"])
        .arg(socket);
    match command.output().expect("toolhost starts").status.code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn from_an_old_host_to_the_predecessor_switched_off_no_call_is_lost_or_doubled() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut hosting = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let mut callers = Callers {
        bus: &bus,
        caller,
        asked: Vec::new(),
    };
    callers.call(0).await;

    // toolhost joins and forwards; the callers move one by one.
    let with = |toolboxes: Value, migrate: Value| json!({"bus": {"url": bus.url()}, "migrate": migrate, "toolboxes": toolboxes});
    let forwards = with(
        json!({"unrelated": moody(&json!({}))}),
        json!({"to_predecessor": [TOOLBOX]}),
    );
    let host = Host::start(&forwards).await;
    for moved in 0..=3 {
        callers.call(moved).await;
    }
    callers.check().await;
    assert!(!quiet(&host.socket(), "1h"));
    let report = host.status().expect("a status")["migration"].clone();
    let toolboxes = report["toolboxes"].as_array().expect("toolboxes");
    let counted = toolboxes
        .iter()
        .find(|counted| counted["toolbox_id"] == TOOLBOX)
        .expect("it is counted");
    assert_eq!(
        (&counted["predecessor_calls"], &counted["replacement_calls"]),
        (&json!(6), &json!(6))
    );
    let told = counted["callers"].as_array().expect("callers");
    assert_eq!(told.len(), 3, "{told:?}");

    // The host is updated.
    hosting.end();
    let mut hosting = Hosting::start(Kind::Both, &bus, &mut callers.caller).await;
    callers.call(3).await;
    callers.call(3).await;
    callers.check().await;
    assert!(host.log().contains("its calls are no longer forwarded"));

    // Nobody uses the predecessor any more.
    eventually("the report turns quiet", || quiet(&host.socket(), "2s")).await;
    callers.call(3).await;
    assert!(
        quiet(&host.socket(), "2s"),
        "calls on the replacement are none on the predecessor"
    );

    // The toolbox moves to toolhost, and the predecessor is switched off.
    hosting.end();
    host.write_config(&with(json!({TOOLBOX: toolbox(Kind::Ignoring, &bus)}), json!({})));
    host.signal(nix::sys::signal::Signal::SIGHUP);
    eventually("toolhost hosts it", || host.toolbox(TOOLBOX)["state"] == "ready").await;
    callers.call(3).await;
    let old = json!({"name": "shout", "kwargs": {"text": "too late"}});
    assert!(callers.caller.stays_unanswered(&predecessor(TOOLBOX), &old).await);
    callers.check().await;
    assert!(!quiet(&host.socket(), "2s"), "whoever was too late is told");
    host.stop().await;
}

#[tokio::test]
async fn calls_during_the_update_of_the_host_are_answered_once_by_a_result_or_an_error() {
    let bus = RealBus::start().await;
    let mut caller = Caller::connect(&bus.url()).await;
    let mut hosting = Hosting::start(Kind::Old, &bus, &mut caller).await;
    let migrate = json!({"to_predecessor": [TOOLBOX], "timeout": "4s"});
    let host = Host::start(&config(&bus.url(), &migrate)).await;
    let mut tokens = Vec::new();
    // One is in the hands of the host when it goes.
    tokens.push(caller.send(CALL, &shout("slow")).await);
    eventually("the tool runs", || runs(&bus) == 1).await;
    hosting.end();
    // Nobody is there for these.
    for _ in 0..3 {
        tokens.push(caller.send(CALL, &shout("ada")).await);
    }
    let _new = Hosting::start(Kind::Both, &bus, &mut caller).await;
    tokens.push(caller.send(CALL, &shout("ada")).await);
    let mut results = 0;
    for token in &tokens {
        let answers = answers(&mut caller, token, CALL, &[&host]).await;
        assert_eq!(answers.len(), 1, "{answers:?}");
        let data = &answers[0]["data"];
        let timeout = "TimeoutError: 'shout' did not answer within 4s; the host it was forwarded to was silent";
        assert!(
            data["result"] == json!({"text": "ADA"}) || data["error"] == timeout,
            "{data}"
        );
        results += usize::from(data["result"].is_object());
    }
    assert!(results >= 1, "the new host answers");
    assert_eq!(runs(&bus), 1 + results, "no tool ran for nothing");
    host.stop().await;
}
