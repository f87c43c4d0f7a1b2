//! TCP with the options small frames need, and its end without loss.
//!
//! The OVOS bus leaves Nagle's algorithm on, so each small frame of it waits for our acknowledgement
//! of the one before, and Linux delays that by 40 ms. Acknowledging at once (`TCP_QUICKACK`, which
//! the kernel clears by itself and which is therefore set again after each read) takes a round trip
//! from 44 ms to below one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as WsError, Message, Utf8Bytes};

/// TCP that acknowledges at once.
#[derive(Debug)]
pub(super) struct Wire(TcpStream);

impl Wire {
    /// Sets what can be set once: without Nagle's algorithm a small frame leaves at once.
    pub(super) fn new(tcp: TcpStream) -> Self {
        if let Err(error) = tcp.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY not set");
        }
        Self(tcp)
    }

    #[cfg(target_os = "linux")]
    fn acknowledge(&self) {
        if let Err(error) = self.0.set_quickack(true) {
            tracing::trace!(%error, "TCP_QUICKACK not set");
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn acknowledge(&self) {}
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.acknowledge();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Whether the connection was reset before its orderly end: the peer died with bytes of ours unread, and its kernel dropped
/// what it had not sent us yet. (A reset that follows an orderly end is a broken pipe to Linux.)
pub(super) fn is_cut(error: &WsError) -> bool {
    matches!(error, WsError::Io(error) if error.kind() == io::ErrorKind::ConnectionReset)
}

/// Whether the peer, or its kernel in its place, ended the connection.
pub(super) fn is_reset(error: &WsError) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match error {
        WsError::Io(error) => {
            matches!(
                error.kind(),
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
            )
        }
        WsError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => true,
        WsError::ConnectionClosed | WsError::AlreadyClosed => true,
        _ => false,
    }
}

/// The close frame for a peer that sent what RFC 6455 makes us refuse.
pub(super) fn refusal(error: &WsError) -> CloseFrame {
    let code = match error {
        WsError::Utf8(_) => CloseCode::Invalid,
        WsError::Capacity(_) => CloseCode::Size,
        _ => CloseCode::Protocol,
    };
    // A control frame holds 125 bytes, two of them the code.
    let reason: String = error.to_string().chars().filter(char::is_ascii).take(120).collect();
    CloseFrame {
        code,
        reason: Utf8Bytes::from(reason),
    }
}

/// Ends a connection on which the peer sent something to refuse, without losing what it has from us.
///
/// Closing a socket with unread data makes the kernel reset it, and a reset throws away what the
/// peer has not read yet. So our half is closed, and theirs read to its end.
pub(super) async fn linger<S>(mut stream: WebSocketStream<S>, close: Option<CloseFrame>, within: Duration)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let ending = async move {
        if let Some(frame) = close {
            stream
                .send(Message::Close(Some(frame)))
                .await
                .map_err(io::Error::other)?;
        }
        let mut socket = stream.into_inner();
        socket.shutdown().await?;
        tokio::io::copy(&mut socket, &mut tokio::io::sink()).await
    };
    let ended = tokio::time::timeout(within, ending).await;
    tracing::trace!(?ended, "refused connection ended");
}

/// Says goodbye and waits for the answer, as the closing handshake has it.
pub(super) async fn farewell<S>(mut stream: WebSocketStream<S>, frame: CloseFrame, within: Duration)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let ending = async move {
        stream.send(Message::Close(Some(frame))).await?;
        while stream.next().await.transpose()?.is_some() {}
        Ok::<(), WsError>(())
    };
    let ended = tokio::time::timeout(within, ending).await;
    tracing::trace!(?ended, "connection closed");
}
