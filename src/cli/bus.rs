//! `toolhost bus`: the embedded bus alone.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::args::BusArgs;
use super::early::Held;
use super::output::Output;
use crate::bus::embedded::{EmbeddedBus, EmbeddedOptions};
use crate::error::Error;

/// Serves until Ctrl-C, SIGTERM or the end of the terminal. stdout gets the URL, which an address with port 0 leaves open.
pub(super) async fn bus(args: &BusArgs, output: Output, held: Held) -> Result<(), Error> {
    let stopped = stop_signal()?;
    drop(held);
    let bus = EmbeddedBus::bind(args.address, EmbeddedOptions::default())
        .await
        .map_err(|error| cannot_listen(args, &error))?;
    output.data(bus.url().as_bytes())?;
    output.tell_a_person("serving until Ctrl-C");
    let stop = CancellationToken::new();
    let serving = tokio::spawn(bus.run(stop.clone()));
    stopped.await;
    stop.cancel();
    serving
        .await
        .map_err(|error| Error::failed(format!("the bus ended early: {error}")))
}

/// Listens for the signals at once; the future ends with the first of them.
fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let listen = |kind| signal(kind).map_err(|error| Error::failed(format!("cannot handle signals: {error}")));
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

fn cannot_listen(args: &BusArgs, error: &io::Error) -> Error {
    let told = Error::failed(format!("cannot listen on {}: {error}", args.address));
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            told.with_hint("a bus is running there already; `toolhost bus 9000` takes another port")
        }
        _ => told,
    }
}
