//! Where the bus is, as it is written in the file or on the command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use super::read::Reader;
use super::yaml::{Node, Value, below};
use super::{BusConfig, BusUrl};

/// Where a bus of our own listens unless told otherwise: only this machine reaches it.
pub const DEFAULT_EMBEDDED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8181);

pub(super) const BUS_KEYS: &[&str] = &["url", "ca_file"];

/// The path of the OVOS bus, for an address that names none.
const ROUTE: &str = "/core";

const EXPECTED: &str = "ws://HOST:PORT/core, wss://..., 'embedded' or embedded://ADDRESS:PORT";

impl FromStr for BusUrl {
    type Err = String;

    /// `ws://` and `wss://` addresses, with `/core` added where they have no path; `embedded` and
    /// `embedded:ADDRESS:PORT`, with or without `//`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix("embedded") {
            return match rest.strip_prefix(':') {
                Some(address) => embedded_address(address.strip_prefix("//").unwrap_or(address)).map(BusUrl::Embedded),
                None if rest.is_empty() => Ok(BusUrl::Embedded(DEFAULT_EMBEDDED)),
                None => Err(format!("expected {EXPECTED}")),
            };
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(|| format!("expected {EXPECTED}"))?;
        match scheme.to_ascii_lowercase().as_str() {
            "ws" | "wss" => {}
            "http" => return Err("the bus is reached by ws://, not http://".into()),
            "https" => return Err("the bus is reached by wss://, not https://".into()),
            _ => return Err(format!("expected {EXPECTED}")),
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        host_and_port(authority)?;
        if path.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("an address has no blanks in it".into());
        }
        if path.contains('#') {
            return Err("the address of a bus has no '#'".into());
        }
        let route = if path.starts_with('/') { "" } else { ROUTE };
        Ok(BusUrl::Url(format!(
            "{}://{authority}{route}{path}",
            scheme.to_ascii_lowercase()
        )))
    }
}

fn host_and_port(authority: &str) -> Result<(), String> {
    let after_user = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let (host, port) = match after_user.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => {
            host.parse::<std::net::Ipv6Addr>()
                .map_err(|_| "what stands in brackets is no IPv6 address")?;
            (host, port)
        }
        None => after_user.split_at(after_user.find(':').unwrap_or(after_user.len())),
    };
    if host.is_empty() {
        return Err("the address names no host".into());
    }
    if authority.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("an address has no blanks in it".into());
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok(()),
        Some(number) if number.parse::<u16>().is_ok_and(|number| number > 0) => Ok(()),
        _ => Err("the port is a number from 1 to 65535; an IPv6 address stands in brackets".into()),
    }
}

/// Where a bus of our own listens: `ADDRESS:PORT`, or one of the two, or nothing.
///
/// # Errors
/// What was expected. A host name other than `localhost` is none: it would have to be looked up.
pub fn embedded_address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim_end_matches('/');
    let text = match text.strip_prefix("localhost") {
        Some(rest) if rest.is_empty() || rest.starts_with(':') => format!("127.0.0.1{rest}"),
        _ => text.to_owned(),
    };
    if text.is_empty() {
        return Ok(DEFAULT_EMBEDDED);
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, DEFAULT_EMBEDDED.port()));
    }
    let port = text.strip_prefix(':').unwrap_or(&text).parse::<u16>();
    port.map(|port| SocketAddr::new(DEFAULT_EMBEDDED.ip(), port))
        .map_err(|_| "expected the address to listen at, such as 127.0.0.1:8181 or [::1]:8181".to_owned())
}

impl Reader<'_> {
    /// `bus:` as a mapping, or as the address alone.
    pub(super) fn bus(&mut self, node: &Node, path: &str) -> BusConfig {
        let mut bus = BusConfig::default();
        if let Value::Scalar(scalar) = &node.value
            && !scalar.is_null()
        {
            bus.url = self.bus_url(node, path).unwrap_or_default();
            return bus;
        }
        for entry in self.entries(node, path, "an address or a mapping").unwrap_or_default() {
            let path = &below(path, &entry.key);
            match entry.key.as_str() {
                "url" => bus.url = self.bus_url(&entry.value, path).unwrap_or_default(),
                "ca_file" => bus.ca_file = self.path(&entry.value, path, "a file of certificates"),
                _ => self.unknown(entry, path, BUS_KEYS),
            }
        }
        bus
    }

    fn bus_url(&mut self, node: &Node, path: &str) -> Option<BusUrl> {
        // The address may hold a password, so a fault does not repeat it.
        let text = self.text(node, path, EXPECTED)?;
        text.parse()
            .map_err(|what: String| self.fault(node.at, path, what))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_buses() {
        for (text, expected) in [
            ("ws://127.0.0.1:8181/core", Some("ws://127.0.0.1:8181/core")),
            ("WS://bus.local:8181", Some("ws://bus.local:8181/core")),
            ("wss://bus.local/", Some("wss://bus.local/")),
            ("ws://[::1]:8181/core?x=1", Some("ws://[::1]:8181/core?x=1")),
            ("ws://u:p@h:1", Some("ws://u:p@h:1/core")),
            ("http://h", None),
            ("127.0.0.1:8181", None),
            ("ws://", None),
            ("ws:///core", None),
            ("ws://h:0", None),
            ("ws://h:99999", None),
            ("ws://::1:8181", None),
            ("ws://[x]:8181", None),
            ("ws://h h", None),
            ("ws://h/a b", None),
            ("ws://h/#a", None),
            ("", None),
        ] {
            let parsed = text.parse::<BusUrl>().ok();
            assert_eq!(parsed, expected.map(|url| BusUrl::Url(url.into())), "{text}");
        }
    }

    #[test]
    fn addresses_of_our_own_bus() {
        for (text, expected) in [
            ("embedded", Some("127.0.0.1:8181")),
            ("embedded:0.0.0.0:9000", Some("0.0.0.0:9000")),
            ("embedded://localhost:9000/", Some("127.0.0.1:9000")),
            ("embedded://localhost", Some("127.0.0.1:8181")),
            ("embedded://[::1]:0", Some("[::1]:0")),
            ("embedded://::1", Some("[::1]:8181")),
            ("embedded:9000", Some("127.0.0.1:9000")),
            ("embedded:", Some("127.0.0.1:8181")),
            ("embedded:bus.local:1", None),
            ("embeddedx", None),
            ("embedded:99999", None),
        ] {
            let expected = expected.map(|address| BusUrl::Embedded(address.parse().unwrap()));
            assert_eq!(text.parse::<BusUrl>().ok(), expected, "{text}");
        }
    }
}
