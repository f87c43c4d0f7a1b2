//! Free ports.

use std::net::{Ipv4Addr, TcpListener};

/// A port of 127.0.0.1 nobody listens on now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
