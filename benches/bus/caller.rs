//! Callers: toolhost's own client, and one without what that does against the bus's stall.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, Stream, StreamExt};
use memchr::memmem;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error as WsError, Message, Utf8Bytes};
use tokio_util::sync::CancellationToken;
use toolhost::bus::client::{Client, ClientConfig};
use toolhost::bus::link::{FrameHandler, Sender, Transport};

/// How long any answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells the answers to one caller from those to others: everybody hears everything.
#[derive(Clone)]
struct Mark(String);

impl Mark {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self(format!("caller {}.", COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A call of the echo tool of toolbox echo0 with a text of `length` bytes.
    fn call(&self, length: usize) -> Utf8Bytes {
        let text = "x".repeat(length);
        self.call_of(&format!(
            r#"{{"toolbox_id":"echo0","name":"echo","kwargs":{{"text":"{text}"}}}}"#
        ))
    }

    fn call_of(&self, data: &str) -> Utf8Bytes {
        self.message("ovos.persona.tools.call", data)
    }

    fn message(&self, topic: &str, data: &str) -> Utf8Bytes {
        let mark = &self.0;
        format!(r#"{{"type":"{topic}","data":{data},"context":{{"mark":"{mark}"}}}}"#).into()
    }

    /// Whether a frame answers a Message of this mark: a look at both ends, however long it is.
    fn is_answered_by(&self, frame: &[u8]) -> bool {
        let head = &frame[..frame.len().min(80)];
        let tail = &frame[frame.len().saturating_sub(4096)..];
        memmem::find(head, b".response\"").is_some() && memmem::find(tail, self.0.as_bytes()).is_some()
    }

    /// Reads up to the next answer.
    async fn answer_on(&self, stream: &mut (impl Stream<Item = Result<Message, WsError>> + Unpin)) {
        loop {
            let message = stream.next().await.expect("the connection stands");
            let message = message.expect("the bus keeps to the protocol");
            if message.is_text() && self.is_answered_by(&message.into_data()) {
                return;
            }
        }
    }
}

struct Answers {
    mark: Mark,
    out: mpsc::UnboundedSender<Utf8Bytes>,
}

impl FrameHandler for Answers {
    fn frame(&mut self, frame: Utf8Bytes) {
        if self.mark.is_answered_by(frame.as_bytes()) {
            self.out.send(frame).ok();
        }
    }
}

/// toolhost's own client.
pub(crate) struct Caller {
    mark: Mark,
    sender: Sender,
    answers: mpsc::UnboundedReceiver<Utf8Bytes>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Caller {
    /// Joins the bus at `url`, and waits for a host that is ready.
    pub(crate) async fn join(url: &str) -> Self {
        let stop = CancellationToken::new();
        let client = Client::new(ClientConfig::new(url), stop.clone()).expect("the URL of a bus");
        let (sender, mut link) = (client.sender(), client.link());
        let (out, answers) = mpsc::unbounded_channel();
        let mark = Mark::new();
        let running = tokio::spawn(client.run(Answers {
            mark: mark.clone(),
            out,
        }));
        let connected = link.wait_for(toolhost::bus::link::Link::is_connected);
        timeout(PATIENCE, connected)
            .await
            .expect("the bus is there")
            .expect("it stands");
        Self {
            mark,
            sender,
            answers,
            stop,
            running,
        }
    }

    /// Waits until every toolbox of toolhost has come up.
    pub(crate) async fn ready(&mut self) {
        self.ready_since(Instant::now()).await;
    }

    /// The time from `start` until every toolbox of toolhost has come up, in ns.
    pub(crate) async fn ready_since(&mut self, start: Instant) -> u64 {
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            self.send(self.mark.message("mycroft.toolhost.is_ready", "{}"));
            let answer = timeout(Duration::from_millis(1), self.answers.recv()).await;
            if answer
                .ok()
                .flatten()
                .is_some_and(|answer| answer.contains(r#""status":true"#))
            {
                let time = nanos(start);
                self.settle().await;
                return time;
            }
        }
        panic!("toolhost is not ready");
    }

    /// Lets late answers pass.
    async fn settle(&mut self) {
        while timeout(Duration::from_millis(100), self.answers.recv()).await.is_ok() {}
    }

    pub(crate) fn send(&self, frame: Utf8Bytes) {
        self.sender.send(frame);
    }

    pub(crate) async fn answer(&mut self) -> Utf8Bytes {
        let answer = timeout(PATIENCE, self.answers.recv()).await;
        answer.expect("an answer in time").expect("a client that runs")
    }

    /// The times of `calls` calls, one after another, in ns.
    pub(crate) async fn calls(&mut self, calls: usize, length: usize) -> Vec<u64> {
        self.timed(calls, self.mark.call(length)).await
    }

    /// The same with calls whose Message has this `data`.
    pub(crate) async fn calls_of(&mut self, calls: usize, data: &str) -> Vec<u64> {
        self.timed(calls, self.mark.call_of(data)).await
    }

    async fn timed(&mut self, calls: usize, frame: Utf8Bytes) -> Vec<u64> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let start = Instant::now();
            self.send(frame.clone());
            let answer = self.answer().await;
            times.push(nanos(start));
            check(&answer);
        }
        times
    }

    /// The time of one call where `window` are on their way at any time, in ns.
    pub(crate) async fn at_once(&mut self, calls: usize, window: usize) -> u64 {
        let frame = self.mark.call(5);
        let start = Instant::now();
        for _ in 0..window {
            self.send(frame.clone());
        }
        for answered in 0..calls {
            check(&self.answer().await);
            if answered + window < calls {
                self.send(frame.clone());
            }
        }
        nanos(start) / calls as u64
    }

    /// The time until the last of `toolboxes` answers to a discover, in ns.
    pub(crate) async fn discover(&mut self, toolboxes: usize) -> u64 {
        let start = Instant::now();
        self.send(self.mark.message("ovos.persona.tools.discover", "{}"));
        for _ in 0..toolboxes {
            self.answer().await;
        }
        nanos(start)
    }

    pub(crate) async fn leave(self) {
        self.stop.cancel();
        self.running.await.expect("the client ends in good order");
    }
}

fn check(answer: &str) {
    assert!(answer.contains(r#""result""#), "no result: {answer}");
}

/// Nanoseconds since `start`.
pub(crate) fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A WebSocket as most clients open it: acknowledgements come when the kernel sends them.
pub(crate) struct Plain {
    mark: Mark,
    stream: WebSocketStream<TcpStream>,
}

impl Plain {
    pub(crate) async fn join(url: &str) -> Self {
        let address = url.trim_start_matches("ws://").trim_end_matches("/core");
        let tcp = TcpStream::connect(address).await.expect("the bus is there");
        tcp.set_nodelay(true).expect("a socket option");
        let (stream, _) = tokio_tungstenite::client_async(url, tcp).await.expect("a handshake");
        let mark = Mark::new();
        Self { mark, stream }
    }

    /// The times of `calls` calls, one after another, in ns.
    pub(crate) async fn calls(&mut self, calls: usize) -> Vec<u64> {
        let frame = self.mark.call(5);
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let start = Instant::now();
            self.stream
                .send(Message::Text(frame.clone()))
                .await
                .expect("the bus takes it");
            let answered = self.mark.answer_on(&mut self.stream);
            timeout(PATIENCE, answered).await.expect("an answer in time");
            times.push(nanos(start));
        }
        times
    }

    /// Sends `frame` so many times and a call behind them; ends with its answer, when all were seen by the host.
    pub(crate) async fn flood(self, frame: Utf8Bytes, count: usize) {
        let mark = self.mark;
        let (mut out, mut input) = self.stream.split();
        let sending = async {
            for _ in 0..count {
                out.feed(Message::Text(frame.clone())).await.expect("the bus takes it");
            }
            out.send(Message::Text(mark.call(5))).await.expect("the bus takes it");
        };
        let answered = mark.answer_on(&mut input);
        tokio::join!(sending, timeout(4 * PATIENCE, answered))
            .1
            .expect("an answer in time");
    }
}
