//! The poll loop of one link.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::{Sink, Stream};
use tokio::time::Sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Error as WsError, Message, Utf8Bytes};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::Timing;
use super::outbox::Outbox;
use super::report::Report;
use super::socket::Socket;
use crate::bus::link::FrameHandler;
use crate::bus::queue::Outlet;
use crate::bus::wire::{is_cut, is_reset};

/// Frames read, and written, before the other direction and the other tasks get their turn.
const TURN: usize = 256;

/// The time from a reset to the moment it shows here.
const A_MOMENT: Duration = Duration::from_millis(2);

/// Why a link ended.
#[derive(Debug)]
pub(super) enum End {
    /// The client was stopped.
    Stopped,
    /// The bus closed it, or its process is gone; all it had said was read.
    ByBus(String),
    /// It was reset amid what the bus said, some of which may be gone with it.
    Reset(String),
    /// It seems dead.
    ByUs(String),
    /// The bus sent what must not be taken.
    Refused(WsError),
}

/// How far the link is towards its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Stopped; what waits is still written.
    Flushing,
    /// Stopped, and our close frame is written.
    Closing,
    /// The bus sent its close frame. Nothing more may be written.
    ClosedByBus,
}

/// A ping that is not answered yet.
#[derive(Debug)]
struct Ping {
    since: Instant,
    /// Where it ends in our byte stream, and how much of that the socket had taken.
    end: u64,
    written: u64,
}

/// One link, with what it borrows from its client.
pub(super) struct Pump<'a, H> {
    stream: WebSocketStream<Socket>,
    queue: &'a mut Outlet,
    outbox: &'a mut Outbox,
    handler: &'a mut H,
    report: &'a mut Report,
    timing: Timing,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    phase: Phase,
    alarm: Pin<Box<Sleep>>,
    /// When the bus last gave a sign of life, and how many bytes it had sent by then.
    heard: Instant,
    heard_bytes: u64,
    ping: Option<Ping>,
    /// A write failed; what the bus said before is still to be read.
    broken: Option<WsError>,
    /// What the bus gave as its reason to close.
    closed: Option<String>,
}

impl<'a, H: FrameHandler> Pump<'a, H> {
    pub(super) fn new(
        stream: WebSocketStream<Socket>,
        queue: &'a mut Outlet,
        outbox: &'a mut Outbox,
        handler: &'a mut H,
        report: &'a mut Report,
        timing: Timing,
        stop: CancellationToken,
    ) -> Self {
        let alarm = Box::pin(tokio::time::sleep(timing.ping_after));
        Self {
            stream,
            queue,
            outbox,
            handler,
            report,
            timing,
            stop: Box::pin(stop.cancelled_owned()),
            phase: Phase::Open,
            alarm,
            heard: Instant::now(),
            heard_bytes: 0,
            ping: None,
            broken: None,
            closed: None,
        }
    }

    /// Runs the link to its end.
    pub(super) async fn run(mut self) -> (End, WebSocketStream<Socket>) {
        let end = poll_fn(|cx| self.poll(cx)).await;
        (end, self.stream)
    }

    /// One turn. What reading made the handler say is written in the same turn.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let end = self
            .poll_stop(cx)
            .or_else(|| self.poll_read(cx))
            .or_else(|| self.poll_write(cx))
            .or_else(|| self.poll_alarm(cx));
        self.report.given_up(self.outbox.take_given_up());
        self.report.refused(self.queue.take_refused());
        end.map_or(Poll::Pending, Poll::Ready)
    }

    fn poll_stop(&mut self, cx: &mut Context<'_>) -> Option<End> {
        if self.phase == Phase::Open && self.stop.as_mut().poll(cx).is_ready() {
            self.phase = Phase::Flushing;
            self.wake_in(self.timing.flush_within);
        }
        None
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Option<End> {
        let end = self.read_frames(cx);
        // Bytes, not messages: a large one may take longer than a ping may.
        let bytes = self.stream.get_ref().read();
        if bytes != self.heard_bytes && self.broken.is_none() {
            self.heard_bytes = bytes;
            self.heard = Instant::now();
            self.ping = None;
        }
        end
    }

    fn read_frames(&mut self, cx: &mut Context<'_>) -> Option<End> {
        self.outbox.written(self.stream.get_ref().written());
        let mut turn = TURN;
        loop {
            match Pin::new(&mut self.stream).poll_next(cx) {
                Poll::Ready(Some(Ok(message))) => self.take(message, cx),
                Poll::Ready(Some(Err(error))) => return Some(self.ended(Some(error))),
                Poll::Ready(None) => return Some(self.ended(None)),
                // On a broken link as well: what it holds is known once the runtime has looked, and then its end comes too.
                Poll::Pending => return None,
            }
            turn = turn.saturating_sub(1);
            // On a broken link everything left is read at once: it tells what was relayed.
            if turn == 0 && self.broken.is_none() {
                cx.waker().wake_by_ref();
                return None;
            }
        }
    }

    fn take(&mut self, message: Message, cx: &mut Context<'_>) {
        match message {
            Message::Text(frame) if self.outbox.is_echo(&frame) => self.handler.echo(frame),
            Message::Text(frame) => self.handler.frame(frame),
            Message::Binary(frame) => self.report.binary(frame.len()),
            Message::Ping(payload) => {
                // Encodes the answer now, so that its place in the byte stream is known. Where this
                // fails, the next read or write says so too.
                let flushed = Pin::new(&mut self.stream).poll_flush(cx);
                tracing::trace!(?flushed, "ping answered");
                self.outbox.control(payload.len());
            }
            Message::Close(frame) => {
                if self.phase != Phase::Closing {
                    self.phase = Phase::ClosedByBus;
                    self.wake_in(self.timing.close_within);
                }
                self.closed = frame.map(|frame| format!("{} {}", u16::from(frame.code), frame.reason));
            }
            Message::Pong(_) | Message::Frame(_) => {}
        }
    }

    /// There is nothing more to read. The first thing that went wrong is the cause.
    fn ended(&mut self, error: Option<WsError>) -> End {
        if self.phase == Phase::Closing {
            return End::Stopped;
        }
        if let Some(reason) = self.closed.take() {
            return End::ByBus(format!("the bus closed the connection: {}", reason.trim_end()));
        }
        match self.broken.take().or(error) {
            None => End::ByBus("the bus closed the connection".to_owned()),
            Some(error) if is_cut(&error) && self.has_heard_more() => {
                End::Reset(format!("the connection broke: {error}"))
            }
            Some(error) if is_reset(&error) => End::ByBus(format!("the connection broke: {error}")),
            Some(WsError::Io(error)) => End::ByUs(format!("the connection broke: {error}")),
            Some(error) => End::Refused(error),
        }
    }

    /// Whether the bus had sent anything since all that was there was read, and so acknowledged; or perhaps had: what was
    /// read a moment ago may have been acknowledged too late.
    fn has_heard_more(&self) -> bool {
        self.stream.get_ref().read() != self.heard_bytes || self.heard.elapsed() < A_MOMENT
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Option<End> {
        if self.broken.is_some() {
            return None;
        }
        let written = match self.phase {
            Phase::Closing | Phase::ClosedByBus => {
                self.hold(cx, Instant::now());
                self.poll_flush(cx)
            }
            Phase::Open | Phase::Flushing => self.write_frames(cx).and_then(|()| self.poll_flush(cx)),
        };
        self.outbox.written(self.stream.get_ref().written());
        if let Err(error) = written {
            self.broken = Some(error);
            // Its end is there to be read; should it not be, this one does.
            self.wake_in(self.timing.close_within);
            return self.poll_read(cx);
        }
        if self.phase == Phase::Flushing && self.outbox.is_flushed() && self.queue.is_empty() {
            self.close(cx);
        }
        None
    }

    fn write_frames(&mut self, cx: &mut Context<'_>) -> Result<(), WsError> {
        let now = Instant::now();
        for _ in 0..TURN {
            if Pin::new(&mut self.stream).poll_ready(cx)?.is_pending() {
                self.hold(cx, now);
                return Ok(());
            }
            let frame = match self.outbox.next(now) {
                Some(frame) => frame,
                None => match self.queue.poll_recv(cx) {
                    Poll::Ready(Some(frame)) => self.outbox.pass(frame, now),
                    Poll::Ready(None) | Poll::Pending => return Ok(()),
                },
            };
            Pin::new(&mut self.stream).start_send(Message::Text(frame))?;
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    /// The socket takes nothing: what comes waits within the outbox's bounds.
    fn hold(&mut self, cx: &mut Context<'_>, now: Instant) {
        while let Poll::Ready(Some(frame)) = self.queue.poll_recv(cx) {
            self.outbox.push(frame, now);
        }
        self.outbox.enforce(now);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Result<(), WsError> {
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(result) => result,
            Poll::Pending => Ok(()),
        }
    }

    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Option<End> {
        while self.alarm.as_mut().poll(cx).is_ready() {
            if self.broken.is_some() {
                return Some(self.ended(None));
            }
            match self.phase {
                Phase::Open => {
                    if let Some(end) = self.watch(cx) {
                        return Some(end);
                    }
                }
                Phase::Flushing => self.close(cx),
                Phase::Closing | Phase::ClosedByBus => return Some(self.ended(None)),
            }
        }
        None
    }

    /// Pings a silent bus, and ends a link on which the ping is not answered. Sets the alarm anew.
    fn watch(&mut self, cx: &mut Context<'_>) -> Option<End> {
        let now = Instant::now();
        let due = match &self.ping {
            Some(ping) => ping.since + self.timing.pong_within,
            None => self.heard + self.timing.ping_after,
        };
        if now < due {
            self.wake_in(due - now);
            return None;
        }
        let written = self.stream.get_ref().written();
        self.wake_in(self.timing.pong_within);
        match &mut self.ping {
            // Behind a large frame that the bus is still taking, a ping is not late yet.
            Some(ping) if written < ping.end && written > ping.written => {
                ping.since = now;
                ping.written = written;
            }
            Some(_) => {
                let silent = now.saturating_duration_since(self.heard).as_secs_f32();
                return Some(End::ByUs(format!(
                    "no sign of life from the bus for {silent:.1} s, not even to a ping"
                )));
            }
            None => {
                let end = self.control(Message::Ping(Bytes::new()), 0, cx);
                self.ping = Some(Ping {
                    since: now,
                    end,
                    written,
                });
            }
        }
        None
    }

    /// Starts the closing handshake.
    fn close(&mut self, cx: &mut Context<'_>) {
        self.phase = Phase::Closing;
        self.wake_in(self.timing.close_within);
        let frame = CloseFrame {
            code: CloseCode::Normal,
            reason: Utf8Bytes::from_static(""),
        };
        self.control(Message::Close(Some(frame)), 2, cx);
    }

    /// Writes a control frame, and answers where it ends. Where this fails, the next read or write says so too.
    fn control(&mut self, message: Message, payload: usize, cx: &mut Context<'_>) -> u64 {
        let started = Pin::new(&mut self.stream).start_send(message);
        let end = self.outbox.control(payload);
        let flushed = self.poll_flush(cx);
        tracing::trace!(?started, ?flushed, "control frame written");
        end
    }

    fn wake_in(&mut self, time: Duration) {
        self.alarm.as_mut().reset(tokio::time::Instant::now() + time);
    }
}
