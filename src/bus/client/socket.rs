//! Opening the connection: TCP, TLS on it, the WebSocket handshake.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error as WsError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::tls;
use crate::bus::wire::Wire;

/// Why the bus could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL cannot be one of a bus.
    #[error("`{url}` is no URL of a bus: {why}; it looks like ws://127.0.0.1:8181/core")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody listens, or the name is unknown.
    #[error("cannot connect to {address}: {error}")]
    Tcp {
        /// Host and port.
        address: String,
        /// The system's word.
        error: io::Error,
    },
    /// `ca_file` cannot be used.
    #[error("cannot read the certificates in {}: {why}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No TLS session came about.
    #[error("no TLS session with {address}: {why}")]
    Tls {
        /// Host and port.
        address: String,
        /// The cause, and what to do about it.
        why: String,
    },
    /// An HTTP server is there, but no bus at this path.
    #[error(
        "{address} answered HTTP {status} instead of opening a WebSocket; is the route in the URL right (OVOS: /core)?"
    )]
    Http {
        /// Host and port.
        address: String,
        /// The status code.
        status: u16,
    },
    /// What is there does not speak WebSocket.
    #[error("no WebSocket handshake with {address}: {error}; the URL of a bus with TLS begins with wss://")]
    Handshake {
        /// Host and port.
        address: String,
        /// The protocol's word.
        error: Box<WsError>,
    },
    /// Nothing happened for too long.
    #[error("no connection to {address} within {within:?}{hint}")]
    Timeout {
        /// Host and port.
        address: String,
        /// The limit.
        within: Duration,
        /// What may be the matter.
        hint: &'static str,
    },
}

/// Where the bus is.
#[derive(Debug, Clone)]
pub(super) struct Target {
    uri: Uri,
    host: String,
    port: u16,
    tls: bool,
}

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, ConnectError> {
        let refuse = |why: &str| ConnectError::Url {
            url: url.to_owned(),
            why: why.to_owned(),
        };
        let uri: Uri = url.trim().parse().map_err(|error| refuse(&format!("{error}")))?;
        let tls = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(refuse("its scheme is neither ws:// nor wss://")),
        };
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| refuse("it names no host"))?;
        // An IPv6 address stands in brackets in a URL, and without them everywhere else.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Ok(Self { uri, host, port, tls })
    }

    /// Host and port, for the log: a URL may hold a password.
    pub(super) fn address(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Connects, handshakes and all.
    pub(super) async fn open(
        &self,
        ca_file: Option<PathBuf>,
        config: WebSocketConfig,
        within: Duration,
    ) -> Result<WebSocketStream<Socket>, ConnectError> {
        // A bus without TLS waits for the end of what it takes for an HTTP request, so this is how it shows.
        let hint = match self.tls {
            true => "; does the bus speak TLS at all? Else its URL begins with ws://",
            false => "",
        };
        let timeout = |_| ConnectError::Timeout {
            address: self.address(),
            within,
            hint,
        };
        tokio::time::timeout(within, self.connect(ca_file, config))
            .await
            .map_err(timeout)?
    }

    async fn connect(
        &self,
        ca_file: Option<PathBuf>,
        config: WebSocketConfig,
    ) -> Result<WebSocketStream<Socket>, ConnectError> {
        let address = self.address();
        let tcp = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| ConnectError::Tcp {
                address: address.clone(),
                error,
            })?;
        let wire = Wire::new(tcp);
        let channel = match self.tls {
            true => Channel::Tls(Box::new(tls::open(wire, &self.host, &address, ca_file).await?)),
            false => Channel::Plain(wire),
        };
        let refuse = |error| match error {
            WsError::Http(response) => ConnectError::Http {
                address: address.clone(),
                status: response.status().as_u16(),
            },
            error => ConnectError::Handshake {
                address: address.clone(),
                error: Box::new(error),
            },
        };
        let request = (&self.uri).into_client_request().map_err(refuse)?;
        let socket = Socket {
            channel,
            written: 0,
            read: 0,
        };
        let (stream, _) = tokio_tungstenite::client_async_with_config(request, socket, Some(config))
            .await
            .map_err(refuse)?;
        Ok(stream)
    }
}

#[derive(Debug)]
enum Channel {
    Plain(Wire),
    Tls(Box<TlsStream<Wire>>),
}

/// The stream under the WebSocket. It counts what it takes, see [`super::outbox`], and what it gives.
#[derive(Debug)]
pub(super) struct Socket {
    channel: Channel,
    written: u64,
    read: u64,
}

impl Socket {
    /// Bytes taken so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes given so far.
    pub(super) fn read(&self) -> u64 {
        self.read
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(match &mut self.channel {
            Channel::Plain(wire) => Pin::new(wire).poll_read(cx, buf),
            Channel::Tls(tls) => Pin::new(tls.as_mut()).poll_read(cx, buf),
        })?;
        self.read += (buf.filled().len() - before) as u64;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let taken = ready!(match &mut self.channel {
            Channel::Plain(wire) => Pin::new(wire).poll_write(cx, buf),
            Channel::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, buf),
        })?;
        self.written += taken as u64;
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.channel {
            Channel::Plain(wire) => Pin::new(wire).poll_flush(cx),
            Channel::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.channel {
            Channel::Plain(wire) => Pin::new(wire).poll_shutdown(cx),
            Channel::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, address, tls) in [
            ("ws://127.0.0.1:8181/core", "127.0.0.1:8181", false),
            ("wss://bus.lan/core", "bus.lan:443", true),
            ("ws://[::1]:9/core", "[::1]:9", false),
            ("ws://user:word@host:1/core", "host:1", false),
        ] {
            let target = Target::parse(url).expect(url);
            assert_eq!((target.address().as_str(), target.tls), (address, tls), "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused_with_the_reason() {
        for (url, why) in [
            ("http://127.0.0.1:8181/core", "neither ws:// nor wss://"),
            ("127.0.0.1:8181", "neither ws:// nor wss://"),
            ("ws:///core", "no URL of a bus"),
            ("", "no URL of a bus"),
        ] {
            let error = Target::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
