//! Addresses as they are typed. Pure.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Where the bus of OpenVoiceOS listens.
pub(crate) const DEFAULT_BUS_ADDRESS: &str = "127.0.0.1:8181";
/// What its clients connect to.
pub(crate) const DEFAULT_BUS_URL: &str = "ws://127.0.0.1:8181/core";

/// Reads `ADDRESS:PORT`, `localhost:PORT`, or a bare `PORT` of this machine.
///
/// # Errors
/// What was expected.
pub(crate) fn bus_address(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':'));
    if let Ok(port) = bare.unwrap_or(text).parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse()
        .map_err(|_| format!("expected ADDRESS:PORT, such as {DEFAULT_BUS_ADDRESS}, or a port"))
}

/// Takes a WebSocket URL, with the path of the OVOS bus where it has none.
///
/// # Errors
/// What was expected.
pub(crate) fn bus_url(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("ws://").or_else(|| text.strip_prefix("wss://"));
    match host {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => {
            let route = if rest.contains('/') { "" } else { "/core" };
            Ok(format!("{text}{route}"))
        }
        _ => Err("expected ws://HOST:PORT/PATH or wss://..., such as ws://127.0.0.1:8181/core".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_address_may_be_short() {
        let table = [
            ("9000", Some("127.0.0.1:9000")),
            (":9000", Some("127.0.0.1:9000")),
            ("localhost:0", Some("127.0.0.1:0")),
            ("0.0.0.0:8181", Some("0.0.0.0:8181")),
            ("[::1]:8181", Some("[::1]:8181")),
            ("example.org:80", None),
            ("127.0.0.1", None),
            ("70000", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(
                bus_address(text).ok().map(|address| address.to_string()).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_bus_url_is_a_websocket() {
        for (typed, url) in [
            ("ws://127.0.0.1:8181/core", "ws://127.0.0.1:8181/core"),
            ("wss://bus.example/", "wss://bus.example/"),
            ("ws://bus.local:8181", "ws://bus.local:8181/core"),
        ] {
            assert_eq!(bus_url(typed).as_deref(), Ok(url));
        }
        for wrong in ["127.0.0.1:8181", "http://x/core", "ws://", "ws:///core", ""] {
            assert!(bus_url(wrong).is_err(), "{wrong}");
        }
    }
}
