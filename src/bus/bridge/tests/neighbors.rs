//! Other hosts on the bus, and what toolhost says about them and about old callers.

use std::io;
use std::sync::{Arc, Mutex};

use super::fakes::{Host, host};
use super::*;
use crate::bus::service::Other;
use crate::config::PredecessorTopics;

const LIST: &str = r#"{"type":"ovos.tools.list","data":{},"context":{}}"#;

fn names(host: &Host) -> Vec<(String, u64)> {
    let conflicts = host.bridge.status().conflicts;
    conflicts
        .into_iter()
        .map(|conflict| (conflict.name, conflict.seen))
        .collect()
}

#[tokio::test]
async fn on_connect_it_asks_who_else_is_there_and_never_answers_itself() {
    for (mode, topics) in [
        (
            ToolService::Auto,
            &["ovos.tools.list", "ovos.persona.tools.discover"][..],
        ),
        (ToolService::Yes, &["ovos.persona.tools.discover"]),
        (ToolService::No, &["ovos.persona.tools.discover"]),
    ] {
        let host = host(mode);
        host.bridge.connected();
        let probes = host.sent.take();
        let instance = host.bridge.status().instance;
        assert_eq!(instance.len(), 32);
        let expected: Vec<_> = topics
            .iter()
            .map(|topic| format!(r#"{{"type":"{topic}","data":{{}},"context":{{"toolhost_probe":"{instance}"}}}}"#))
            .collect();
        assert_eq!(probes, expected);
        for probe in probes {
            // Also where the transport failed to know the echo for its own.
            assert_eq!(answers(&host, &probe).await, [""; 0]);
        }
        // A call derived from an answer to the probe is a call.
        let call = r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo"},"context":CONTEXT}"#;
        let context = format!(r#"{{"toolhost_probe":"{instance}"}}"#);
        assert_eq!(answers(&host, &call.replace("CONTEXT", &context)).await.len(), 1);
    }
}

#[tokio::test]
async fn its_own_echoes_mean_nothing() {
    let host = host(ToolService::Yes);
    for frame in [
        LIST,
        r#"{"type":"ovos.tools.list.response","data":{"tools":[]}}"#,
        r#"{"type":"ovos.persona.tools.discover.response","data":{"toolbox_id":"wn","tools":[]}}"#,
        "broken",
    ] {
        host.bridge.handle(frame.into(), true);
    }
    host.settle().await;
    assert_eq!(host.sent.take(), [""; 0]);
    assert_eq!(names(&host), []);
    assert_eq!(host.bridge.status().malformed, 0);
}

#[tokio::test]
async fn a_toolbox_id_that_another_host_claims_is_a_conflict() {
    let host = host(ToolService::No);
    for id in [r#""wn""#, r#""elsewhere""#, "5", r#""wn""#] {
        let frame = format!(
            r#"{{"type":"ovos.persona.tools.discover.response","data":{{"toolbox_id":{id},"tools":[]}},"context":{{"source":"phal"}}}}"#
        );
        assert_eq!(answers(&host, &frame).await, [""; 0]);
    }
    assert_eq!(names(&host), [("wn".to_owned(), 2)]);
    assert_eq!(host.bridge.status().conflicts[0].source.as_deref(), Some("phal"));
}

#[tokio::test]
async fn a_second_tool_service_is_a_conflict_where_the_configuration_says_yes() {
    let host = host(ToolService::Yes);
    for verb in ["list", "get", "invoke", "reload"] {
        let frame = format!(r#"{{"type":"ovos.tools.{verb}.response","data":{{"error":"x"}}}}"#);
        assert_eq!(answers(&host, &frame).await, [""; 0]);
    }
    assert_eq!(names(&host), [("ovos.tools".to_owned(), 4)]);
    assert_eq!(answers(&host, LIST).await.len(), 1);
}

#[tokio::test]
async fn with_no_the_flat_topics_belong_to_others() {
    let host = host(ToolService::No);
    assert_eq!(answers(&host, LIST).await, [""; 0]);
    assert_eq!(answers(&host, r#"{"type":"ovos.tools.list.response"}"#).await, [""; 0]);
    assert_eq!(names(&host), []);
    assert_eq!(host.bridge.status().tool_service, ServiceStatus::Off);
}

#[tokio::test]
async fn an_answer_to_its_probe_silences_it_on_the_flat_topics_only() {
    let host = host(ToolService::Auto);
    host.bridge.connected();
    host.sent.take();
    assert_eq!(answers(&host, LIST).await.len(), 1, "it answers at once");
    let stranger = r#"{"type":"ovos.tools.list.response","data":{"tools":[]},"context":{"toolhost_probe":"other"}}"#;
    assert_eq!(answers(&host, stranger).await, [""; 0]);
    assert_eq!(host.bridge.status().tool_service, ServiceStatus::Serving);

    let instance = host.bridge.status().instance;
    assert_eq!(answers(&host, &stranger.replace("other", &instance)).await, [""; 0]);
    assert_eq!(
        host.bridge.status().tool_service,
        ServiceStatus::Silent(Other::ToolService)
    );
    for verb in ["list", "get", "invoke", "reload"] {
        let frame = format!(r#"{{"type":"ovos.tools.{verb}","data":{{"name":"echo"}}}}"#);
        assert_eq!(answers(&host, &frame).await, [""; 0], "{verb}");
    }
    let call = r#"{"type":"ovos.persona.tools.call","data":{"toolbox_id":"wn","name":"echo"}}"#;
    assert_eq!(answers(&host, call).await.len(), 1);

    host.bridge.set_tool_service(ToolService::Yes);
    assert_eq!(answers(&host, LIST).await.len(), 1);
    host.bridge.set_tool_service(ToolService::Auto);
    assert_eq!(host.sent.take().len(), 1, "it asks again");
}

#[tokio::test]
async fn two_hosts_that_start_together_come_to_one_answer() {
    let hosts = [host(ToolService::Auto), host(ToolService::Auto)];
    hosts.iter().for_each(|host| host.bridge.connected());
    relay(&hosts, &[]).await;
    let answered = relay(&hosts, &[LIST]).await;
    assert_eq!(answered.len(), 1, "{answered:?}");
    let mut parts = hosts.each_ref().map(|host| host.bridge.status());
    parts.sort_by(|one, other| one.instance.cmp(&other.instance));
    assert_eq!(parts[0].tool_service, ServiceStatus::Serving);
    assert_eq!(parts[1].tool_service, ServiceStatus::Silent(Other::Toolhost));
    for part in parts {
        let names: Vec<_> = part.conflicts.iter().map(|conflict| conflict.name.as_str()).collect();
        assert_eq!(names, ["disk", "wn"], "each saw the other's discover answers");
    }
}

/// Relays as the OVOS bus does, everything to everyone; the answers to `frames` from outside.
async fn relay(hosts: &[Host], frames: &[&str]) -> Vec<String> {
    let mut queue: Vec<(Option<usize>, String)> = frames.iter().map(|frame| (None, (*frame).to_owned())).collect();
    let mut answers = Vec::new();
    loop {
        for (index, host) in hosts.iter().enumerate() {
            host.settle().await;
            queue.extend(host.sent.take().into_iter().map(|frame| (Some(index), frame)));
        }
        if queue.is_empty() {
            return answers;
        }
        for (by, frame) in std::mem::take(&mut queue) {
            for (index, host) in hosts.iter().enumerate() {
                host.bridge.handle(frame.as_str().into(), by == Some(index));
            }
            answers.extend(by.map(|_| frame));
        }
    }
}

/// What is logged while `work` runs.
fn logged(work: impl FnOnce()) -> String {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = std::mem::take(&mut *lines.0.lock().unwrap());
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn the_log_names_old_callers_shared_names_and_malformed_messages_once() {
    let host = host(ToolService::Yes);
    host.toolboxes.set_policy(PredecessorTopics::Warn);
    let log = logged(|| {
        for frame in [
            r#"{"type":"ovos.persona.tools.wn.call","data":{"name":"echo","kwargs":{"pin":"s3cr3t"}},"context":{"source":"old-skill","session":{"session_id":"s1"},"token":"s3cr3t"}}"#,
            r#"{"type":"ovos.persona.tools.discover.response","data":{"toolbox_id":"wn"},"context":{"source":"phal"}}"#,
            r#"{"type":"ovos.tools.get","data":["s3cr3t"],"context":{"source":"kitchen"}}"#,
            r#"{"type":"ovos.tools.get","data":{"pin":"s3cr3t"#,
        ] {
            for _ in 0..3 {
                host.bridge.handle(frame.into(), false);
            }
        }
    });
    assert_eq!(log.lines().count(), 4, "{log}");
    assert!(!log.contains("s3cr3t"), "{log}");
    for part in [
        "old-skill",
        "\"s1\"",
        "source session token",
        r#"ovos.persona.tools.call {"toolbox_id": "wn", "name": ..., "kwargs": {...}}"#,
        "ERROR",
        "phal",
        "kitchen",
        "its data is not an object",
        "not JSON: EOF",
    ] {
        assert!(log.contains(part), "{part} is not in {log}");
    }
}
