//! The program with its toolboxes, the healthy one among them, and a caller on the bus.

use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, call, outcome};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::Host;
use crate::moods::entry;

pub(crate) struct World {
    pub(crate) host: Host,
    pub(crate) caller: Caller,
    pub(crate) bus: Embedded,
    healthy: i32,
}

/// The file, with the healthy toolbox in it.
pub(crate) fn file(url: &str, toolboxes: &Value) -> Value {
    let mut toolboxes = toolboxes.clone();
    toolboxes["healthy"] = entry("rust", &json!({}));
    json!({"bus": {"url": url}, "tool_service": true, "toolboxes": toolboxes})
}

impl World {
    pub(crate) async fn start(toolboxes: Value) -> Self {
        let bus = Embedded::start().await;
        let host = Host::start(&file(&bus.url, &toolboxes)).await;
        let caller = Caller::connect(&bus.url).await;
        let healthy = host.pid_of("healthy");
        let mut world = Self {
            host,
            caller,
            bus,
            healthy,
        };
        world.healthy().await;
        world
    }

    /// Replaces the toolboxes in the file.
    pub(crate) fn write(&self, toolboxes: &Value) {
        self.host.write_config(&file(&self.bus.url, toolboxes));
    }

    pub(crate) async fn call(&mut self, toolbox: &str, tool: &str, kwargs: Value) -> Result<Value, String> {
        self.caller.call(toolbox, tool, &kwargs).await
    }

    /// Sends a call; its token.
    pub(crate) async fn send(&mut self, toolbox: &str, tool: &str, kwargs: Value) -> String {
        self.caller.send(CALL, &call(toolbox, tool, &kwargs)).await
    }

    /// The one answer to a call sent before.
    pub(crate) async fn answer(&mut self, token: &str) -> Result<Value, String> {
        outcome(&self.caller.wait(token, 1).await[0])
    }

    /// Calls the neighbor, which must answer.
    pub(crate) async fn healthy(&mut self) {
        let n = fastrand::u32(..);
        let answer = self.call("healthy", "echo", json!({"n": n})).await;
        assert_eq!(answer, Ok(json!({"n": n})), "the neighbor");
    }

    /// Calls a toolbox until it answers again.
    pub(crate) async fn served_again(&mut self, toolbox: &str) {
        let start = std::time::Instant::now();
        while let Err(error) = self.call(toolbox, "echo", json!({})).await {
            assert!(
                start.elapsed() < crate::harness::DEADLINE,
                "{toolbox} is not served again: {error}"
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn logged(&self, what: &str) {
        eventually(what, || self.host.log().contains(what)).await;
    }

    /// Lines of the log with all of these words.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let log = self.host.log();
        let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
        log.lines().filter(has_all).map(str::to_owned).collect()
    }

    /// What the host itself has open.
    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.host.pid()))
            .unwrap()
            .count()
    }

    /// The most memory the host itself ever held, in MiB.
    pub(crate) fn peak_memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.host.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
    }

    /// The end: the neighbor answers, in the process it had all along, and nothing is left.
    pub(crate) async fn stop(mut self) {
        self.healthy().await;
        assert_eq!(
            self.host.pid_of("healthy"),
            self.healthy,
            "the neighbor was started again"
        );
        self.host.stop().await;
    }
}
