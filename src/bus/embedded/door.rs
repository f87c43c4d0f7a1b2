//! Who gets in: the HTTP half of the WebSocket handshake.
//!
//! A WebSocket is not bound by the same-origin rule, so any page in a browser on this machine could
//! call tools. A browser always names the page's origin: a foreign one is refused. And since a page
//! can point its own name at this machine (DNS rebinding), a bus on loopback answers to loopback
//! names only, and one on a network refuses browsers whose page has a name of the public DNS. (The
//! Python client names the bus itself as its origin, but never a user agent, as every browser does.)

use std::fmt;
use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::machine::TryParse;
use tokio_tungstenite::tungstenite::handshake::server::{Request, create_response, write_response};
use tokio_tungstenite::tungstenite::http::{Response, StatusCode, Uri, header};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::bus::wire::Wire;

/// Longest request head.
const MAX_HEAD: usize = 16 << 10;

/// The rules.
#[derive(Debug, Clone)]
pub(super) struct Door {
    /// The one path that is served.
    pub(super) route: String,
    /// Whether only this machine can connect.
    pub(super) loopback: bool,
}

/// Why a connection was not let in.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    why: String,
}

impl Refusal {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
        }
    }

    /// The bus has as many connections as it takes.
    pub(super) fn full(most: usize) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("this bus has {most} connections, and takes no more"),
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.as_u16(), self.why)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error.to_string())
    }
}

impl Door {
    /// Takes the request on `tcp`, and opens the WebSocket or answers why not.
    pub(super) async fn enter(&self, tcp: TcpStream, max_message: usize) -> Result<WebSocketStream<Wire>, Refusal> {
        let mut wire = Wire::new(tcp);
        let admitted = match read_head(&mut wire).await {
            Ok((request, rest)) => self.admit(&request).map(|response| (response, rest)),
            Err(refusal) => Err(refusal),
        };
        match admitted {
            Ok((response, rest)) => {
                wire.write_all(&response).await?;
                let config = WebSocketConfig::default()
                    .read_buffer_size(32 << 10)
                    .write_buffer_size(64 << 10)
                    .max_message_size(Some(max_message))
                    .max_frame_size(Some(max_message));
                Ok(WebSocketStream::from_partially_read(wire, rest, Role::Server, Some(config)).await)
            }
            Err(refusal) => {
                answer(&mut wire, &refusal).await?;
                Err(refusal)
            }
        }
    }

    /// The response that opens the WebSocket.
    fn admit(&self, request: &Request) -> Result<Vec<u8>, Refusal> {
        if request.uri().path() != self.route {
            return Err(Refusal::new(
                StatusCode::NOT_FOUND,
                format!("the bus is at {}", self.route),
            ));
        }
        let host = text_of(request, &header::HOST)?.map(host_of).unwrap_or_default();
        if self.loopback && !is_loopback(&host) {
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("this bus is not known as `{host}`"),
            ));
        }
        if let Some(origin) = text_of(request, &header::ORIGIN)?
            && !is_friendly(origin, &host, request.headers().contains_key(header::USER_AGENT))
        {
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("pages from `{origin}` may not use the bus"),
            ));
        }
        let response =
            create_response(request).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))?;
        Ok(head_of(&response))
    }
}

/// Answers whatever is asked on `tcp` with a refusal.
pub(super) async fn turn_away(tcp: TcpStream, refusal: Refusal) -> Result<(), Refusal> {
    let mut wire = Wire::new(tcp);
    // To end a connection with something unread would take the answer back.
    read_head(&mut wire).await?;
    answer(&mut wire, &refusal).await?;
    Ok(())
}

async fn answer(wire: &mut Wire, refusal: &Refusal) -> io::Result<()> {
    wire.write_all(&refusal_response(refusal)).await?;
    wire.shutdown().await
}

/// Reads up to the end of the request head. What came behind it belongs to the WebSocket.
async fn read_head(wire: &mut Wire) -> Result<(Request, Vec<u8>), Refusal> {
    let mut head = Vec::with_capacity(1024);
    loop {
        if wire.read_buf(&mut head).await? == 0 {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the connection ended before a request",
            ));
        }
        let parsed =
            Request::try_parse(&head).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))?;
        if let Some((length, request)) = parsed {
            return Ok((request, head.split_off(length)));
        }
        if head.len() >= MAX_HEAD {
            return Err(Refusal::new(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the request head is too long",
            ));
        }
    }
}

fn text_of<'a>(request: &'a Request, name: &header::HeaderName) -> Result<Option<&'a str>, Refusal> {
    let mut values = request.headers().get_all(name).iter();
    let value = values.next().map(|value| value.to_str());
    match (value, values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text)),
        _ => Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            format!("header {name} is malformed"),
        )),
    }
}

/// The host without its port; an IPv6 address without its brackets.
fn host_of(authority: &str) -> String {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    host.unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Whether a page from `origin` may use a bus asked for as `host`.
fn is_friendly(origin: &str, host: &str, may_be_browser: bool) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    // `null`, the origin of sandboxed pages and files, has no scheme.
    let (Some(_), Some(authority)) = (uri.scheme(), uri.authority()) else {
        return false;
    };
    let origin = host_of(authority.as_str());
    is_loopback(&origin) || (origin == host && !(may_be_browser && can_be_rebound(host)))
}

/// Whether a page could have made this name point here: any name of the public DNS.
fn can_be_rebound(host: &str) -> bool {
    host.parse::<IpAddr>().is_err() && host.contains('.') && !host.ends_with(".local")
}

fn refusal_response(refusal: &Refusal) -> Vec<u8> {
    let body = format!("{}\n", refusal.why);
    let mut response = Response::new(());
    *response.status_mut() = refusal.status;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::CONTENT_LENGTH, header::HeaderValue::from(body.len()));
    let mut bytes = head_of(&response);
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

fn head_of(response: &Response<()>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    if let Err(error) = write_response(&mut bytes, response) {
        // Every header is of our own making.
        tracing::error!(%error, "HTTP response not written");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(loopback: bool, path: &str, headers: &str) -> u16 {
        let door = Door {
            route: "/core".to_owned(),
            loopback,
        };
        let head = format!(
            "GET {path} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{headers}\r\n"
        );
        let (_, request) = Request::try_parse(head.as_bytes()).unwrap().unwrap();
        door.admit(&request)
            .map_or_else(|refusal| refusal.status.as_u16(), |_| 101)
    }

    #[test]
    fn origins_and_hosts() {
        let table = [
            (true, "Host: 127.0.0.1:8181\r\n", 101),
            (true, "Host: localhost:8181\r\n", 101),
            (true, "Host: LOCALHOST.\r\n", 101),
            (true, "Host: [::1]:8181\r\n", 101),
            (true, "Host: [::ffff:127.0.0.1]:8181\r\n", 101),
            (true, "Host: evil.example\r\n", 403),
            (true, "Host: 192.168.1.5\r\n", 403),
            (true, "", 403),
            (true, "Host: 127.0.0.1\r\nHost: evil.example\r\n", 400),
            (true, "Host: 127.0.0.1\r\nOrigin: http://localhost:3000\r\n", 101),
            (true, "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n", 101),
            (true, "Host: 127.0.0.1\r\nOrigin: http://[::1]:9\r\n", 101),
            (true, "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n", 403),
            (
                true,
                "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1.evil.example\r\n",
                403,
            ),
            (
                true,
                "Host: 127.0.0.1\r\nOrigin: http://localhost@evil.example\r\n",
                403,
            ),
            (true, "Host: 127.0.0.1\r\nOrigin: null\r\n", 403),
            (true, "Host: 127.0.0.1\r\nOrigin: \r\n", 403),
            (true, "Host: 127.0.0.1\r\nOrigin: file://\r\n", 403),
            (true, "Host: evil.example\r\nOrigin: http://evil.example\r\n", 403),
            (false, "Host: 192.168.1.5:8181\r\n", 101),
            (false, "Host: 192.168.1.5:8181\r\nOrigin: http://192.168.1.5\r\n", 101),
            (false, "Host: kitchen.local\r\nOrigin: http://kitchen.local:80\r\n", 101),
            (
                false,
                "Host: server.lan:8181\r\nOrigin: http://server.lan:8181\r\n",
                101,
            ),
            (
                false,
                "Host: evil.example\r\nOrigin: http://evil.example\r\nUser-Agent: Mozilla/5.0\r\n",
                403,
            ),
            (
                false,
                "Host: 192.168.1.5\r\nOrigin: http://192.168.1.5\r\nUser-Agent: Mozilla/5.0\r\n",
                101,
            ),
            (false, "Host: 192.168.1.5\r\nOrigin: http://192.168.1.6\r\n", 403),
        ];
        for (loopback, headers, status) in table {
            assert_eq!(
                admit(loopback, "/core", headers),
                status,
                "loopback {loopback}, {headers:?}"
            );
        }
    }

    #[test]
    fn one_route() {
        for (path, status) in [
            ("/core", 101),
            ("/core?x=1", 101),
            ("/", 404),
            ("/core/", 404),
            ("/Core", 404),
        ] {
            assert_eq!(admit(true, path, "Host: localhost\r\n"), status, "{path}");
        }
    }
}
