//! The control socket: each line has one answer, on one line, and only what was asked for is done.

use std::sync::Mutex;

use serde_json::{Value, json};
use toolhost::control::order::{Ordered, Orders, Reloaded};
use toolhost::control::status::Status;
use toolhost::control::verb::{self, Order, Verb, Verbs};
use toolhost::migrate::verdict::Report;

/// A host that writes down what it is asked.
#[derive(Default)]
struct Host(Mutex<Vec<Verb>>);

impl Host {
    fn note(&self, verb: Verb) {
        self.0.lock().expect("nobody panics with it").push(verb);
    }
}

impl Verbs for Host {
    async fn status(&self) -> Status {
        self.note(Verb::Status);
        let bus = json!({"url": "ws://a", "state": "connected", "since_seconds": 1});
        let messages = json!({"received": 1, "sent": 1, "malformed": 0});
        let host = json!({"version": "1", "pid": 1, "uptime_seconds": 1, "config": "/c", "bus": bus,
            "tool_service": "answering", "messages": messages});
        let status = json!({"host": host, "toolboxes": []});
        serde_json::from_value(status).expect("a status")
    }

    fn migration(&self) -> Report {
        self.note(Verb::Migration);
        Report::default()
    }

    async fn order(&self, order: Order, orders: Orders) -> Ordered {
        self.note(match order {
            Order::Stop => Verb::Stop(orders),
            Order::Start => Verb::Start(orders),
            Order::Restart => Verb::Restart(orders),
        });
        Ordered::default()
    }

    async fn reload(&self) -> Result<Reloaded, String> {
        self.note(Verb::Reload);
        Err("the file\nhas a fault".to_owned())
    }
}

/// One line of a peer.
pub fn hold(data: &[u8]) {
    let host = Host::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let answer = runtime.block_on(verb::answer(data, &host));
    assert!(!answer.contains(['\n', '\r']), "{answer}");
    let Ok(Value::Object(answer)) = serde_json::from_str(&answer) else {
        panic!("no object: {answer}")
    };
    assert_eq!(answer.len(), 1);
    let asked = host.0.into_inner().expect("nobody panicked with it");
    match &asked[..] {
        [] => assert!(answer["error"].as_str().is_some_and(|why| !why.is_empty())),
        [Verb::Reload] => assert!(answer.contains_key("error")),
        [verb] => {
            assert!(answer.contains_key(verb.name()));
            // What was understood is what a client would write.
            assert_eq!(serde_json::from_str::<Verb>(&verb.line()).expect("its own line"), *verb);
        }
        more => panic!("one line asked for {more:?}"),
    }
}
