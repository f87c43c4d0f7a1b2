//! Ten thousand births and deaths leave the host as it was: no zombie, no descriptor, no thread, no memory.

use serde_json::{Value, json};
use toolhost::control::client;
use toolhost::control::order::Orders;
use toolhost::control::verb::Verb;

use crate::common::caller::Caller;
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::families::zombies;

/// The protocol in three lines of a shell, which starts in a millisecond.
const TINY: &str = r#"while read -r line; do id=${line#*\"id\":}; id=${id%%,*}
case $line in *describe*) echo "{\"id\":$id,\"result\":{\"tools\":[{\"name\":\"t\"}]}}";; *) echo "{\"id\":$id,\"result\":$$}";; esac
done"#;

/// What grows in a process that loses something.
#[derive(Debug, Clone, Copy)]
struct Held {
    descriptors: usize,
    threads: usize,
    zombies: usize,
    kilobytes: usize,
}

impl Held {
    fn by(host: &Host) -> Self {
        let pid = host.pid();
        let count = |folder: &str| std::fs::read_dir(format!("/proc/{pid}/{folder}")).unwrap().count();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            descriptors: count("fd"),
            threads: count("task"),
            zombies: zombies(pid.as_raw()),
            kilobytes: resident.trim().trim_end_matches(" kB").parse().unwrap(),
        }
    }
}

struct Births {
    host: Host,
    caller: Caller,
    _bus: Embedded,
}

impl Births {
    async fn host() -> Self {
        let bus = Embedded::start().await;
        let lost = "(setsid sleep 1000 &); exit 0";
        let config = json!({"bus": {"url": bus.url}, "toolboxes": {
            "tiny": {"command": ["sh", "-c", TINY.replace("${", "$${")]},
            "box": {"tools": {"loses": {"description": "d", "shell": lost}}},
            "healthy": moody(&json!({})),
        }});
        Self {
            host: Host::start(&config).await,
            caller: Caller::connect(&bus.url).await,
            _bus: bus,
        }
    }

    /// Starts the tiny toolbox anew so often, with a command that loses a process each tenth time.
    async fn rounds(&mut self, rounds: u32) {
        for round in 0..rounds {
            let orders = Orders {
                toolboxes: vec!["tiny".to_owned()],
                wait: true,
                grace_ms: 10_000,
                ..Orders::default()
            };
            let socket = self.host.socket();
            let restart = move || client::ask(&socket, &Verb::Restart(orders));
            let told = tokio::task::spawn_blocking(restart).await.unwrap().unwrap();
            assert!(told.contains("restarted"), "{told}");
            if round % 10 == 0 {
                let lost = self.caller.call("box", "loses", &json!({})).await;
                assert_eq!(lost, Ok(json!({"output": ""})));
                let pid = self.caller.call("tiny", "t", &json!({})).await;
                assert!(pid.as_ref().is_ok_and(Value::is_number), "{pid:?}");
            }
        }
    }

    #[allow(clippy::print_stdout)] // The numbers are what the long one is run for.
    async fn leave_nothing(mut self, rounds: u32, kilobytes: usize) {
        let healthy = self.host.pid_of("healthy");
        // The first ones fill what stays filled.
        self.rounds(100).await;
        let before = Held::by(&self.host);
        self.rounds(rounds).await;
        let host = &self.host;
        // The threads that wait for work go after some seconds, and what was lost is reaped in a moment.
        eventually("the host holds what it held", || {
            let now = Held::by(host);
            now.zombies == 0 && now.descriptors <= before.descriptors && now.threads <= before.threads
        })
        .await;
        let after = Held::by(host);
        println!("{rounds} restarts: {before:?}, then {after:?}");
        assert!(
            after.kilobytes <= before.kilobytes + kilobytes,
            "{before:?}, then {after:?}"
        );
        assert_eq!(host.processes().len(), 2, "of two toolboxes");
        assert_eq!(host.pid_of("healthy"), healthy);
        let echo = self.caller.call("healthy", "echo", &json!({"n": 1})).await;
        assert_eq!(echo, Ok(json!({"n": 1})));
        self.host.stop().await;
    }
}

#[tokio::test]
async fn five_hundred_restarts_leave_nothing_behind() {
    Births::host().await.leave_nothing(500, 4096).await;
}

#[tokio::test]
#[ignore = "two minutes: cargo test --test host births -- --ignored --nocapture"]
async fn ten_thousand_restarts_leave_nothing_behind() {
    Births::host().await.leave_nothing(10_000, 8192).await;
}
