//! One list of behaviors, run on ovos-messagebus and on the embedded bus: to its clients there is no difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should panic"
)]

mod common;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::{Bytes, Error};

use common::embedded::Embedded;
use common::eventually::within;
use common::peers::RealBus;
use common::raw::Raw;

macro_rules! on_both_buses {
    ($($behavior:ident),+ $(,)?) => {
        mod real {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $behavior() {
                    let bus = super::RealBus::start().await;
                    super::$behavior(&bus.url()).await;
                }
            )+
        }
        mod embedded {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $behavior() {
                    let bus = super::Embedded::start().await;
                    super::$behavior(&bus.url).await;
                }
            )+
        }
    };
}

on_both_buses!(
    greets,
    relays_whatever_is_text_to_everyone,
    turns_binary_frames_into_text,
    drops_a_malformed_session_carrier,
    relays_large_messages_and_refuses_larger,
    serves_one_route,
    answers_pings_and_closes,
);

/// A client past its greeting.
async fn client(url: &str) -> Raw {
    let mut raw = Raw::connect(url).await;
    raw.text().await.expect("the greeting");
    raw
}

async fn greets(url: &str) {
    let mut raw = Raw::connect(url).await;
    raw.expect(r#"{"type": "connected", "data": {}, "context": {"session": {"session_id": "default"}}}"#)
        .await;
}

async fn relays_whatever_is_text_to_everyone(url: &str) {
    let (mut one, mut two) = (client(url).await, client(url).await);
    let long = format!(
        r#"{{"type":"long","data":{{"text":"{}"}},"context":{{}}}}"#,
        "ü".repeat(100_000)
    );
    for frame in [
        r#"{"type":"a","data":{},"context":{}}"#,
        r#"{"type":"","data":[],"more":NaN,"type":"b"}"#,
        r#"{"context":{"session":null}}"#,
        r#"{"type":"a","data":{"session":5},"context":{"session":{"session_id":5}}}"#,
        r#"{"type":"a","session":5}"#,
        r#"{"type":"half"#,
        "no json",
        "\u{feff}{}",
        "",
        &long,
    ] {
        one.send(frame).await;
        one.expect(frame).await;
        two.expect(frame).await;
    }
}

async fn turns_binary_frames_into_text(url: &str) {
    let (mut one, mut two) = (client(url).await, client(url).await);
    one.send(Message::Binary(Bytes::from_static(br#"{"type":"binary"}"#)))
        .await;
    one.expect(r#"{"type":"binary"}"#).await;
    two.expect(r#"{"type":"binary"}"#).await;
}

async fn drops_a_malformed_session_carrier(url: &str) {
    let (mut one, mut two) = (client(url).await, client(url).await);
    for (frame, rejection) in [
        (
            r#"{"type":"a.b","data":{},"context":{"session":"x","utterance_id":"u-1"}}"#,
            r#"{"type": "ovos.session.rejected", "data": {"msg_type": "a.b", "reason": "malformed_carrier"}, "context": {"utterance_id": "u-1"}}"#,
        ),
        (
            r#"{"context":{"session":[]}}"#,
            r#"{"type": "ovos.session.rejected", "data": {"msg_type": null, "reason": "malformed_carrier"}, "context": {}}"#,
        ),
    ] {
        one.send(frame).await;
        one.expect(rejection).await;
        two.expect(rejection).await;
    }
    assert!(
        one.sync("still-here").await.is_empty(),
        "the sender keeps its connection"
    );
}

async fn relays_large_messages_and_refuses_larger(url: &str) {
    let (mut one, mut two) = (client(url).await, client(url).await);
    let message = |length: usize| format!(r#"{{"type":"{}"}}"#, "x".repeat(length));
    let large = message(10 << 20);
    one.send(large.clone()).await;
    one.expect(&large).await;
    two.expect(&large).await;
    let sent = one.0.send(message(26 << 20).into()).await;
    assert!(
        sent.is_err() || one.text().await.is_none(),
        "too large a message costs the connection"
    );
    assert!(two.sync("still-here").await.is_empty(), "of its sender alone");
}

async fn serves_one_route(url: &str) {
    for path in ["/", "/cor", "/core/", "/core/x"] {
        match Raw::connect_with(&url.replace("/core", path), &[]).await {
            Err(Error::Http(response)) => assert_eq!(response.status().as_u16(), 404, "{path}"),
            other => panic!("{path}: {:?}", other.map(|_| "let in")),
        }
    }
    let address = url.trim_start_matches("ws://").trim_end_matches("/core");
    let mut tcp = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET /core HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    tcp.write_all(request.as_bytes()).await.expect("written");
    let mut response = String::new();
    within("a response", tcp.read_to_string(&mut response))
        .await
        .expect("read");
    assert!(response.starts_with("HTTP/1.1 400"), "{response}");
}

async fn answers_pings_and_closes(url: &str) {
    let mut one = client(url).await;
    one.send(Message::Ping(Bytes::from_static(b"are you there"))).await;
    let pong = within("a pong", one.0.next()).await;
    assert!(matches!(pong, Some(Ok(Message::Pong(payload))) if payload.as_ref() == b"are you there"));
    one.send(Message::Close(None)).await;
    let close = within("the close frame", one.0.next()).await;
    assert!(matches!(close, Some(Ok(Message::Close(_)))), "{close:?}");
    assert!(within("the end", one.0.next()).await.is_none());
}
