//! The embedded bus, with raw clients, with clients of ours, and with the real ovos-bus-client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod common;

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{Bytes, Error};
use tokio_util::sync::CancellationToken;
use toolhost::bus::client::{Client, ClientConfig};
use toolhost::bus::embedded::EmbeddedOptions;

use common::embedded::Embedded;
use common::eventually::within;
use common::peers::python_command;
use common::raw::Raw;
use common::recorder::{Event, Running};
use common::scratch::Scratch;

fn message(name: &str) -> String {
    format!(r#"{{"type":"{name}","data":{{}},"context":{{}}}}"#)
}

#[tokio::test]
async fn frames_reach_everyone_in_one_order() {
    let bus = Embedded::start().await;
    let (mut one, mut two, mut three) = (bus.client().await, bus.client().await, bus.client().await);
    let (first, second) = (
        async {
            for number in 0..500 {
                one.send(message(&format!("one.{number}"))).await;
            }
        },
        async {
            for number in 0..500 {
                two.send(message(&format!("two.{number}"))).await;
            }
        },
    );
    tokio::join!(first, second);
    let mut heard = Vec::new();
    for client in [&mut one, &mut two, &mut three] {
        let mut frames = Vec::new();
        for _ in 0..1000 {
            frames.push(client.text().await.expect("the connection stands"));
        }
        heard.push(frames);
    }
    assert!(heard[0] == heard[1] && heard[1] == heard[2], "one order for all");
    let ones: Vec<_> = heard[0]
        .iter()
        .filter(|frame| frame.contains("one."))
        .cloned()
        .collect();
    assert_eq!(
        ones,
        (0..500)
            .map(|number| message(&format!("one.{number}")))
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn large_messages_pass_up_to_the_limit() {
    let bus = Embedded::start().await;
    let (mut one, mut two) = (bus.client().await, bus.client().await);
    let large = message(&"x".repeat(10 << 20));
    one.send(large.clone()).await;
    one.expect(&large).await;
    two.expect(&large).await;

    // Over the limit: the connection is refused, as by ovos-messagebus, and nobody else is hurt.
    one.0.get_mut().set_nodelay(true).expect("a socket");
    let too_large = message(&"x".repeat(26 << 20));
    let sent = futures_util::SinkExt::send(&mut one.0, too_large.into()).await;
    assert!(sent.is_err() || one.text().await.is_none());
    two.sync(&message("still-here")).await;
}

#[tokio::test]
async fn bad_frames_hurt_their_sender_only() {
    let bus = Embedded::start().await;
    let mut other = bus.client().await;

    let mut client = bus.client().await;
    client.send(Message::Binary(Bytes::from_static(b"\xff\xfe"))).await;
    client
        .send(Message::Binary(Bytes::from_static("binär".as_bytes())))
        .await;
    client.send("[1,2]").await;
    assert_eq!(client.sync("end").await, ["binär"], "dropped, relayed as text, dropped");
    assert_eq!(other.sync("mine").await, ["binär", "end"]);

    for broken in [
        b"\x81\x82\x00\x00\x00\x00\xff\xfe".as_slice(), // Text that is no UTF-8.
        b"\x81\x02hi",                                  // Not masked.
        b"\xf1\x80\x00\x00\x00\x00",                    // Reserved bits.
        b"\x83\x80\x00\x00\x00\x00",                    // An unknown kind of frame.
        b"\x80\x80\x00\x00\x00\x00",                    // The continuation of nothing.
    ] {
        let mut client = bus.client().await;
        client.0.get_mut().write_all(broken).await.expect("written");
        assert_eq!(client.text().await, None, "{broken:?} ends the connection");
    }
    // Half a frame, then nothing.
    let mut client = bus.client().await;
    client.0.get_mut().write_all(b"\x81\xfe").await.expect("written");
    drop(client);
    assert!(other.sync("after").await.is_empty());
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped() {
    let options = EmbeddedOptions {
        max_backlog: 4 << 20,
        ..EmbeddedOptions::default()
    };
    let bus = Embedded::start_with(options).await;
    let mut stuck = bus.client().await;
    let (mut one, mut two) = (bus.client().await, bus.client().await);
    let frame = message(&"x".repeat(100_000));
    // Far more than the bound and what the two sockets of the stuck client hold.
    for _ in 0..400 {
        one.send(frame.clone()).await;
        one.expect(&frame).await;
        two.expect(&frame).await;
    }
    let mut heard = 0;
    while stuck.text().await.is_some() {
        heard += 1;
    }
    assert!(heard < 400, "dropped before the end, after {heard} frames");
    assert!(two.sync("still-here").await.is_empty());
}

#[tokio::test]
async fn the_door() {
    let bus = Embedded::start().await;
    for (headers, expected) in [
        (vec![], 101),
        (vec![("origin", "http://localhost:3000")], 101),
        (vec![("origin", "https://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("host", "evil.example")], 403),
        (vec![("host", "evil.example"), ("origin", "http://evil.example")], 403),
    ] {
        let status = match Raw::connect_with(&bus.url, &headers).await {
            Ok(_) => 101,
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(error) => panic!("{headers:?}: {error}"),
        };
        assert_eq!(status, expected, "{headers:?}");
    }
}

/// What is no WebSocket request is told so in HTTP.
#[tokio::test]
async fn other_requests_are_answered() {
    let bus = Embedded::start().await;
    for (request, status) in [
        ("GET /core HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("POST /core HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        ("what is this\r\n\r\n", "400"),
    ] {
        let mut tcp = TcpStream::connect(bus.address).await.expect("it listens");
        tcp.write_all(request.as_bytes()).await.expect("written");
        let mut response = String::new();
        within("a response", tcp.read_to_string(&mut response))
            .await
            .expect("read");
        assert_eq!(response.split(' ').nth(1), Some(status), "{request}: {response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_is_like_a_client() {
    let bus = Embedded::start().await;
    let stop = CancellationToken::new();
    let inside = Running::run(bus.hub.attach(stop.clone()), stop);
    let outside = Running::connect(&bus.url).await;
    let mut raw = bus.client().await;
    for (mut running, name) in [(inside, "inside"), (outside, "outside")] {
        let mine = message(name);
        running.send(&mine);
        let events = running.until(|event| *event == Event::Echo(mine.clone())).await;
        assert!(!events.contains(&Event::Frame(mine.clone())));
        raw.expect(&mine).await;
        raw.send(message("theirs")).await;
        let frames = running.frames_until(&message("theirs")).await;
        assert!(!frames.contains(&mine));
        raw.expect(&message("theirs")).await;
        assert!(running.link.borrow().is_connected());
        running.send(r#"{"type":"bad","context":{"session":7}}"#);
        let rejected = raw.text().await.expect("the rejection");
        assert!(rejected.contains("ovos.session.rejected"), "{rejected}");
        running.frames_until(&rejected).await;
        running.stop().await;
    }
}

/// A bus that stops lets its clients have what is theirs, and tells them.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_bus() {
    // So long for those who do not answer the closing; these do.
    let options = EmbeddedOptions {
        close_within: Duration::from_secs(120),
        ..EmbeddedOptions::default()
    };
    let bus = Embedded::start_with(options).await;
    let mut raw = bus.client().await;
    let mut client = Running::connect(&bus.url).await;
    let stop = CancellationToken::new();
    let mut inside = Running::run(bus.hub.attach(stop.clone()), stop);
    inside.send(&message("last"));
    inside.until(|event| *event == Event::Echo(message("last"))).await;
    bus.stop.cancel();
    let start = Instant::now();
    raw.expect(&message("last")).await;
    assert_eq!(raw.text().await, None);
    client.frames_until(&message("last")).await;
    let why = client.disconnected().await;
    assert!(why.contains("1001"), "{why}");
    inside.disconnected().await;
    within("the bus ends", bus.task).await.expect("without a panic");
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(12),
        "long before the time for closing: {took:?}"
    );
}

const ANSWERER: &str = r#"
import sys
from ovos_bus_client import MessageBusClient
from ovos_bus_client.message import Message
client = MessageBusClient("127.0.0.1", int(sys.argv[1]), "/core", False)
client.on("test.ask", lambda m: client.emit(m.response({"answer": m.data["number"] + 1})))
client.run_in_thread()
client.connected_event.wait(15)
print("ready", flush=True)
sys.stdin.read()
"#;

const ASKER: &str = r#"
import sys
from ovos_bus_client import MessageBusClient
from ovos_bus_client.message import Message
client = MessageBusClient("127.0.0.1", int(sys.argv[1]), "/core", False)
client.run_in_thread()
client.connected_event.wait(15)
for number in range(20):
    answer = client.wait_for_response(Message("test.ask", {"number": number, "text": "über " * 1000}), timeout=10)
    assert answer is not None, f"no answer to {number}"
    assert answer.data == {"answer": number + 1}, answer.data
client.close()
print("done", flush=True)
"#;

#[tokio::test(flavor = "multi_thread")]
async fn real_clients_talk_to_each_other() {
    let bus = Embedded::start().await;
    let scratch = Scratch::new();
    let port = bus.address.port().to_string();
    let mut watcher = Running::connect(&bus.url).await;

    let mut answerer = tokio::process::Command::from({
        let mut command = python_command(scratch.path());
        command
            .args(["-c", ANSWERER, &port])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    })
    .kill_on_drop(true)
    .spawn()
    .expect("python runs");
    let mut output = answerer.stdout.take().expect("piped");
    within("the real client connects", async {
        let mut seen = String::new();
        while !seen.contains("ready") {
            let mut piece = [0; 4096];
            let length = output.read(&mut piece).await.expect("its output");
            assert!(length > 0, "the real client ended: {seen}");
            seen.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    })
    .await;

    let mut command = python_command(scratch.path());
    command.args(["-c", ASKER, &port]).stdout(Stdio::piped());
    let asker = tokio::process::Command::from(command).kill_on_drop(true).output();
    let output = within("the real client is done", asker).await.expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("done"), "{text}");
    watcher
        .until(|event| matches!(event, Event::Frame(frame) if frame.contains("test.ask.response")))
        .await;
}

/// Printed, not asserted.
#[tokio::test(flavor = "multi_thread")]
async fn round_trips_on_the_embedded_bus() {
    let client =
        |bus: &Embedded| Client::new(ClientConfig::new(&bus.url), CancellationToken::new()).expect("a good URL");
    let bus = Embedded::start().await;
    common::round_trips::measure("the embedded bus, two clients", client(&bus), client(&bus)).await;
    let bus = Embedded::start().await;
    let attached = bus.hub.attach(CancellationToken::new());
    common::round_trips::measure("the embedded bus, host attached", attached, client(&bus)).await;
}

#[tokio::test]
async fn a_full_bus_refuses_one_client_more_in_words_and_serves_those_it_has() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let bus = Embedded::start_with(EmbeddedOptions {
        max_connections: 3,
        ..EmbeddedOptions::default()
    })
    .await;
    let (mut one, mut two, three) = (bus.client().await, bus.client().await, bus.client().await);
    for _ in 0..5 {
        let Err(Error::Http(refusal)) = Raw::connect_with(&bus.url, &[]).await else {
            panic!("one too many is let in, or the connection just ends");
        };
        assert_eq!(refusal.status(), 503);
        let said = String::from_utf8_lossy(refusal.body().as_ref().expect("a reason")).into_owned();
        assert_eq!(said, "this bus has 3 connections, and takes no more\n");
    }
    one.send(message("goes.on")).await;
    two.expect(&message("goes.on")).await;
    drop(three);
    within("a place for the next", async {
        while Raw::connect_with(&bus.url, &[]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let said = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines = said.matches("has all the connections it takes, refused").count();
    assert!((1..5).contains(&lines), "{said}");
}

/// What is logged on this thread while it lives.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
