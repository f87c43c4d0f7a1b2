//! Lines on their way to a stream that may be slow, full or gone.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::format::Lines;

/// Lines that may wait.
const QUEUE: usize = 4096;
/// How long the end of the program waits for a stream that does not take its lines.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What travels to the writing thread.
enum Item {
    Line(Vec<u8>),
    /// Everything before this was written once its sender is dropped.
    Flush(SyncSender<()>),
}

/// Where events write their lines.
#[derive(Clone)]
pub(super) struct Sink {
    queue: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
}

/// Keeps the end of the log from being lost: dropping it waits until what was logged is written.
#[must_use = "dropping it at once waits for a log that is still empty"]
pub struct Guard(SyncSender<Item>);

impl Drop for Guard {
    fn drop(&mut self) {
        let (written, wait) = sync_channel(0);
        // A full queue means a stream that takes nothing: then there is no point in waiting.
        if self.0.try_send(Item::Flush(written)).is_ok() {
            // Nothing is ever sent: the wait ends when the other side drops its end, or with the time.
            wait.recv_timeout(LAST_WORDS).unwrap_or_default();
        }
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard")
    }
}

/// Starts the thread that writes to `stream`, what it says itself in the `look` of the others.
pub(super) fn start(stream: impl Write + Send + 'static, look: Lines) -> (Sink, Guard) {
    let (queue, lines) = sync_channel(QUEUE);
    let dropped = Arc::new(AtomicU64::new(0));
    let sink = Sink {
        queue: queue.clone(),
        dropped: Arc::clone(&dropped),
    };
    let thread = std::thread::Builder::new().name("log".to_owned());
    // Without the thread (no memory, no threads left) the program works on, unlogged.
    drop(thread.spawn(move || write_lines(stream, &lines, &dropped, look)));
    (sink, Guard(queue))
}

fn write_lines(mut stream: impl Write, lines: &Receiver<Item>, dropped: &AtomicU64, look: Lines) {
    // Faults of the stream are overlooked: there is nowhere to report them, and it may recover.
    let mut write = |bytes: &[u8]| {
        stream
            .write_all(bytes)
            .and_then(|()| stream.flush())
            .unwrap_or_default()
    };
    while let Ok(item) = lines.recv() {
        match item {
            Item::Line(line) => write(&line),
            Item::Flush(written) => drop(written),
        }
        let n = dropped.swap(0, Ordering::Relaxed);
        if n > 0 {
            write(look.dropped(n).as_bytes());
        }
    }
}

/// One line being put together.
pub(super) struct Line {
    bytes: Vec<u8>,
    sink: Sink,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() && self.sink.queue.try_send(Item::Line(bytes)).is_err() {
            self.sink.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line {
            bytes: Vec::new(),
            sink: self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::Sender;
    use std::time::Instant;

    const LOOK: Lines = Lines {
        format: crate::logging::Format::Text,
        color: false,
        journal: false,
    };

    fn log(sink: &Sink, text: &str) {
        sink.make_writer().write_all(text.as_bytes()).unwrap();
    }

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_logged_is_written_when_the_guard_goes() {
        let memory = Memory::default();
        let (sink, guard) = start(memory.clone(), LOOK);
        for n in 0..1000 {
            log(&sink, &format!("{n}\n"));
        }
        drop(guard);
        assert_eq!(
            memory.0.lock().unwrap().iter().filter(|&&byte| byte == b'\n').count(),
            1000
        );
    }

    #[test]
    fn a_stream_that_fails_is_overlooked() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (sink, guard) = start(full, LOOK);
        log(&sink, "a\n");
        log(&sink, "b\n");
        drop(guard);
    }

    /// Takes nothing until told to.
    struct Stuck(Receiver<()>, Sender<String>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().unwrap_or_default();
            self.1
                .send(String::from_utf8_lossy(bytes).into_owned())
                .unwrap_or_default();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_stream_stops_nobody_and_losses_are_counted() {
        let (go, wait) = std::sync::mpsc::channel();
        let (seen, written) = std::sync::mpsc::channel();
        let (sink, guard) = start(Stuck(wait, seen), LOOK);
        let started = Instant::now();
        for _ in 0..QUEUE * 2 {
            log(&sink, "x\n");
        }
        drop(guard);
        assert!(started.elapsed() < Duration::from_secs(5));
        drop(go);
        let counted = written.iter().find(|line| line.contains("were dropped")).unwrap();
        assert!(counted.contains(" dropped=40"), "{counted}");
        drop(sink);
    }
}
