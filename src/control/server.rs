//! Answers on the control socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Uid;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::WriteHalf;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::socket::ControlSocket;
use super::verb::{self, Verbs};

/// Peers at once; one more is told so and turned away.
const PEERS: usize = 32;
/// Bytes a request may have.
const LONGEST_REQUEST: u64 = 64 * 1024;
/// How long a peer may say nothing.
const IDLE: Duration = Duration::from_secs(60);
/// How long a peer may take to read its answer.
const READING: Duration = Duration::from_secs(5);
/// How often it is looked whether a peer is still there that waits.
const LOOK: Duration = Duration::from_millis(500);

/// Answers on `socket` until `stop`; then the socket is gone, and so are the peers.
pub async fn serve(socket: ControlSocket, verbs: Arc<impl Verbs>, stop: CancellationToken) {
    let seats = Arc::new(Semaphore::new(PEERS));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = socket.listener().accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => seat(stream, &seats, &verbs, &stop),
            Err(error) => {
                // Out of descriptors, most likely: they come back, and spinning brings them no sooner.
                tracing::warn!(error = %error, "cannot accept on the control socket");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// Gives a peer a task of its own, where it may come in and there is room.
fn seat(stream: UnixStream, seats: &Arc<Semaphore>, verbs: &Arc<impl Verbs>, stop: &CancellationToken) {
    if !is_welcome(&stream) {
        tracing::warn!("another user was turned away from the control socket");
        return;
    }
    let Ok(seat) = Arc::clone(seats).try_acquire_owned() else {
        let line = verb::refusal("too many peers on the control socket").to_string() + "\n";
        // A fresh socket has room for one line; whether the peer gets it is its own matter.
        stream.try_write(line.as_bytes()).unwrap_or_default();
        return;
    };
    let (verbs, stop) = (Arc::clone(verbs), stop.clone());
    tokio::spawn(async move {
        let _seat = seat;
        let peer = stop.run_until_cancelled(answer_peer(stream, verbs.as_ref())).await;
        if let Some(Err(error)) = peer {
            tracing::debug!(error = %error, "a peer of the control socket went away");
        }
    });
}

/// Only the same user, and root, for whom no door is closed anyway.
fn is_welcome(stream: &UnixStream) -> bool {
    stream
        .peer_cred()
        .is_ok_and(|peer| peer.uid() == 0 || peer.uid() == Uid::effective().as_raw())
}

/// Answers a peer line by line until it hangs up, says nothing for too long or does not read.
async fn answer_peer(mut stream: UnixStream, verbs: &impl Verbs) -> io::Result<()> {
    let (read, mut write) = stream.split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        // The buffer is dropped with the peer when the time is over, so nothing of a line is lost to a later one.
        timeout(IDLE, (&mut read).take(LONGEST_REQUEST).read_until(b'\n', &mut line)).await??;
        if line.is_empty() {
            return Ok(());
        }
        let too_long = !line.ends_with(b"\n") && line.len() as u64 == LONGEST_REQUEST;
        let mut answer = if too_long {
            verb::refusal(&format!("a request may have {LONGEST_REQUEST} bytes")).to_string()
        } else {
            // What was asked goes on without whoever asked; only nobody waits for it.
            tokio::select! {
                answer = verb::answer(&line, verbs) => answer,
                () = gone(&write) => return Ok(()),
            }
        };
        answer.push('\n');
        timeout(READING, write.write_all(answer.as_bytes())).await??;
        if too_long {
            return Ok(());
        }
    }
}

/// Waits until the peer is gone, so that its seat is free for another: an order may take for ever. One that only says
/// no more is still there.
async fn gone(write: &WriteHalf<'_>) {
    loop {
        tokio::time::sleep(LOOK).await;
        // A healthy socket is writable, so there is nothing to wait for.
        if write
            .ready(Interest::WRITABLE)
            .await
            .is_ok_and(|ready| ready.is_write_closed())
        {
            return;
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
