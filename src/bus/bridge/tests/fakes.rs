//! Toolboxes of a few lines, and a bus that keeps what it is given.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::bus::bridge::{Bridge, Outgoing};
use crate::bus::message::Message;
use crate::bus::toolboxes::{Listing, Toolboxes};
use crate::config::{PredecessorTopics, ToolService};
use crate::json::{Members, Text};
use crate::migrate::ledger::Ledger;
use crate::tools::outcome::{Call, CallError};

/// Two toolboxes, `wn` and `disk`, with tools named after what they do.
pub(super) struct Fake {
    calls: AtomicUsize,
    refreshes: AtomicUsize,
    reloads: AtomicUsize,
    kept: Mutex<Vec<Call>>,
    policy: Mutex<PredecessorTopics>,
    refusal: Mutex<String>,
    gate: Semaphore,
}

/// Permits of an open gate: more than ever pass it.
const OPEN: usize = 10_000;

impl Fake {
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(super) fn refreshes(&self) -> usize {
        self.refreshes.load(Ordering::SeqCst)
    }

    pub(super) fn reloads(&self) -> usize {
        self.reloads.load(Ordering::SeqCst)
    }

    pub(super) fn kept(&self) -> Vec<Call> {
        std::mem::take(&mut self.kept.lock().unwrap())
    }

    pub(super) fn set_policy(&self, policy: PredecessorTopics) {
        *self.policy.lock().unwrap() = policy;
    }

    pub(super) fn refuse(&self, why: &str) {
        *self.refusal.lock().unwrap() = why.to_owned();
    }

    /// Discover and reload wait from now on.
    pub(super) fn close_gate(&self) {
        self.gate.forget_permits(OPEN);
    }

    pub(super) fn open_gate(&self) {
        self.gate.add_permits(OPEN);
    }

    async fn pass_gate(&self) {
        drop(self.gate.acquire().await.unwrap());
    }
}

impl Toolboxes for Fake {
    fn hosts(&self, toolbox_id: &str) -> bool {
        matches!(toolbox_id, "wn" | "disk")
    }

    fn call(&self, _toolbox_id: &str, call: Call) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match call.name.as_str() {
            "echo" => {
                let result = call.kwargs.unwrap_or_else(|| Text::from("\"absent\"".to_owned()));
                call.reply.send(Ok(result));
            }
            "keep" => self.kept.lock().unwrap().push(call),
            "drop" => drop(call),
            "raise" => call
                .reply
                .send(Err(CallError::Raised("KeyError: 'disk on fire'".into()))),
            other => call.reply.send(Err(CallError::UnknownTool(other.to_owned()))),
        }
    }

    fn invoke(&self, call: Call) {
        self.call("wn", call);
    }

    fn get(&self, name: &str) -> Result<Text, CallError> {
        match name {
            "echo" => Ok(Text::from(r#"{"name":"echo"}"#.to_owned())),
            "twice" => Err(CallError::Ambiguous {
                name: name.into(),
                owners: vec!["wn".into(), "disk".into()],
            }),
            _ => Err(CallError::UnknownTool(name.into())),
        }
    }

    fn list(&self) -> Text {
        Text::from(r#"[{"name":"echo"}]"#.to_owned())
    }

    async fn discover(&self, mut answer: impl FnMut(Listing) + Send + 'static) {
        self.refreshes.fetch_add(1, Ordering::SeqCst);
        self.pass_gate().await;
        for toolbox_id in ["wn", "disk"] {
            answer(Listing {
                toolbox_id: toolbox_id.into(),
                tools: Text::from("[]".to_owned()),
            });
        }
    }

    async fn reload(&self) -> Result<(), String> {
        self.reloads.fetch_add(1, Ordering::SeqCst);
        self.pass_gate().await;
        let refusal = self.refusal.lock().unwrap().clone();
        assert_ne!(refusal, "panic");
        if refusal.is_empty() { Ok(()) } else { Err(refusal) }
    }

    fn is_ready(&self) -> bool {
        false
    }

    fn predecessor_topics(&self, _toolbox_id: &str) -> PredecessorTopics {
        *self.policy.lock().unwrap()
    }
}

/// Every frame that went out, each checked on its way: nothing toolhost emits may be malformed.
#[derive(Clone, Default)]
pub(super) struct Sent(pub(super) Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>);

impl Sent {
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Is crowded from now on with so many frames that nobody took.
    pub(super) fn crowd_at(&self, frames: usize) {
        self.1.store(frames, Ordering::SeqCst);
    }
}

impl Outgoing for Sent {
    fn is_crowded(&self) -> bool {
        let most = self.1.load(Ordering::SeqCst);
        most > 0 && self.0.lock().unwrap().len() >= most
    }

    fn send(&self, frame: Utf8Bytes) {
        check(&frame);
        self.0.lock().unwrap().push(frame.as_str().to_owned());
    }
}

fn check(frame: &str) {
    let message = Message::parse(frame).unwrap();
    let members = Members::parse(frame).unwrap();
    let keys: Vec<_> = members.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["type", "data", "context"], "{frame}");
    for key in ["source", "destination"] {
        let value = message.context.get(key).map(|raw| raw.get());
        assert!(!matches!(value, Some("\"\"" | "null" | "[]")), "{frame}");
    }
    if message.topic.ends_with(".call.response") || message.topic == "ovos.tools.invoke.response" {
        let ends = ["result", "error"].map(|key| message.data.get(key).is_some());
        assert_ne!(ends[0], ends[1], "exactly one of result and error: {frame}");
    }
}

/// One host on a bus of its own.
pub(super) struct Host {
    pub(super) bridge: Bridge<Fake, Sent>,
    pub(super) toolboxes: Arc<Fake>,
    pub(super) sent: Sent,
    pub(super) ledger: Arc<Ledger>,
}

impl Host {
    /// Lets spawned tasks run until they end or wait at the gate.
    pub(super) async fn settle(&self) {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

pub(super) fn host(tool_service: ToolService) -> Host {
    let toolboxes = Arc::new(Fake {
        calls: AtomicUsize::new(0),
        refreshes: AtomicUsize::new(0),
        reloads: AtomicUsize::new(0),
        kept: Mutex::default(),
        policy: Mutex::default(),
        refusal: Mutex::default(),
        gate: Semaphore::new(OPEN),
    });
    let sent = Sent::default();
    let ledger = Arc::new(Ledger::default());
    let bridge = Bridge::new(
        Arc::clone(&toolboxes),
        sent.clone(),
        tool_service,
        Arc::clone(&ledger),
        Handle::current(),
    );
    Host {
        bridge,
        toolboxes,
        sent,
        ledger,
    }
}
