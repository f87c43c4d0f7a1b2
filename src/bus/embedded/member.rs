//! A client on a socket: one task that writes its queue and reads its frames.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Sink, Stream};
use tokio::sync::futures::OwnedNotified;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as WsError, Message, Utf8Bytes};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::EmbeddedOptions;
use super::hub::{Hub, Seat};
use crate::bus::wire::{Wire, farewell, is_reset, linger, refusal};

/// Frames read, and written, before the other direction and the other tasks get their turn.
const TURN: usize = 256;

/// Why a client left.
enum Left {
    /// By itself, or its connection broke.
    Gone,
    /// It did not read.
    Dropped,
    /// It sent what must not be taken.
    Refused(WsError),
    /// The bus stops.
    Stopped,
}

/// Serves one client to its end.
pub(super) async fn live(stream: WebSocketStream<Wire>, peer: SocketAddr, hub: &Hub, options: &EmbeddedOptions) {
    let dropped = CancellationToken::new();
    let seat = hub.join(peer.to_string(), Some(dropped.clone()));
    tracing::debug!(%peer, "client on the embedded bus");
    let mut member = Member {
        stream,
        seat,
        hub,
        peer,
        dropped: Box::pin(dropped.cancelled_owned()),
        closed: false,
        held: false,
        stopping: false,
        eased: None,
    };
    let left = poll_fn(|cx| member.poll(cx)).await;
    let Member { stream, seat, .. } = member;
    // Off the bus before anything that takes time.
    drop(seat);
    match left {
        Left::Gone | Left::Dropped => {}
        Left::Refused(error) => {
            tracing::warn!(%peer, %error, "client of the embedded bus dropped, it broke the protocol");
            linger(stream, Some(refusal(&error)), options.close_within).await;
        }
        Left::Stopped => {
            let frame = CloseFrame {
                code: CloseCode::Away,
                reason: Utf8Bytes::from_static("the bus stops"),
            };
            farewell(stream, frame, options.close_within).await;
        }
    }
    tracing::debug!(%peer, "client left the embedded bus");
}

struct Member<'a> {
    stream: WebSocketStream<Wire>,
    seat: Seat,
    hub: &'a Hub,
    peer: SocketAddr,
    dropped: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Its close frame has come. Nothing more may be written.
    closed: bool,
    /// The last turn's frames are still to be flushed.
    held: bool,
    /// The hub has closed: what is queued is still written.
    stopping: bool,
    /// Its frames are not read until this process has taken what is queued for it.
    eased: Option<Pin<Box<OwnedNotified>>>,
}

impl Member<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Left> {
        if self.dropped.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Left::Dropped);
        }
        self.poll_read(cx)
            .or_else(|| self.poll_write(cx).unwrap_or_else(|error| Some(left_over(error))))
            .map_or(Poll::Pending, Poll::Ready)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Option<Left> {
        for _ in 0..TURN {
            if self.has_to_wait(cx) {
                return None;
            }
            match Pin::new(&mut self.stream).poll_next(cx) {
                Poll::Ready(Some(Ok(message))) => self.take(message),
                Poll::Ready(Some(Err(error))) => return Some(left_over(error)),
                Poll::Ready(None) => return Some(Left::Gone),
                Poll::Pending => return None,
            }
        }
        cx.waker().wake_by_ref();
        None
    }

    /// Whether this process is so far behind that its clients have to wait: a bus that reads on would fill the memory.
    fn has_to_wait(&mut self, cx: &mut Context<'_>) -> bool {
        while self.hub.is_pressed() {
            let eased = self.eased.get_or_insert_with(|| {
                tracing::debug!(peer = %self.peer, "client has to wait, this process is behind");
                self.hub.eased()
            });
            // Looked at again once that is heard, so that no end of it is missed.
            if eased.as_mut().poll(cx).is_pending() {
                return self.hub.is_pressed();
            }
            self.eased = None;
        }
        self.eased = None;
        false
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Text(frame) => self.hub.relay(self.seat.id, frame),
            Message::Binary(frame) => match Utf8Bytes::try_from(frame) {
                Ok(frame) => self.hub.relay(self.seat.id, frame),
                Err(_) => tracing::warn!(peer = %self.peer, "binary frame dropped, it is no UTF-8"),
            },
            Message::Close(_) => self.closed = true,
            // Pings are answered by the protocol itself, at the next flush.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Result<Option<Left>, WsError> {
        let wrote = !self.closed && self.write_frames(cx)?;
        // Flushed one turn later: what the other tasks are about to say then goes out in the same packet.
        self.held = wrote && !self.held;
        if self.held {
            cx.waker().wake_by_ref();
            return Ok(None);
        }
        let flushed = Pin::new(&mut self.stream).poll_flush(cx)?.is_ready();
        Ok((flushed && self.stopping).then_some(Left::Stopped))
    }

    /// Whether there were any.
    fn write_frames(&mut self, cx: &mut Context<'_>) -> Result<bool, WsError> {
        for turn in 0..TURN {
            // The WebSocket takes one more frame than the socket does, so its buffer stays small
            // and the queue, which is bounded, holds the rest.
            if Pin::new(&mut self.stream).poll_ready(cx)?.is_pending() {
                return Ok(turn > 0);
            }
            match self.seat.queue.poll_recv(cx) {
                Poll::Ready(Some(relayed)) => {
                    self.seat.took(&relayed);
                    Pin::new(&mut self.stream).start_send(Message::Text(relayed.frame))?;
                }
                Poll::Ready(None) => {
                    self.stopping = true;
                    return Ok(turn > 0);
                }
                Poll::Pending => return Ok(turn > 0),
            }
        }
        cx.waker().wake_by_ref();
        Ok(true)
    }
}

fn left_over(error: WsError) -> Left {
    match error {
        WsError::Io(_) => Left::Gone,
        error if is_reset(&error) => Left::Gone,
        error => Left::Refused(error),
    }
}
