//! A WebSocket client that can do anything, right or wrong.

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue, Uri};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::eventually::within;

pub(crate) struct Raw(pub(crate) WebSocketStream<TcpStream>);

impl Raw {
    /// Connects to a `ws://` URL.
    pub(crate) async fn connect(url: &str) -> Self {
        Self::connect_with(url, &[]).await.expect("the bus lets us in")
    }

    /// Connects with headers of our own.
    pub(crate) async fn connect_with(url: &str, headers: &[(&str, &str)]) -> Result<Self, Error> {
        let uri: Uri = url.parse().expect("a URL");
        let address = uri.authority().expect("host and port").to_string();
        let mut request = url.into_client_request()?;
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).expect("a header value"));
        }
        let tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        let config = WebSocketConfig::default().max_frame_size(Some(64 << 20));
        let (stream, _) = tokio_tungstenite::client_async_with_config(request, tcp, Some(config)).await?;
        Ok(Self(stream))
    }

    pub(crate) async fn send(&mut self, message: impl Into<Message>) {
        self.0.send(message.into()).await.expect("the frame is sent");
    }

    /// The next text frame; nothing where the connection ends.
    pub(crate) async fn text(&mut self) -> Option<String> {
        within("a frame, or the end", async {
            loop {
                match self.0.next().await {
                    Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        })
        .await
    }

    /// The next text frame after the greeting.
    pub(crate) async fn expect(&mut self, expected: &str) {
        assert_eq!(self.text().await.as_deref(), Some(expected));
    }

    /// Drops what came before `marker`, sent by us, comes back; answers what that was.
    pub(crate) async fn sync(&mut self, marker: &str) -> Vec<String> {
        self.send(marker).await;
        let mut before = Vec::new();
        loop {
            let text = self.text().await.expect("the connection stands");
            if text == marker {
                return before;
            }
            before.push(text);
        }
    }
}
