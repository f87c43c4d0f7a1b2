//! The start of a process: which thread it comes from, and a file that somebody still holds open for writing.

use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use toolhost::process::capture::Stdout;
use toolhost::process::exit::Exit;
use toolhost::process::guard::Guard;
use toolhost::process::spawn::{Environment, Program, spawn};
use toolhost::process::{Process, ProcessEvent};

use crate::harness::{DEADLINE, Folder, eventually};

fn program(argv: &[&str]) -> Program {
    Program {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: std::env::temp_dir(),
        environment: Environment::default(),
        stdout: Stdout::Lines(1000),
        input: Bytes::new(),
        requires: Vec::new(),
        confinement: None,
    }
}

async fn next(process: &mut Process) -> ProcessEvent {
    let event = poll_fn(|cx| process.poll_event(cx));
    tokio::time::timeout(DEADLINE, event).await.expect("an event in time")
}

async fn exit(process: &mut Process) -> Exit {
    loop {
        if let ProcessEvent::Exited(exit) = next(process).await {
            return exit;
        }
    }
}

/// A parent-death signal would follow the thread: nothing here may use one.
#[test]
fn a_process_outlives_the_thread_that_started_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        // A thread that has nothing to do goes at once, not after ten seconds.
        .thread_keep_alive(Duration::from_millis(1))
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let handle = tokio::runtime::Handle::current();
        let started = tokio::task::spawn_blocking(move || {
            let thread = nix::unistd::gettid();
            let process = handle.block_on(spawn(&program(&["cat"]), &Guard::default()));
            (thread, process.unwrap())
        });
        let (thread, mut process) = started.await.unwrap();
        let thread = format!("/proc/self/task/{thread}");
        eventually("the thread has gone", || !Path::new(&thread).exists()).await;
        process.send(b"still here\n");
        let line = next(&mut process).await;
        assert!(
            matches!(&line, ProcessEvent::Line(line) if line == "still here"),
            "{line:?}"
        );
        process.close_stdin();
        assert_eq!(exit(&mut process).await, Exit::Status(0));
    });
}

/// While another thread starts programs, each of which has the script open for writing until it is a program.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_script_just_written_starts_five_hundred_times() {
    let folder = Folder::new();
    let script = folder.path("script.sh");
    let done = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let done = Arc::clone(&done);
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let mut other = spawn(&program(&["true"]), &Guard::default()).await.unwrap();
                    exit(&mut other).await;
                }
            })
        })
        .collect();
    for round in 0..500 {
        std::fs::write(&script, format!("#!/bin/sh\necho {round}\n")).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let started = spawn(&program(&[script.to_str().unwrap()]), &Guard::default()).await;
        let mut process = started.unwrap_or_else(|error| panic!("round {round}: {error}"));
        let line = next(&mut process).await;
        assert!(
            matches!(&line, ProcessEvent::Line(line) if *line == round.to_string()),
            "{line:?}"
        );
        assert_eq!(exit(&mut process).await, Exit::Status(0));
    }
    done.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
}
