//! What toolboxes of several languages try to get out of a sandbox, and how far they fork.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};
use toolhost::process::confine::kernel;

use super::sandbox::{has_sandbox, places};
use super::{Held, PYTHON, can, escape, is_root};
use crate::common::host::fixture;
use crate::common::scratch::Scratch;

/// What is theirs.
const MAY: [&str; 5] = [
    "read inside",
    "write inside",
    "write to /dev/null",
    "a pipe of its own",
    "a child of its own",
];

/// Somebody behind each door, who must see nobody.
struct Doors {
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
}

impl Doors {
    fn new(folder: &str) -> Self {
        loop {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            let unix = format!("{folder}/socket");
            // The same number for both.
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()) {
                let unix = UnixListener::bind(unix).unwrap();
                return Self { tcp, udp, unix };
            }
        }
    }

    fn port(&self) -> u16 {
        self.tcp.local_addr().unwrap().port()
    }

    fn nobody_came(&self) {
        self.tcp.set_nonblocking(true).unwrap();
        self.udp.set_nonblocking(true).unwrap();
        self.unix.set_nonblocking(true).unwrap();
        assert!(self.tcp.accept().is_err(), "a TCP connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a datagram came");
        assert!(self.unix.accept().is_err(), "a connection to the unix socket came");
    }
}

/// What a toolbox that is free can do on any machine: an attempt that fails then shows nothing in a sandbox either.
const FREE: [&str; 9] = [
    "read outside",
    "list outside",
    "write outside",
    "create outside",
    "TCP to this machine",
    "UDP to this machine",
    "signal the host",
    "signal a sibling",
    "a sibling's environment",
];

/// A command that tries to escape, of its places and the port where somebody listens.
type Command<'a> = &'a dyn Fn([&str; 3], u16) -> Value;

/// Hosts the command beside another toolbox and lets it try; each attempt, and whether it did what it tried.
async fn attempts(read: Option<&str>, command: Command<'_>) -> Vec<(String, bool)> {
    let folder = Scratch::new();
    let [inside, outside, readable] = places(&folder);
    std::fs::write(format!("{outside}/secret"), "secret").unwrap();
    std::fs::write(format!("{readable}/word"), "word").unwrap();
    let doors = Doors::new(&readable);
    let run = command([&inside, &outside, &readable], doors.port());
    let parameters = json!({"sibling": {"type": "integer", "required": true}});
    let escape = json!({"description": "d", "run": run, "output": "json", "parameters": parameters});
    let mut tries = json!({"tools": {"escape": escape}});
    if let Some(read) = read {
        tries["sandbox"] = json!({"read": [read, &readable], "write": &inside, "network": false});
    }
    let sibling = json!({"command": ["python3", fixture("moody.py")]});
    let mut held = Held::host(json!({"tries": tries, "sibling": sibling})).await;
    let pid = held.host.pid_of("sibling");
    let said = held
        .caller
        .call("tries", "escape", &json!({"sibling": pid}))
        .await
        .unwrap();
    if read.is_some() {
        doors.nobody_came();
        assert_eq!(std::fs::read_to_string(format!("{outside}/secret")).unwrap(), "secret");
        assert_eq!(
            std::fs::read_dir(&outside).unwrap().count(),
            1,
            "nothing new is outside"
        );
    }
    assert_eq!(
        held.caller.call("sibling", "echo", &json!({"n": 1})).await,
        Ok(json!({"n": 1})),
        "the sibling is well"
    );
    assert_eq!(held.host.pid_of("sibling"), pid);
    held.host.stop().await;
    let said = said.as_object().unwrap().iter();
    said.map(|(attempt, result)| (attempt.clone(), result == "did"))
        .collect()
}

/// The command does what it tries where it is free, and nothing but what is its own in a sandbox.
async fn nothing_gets_out(language: &str, attempted: usize, read: &str, command: Command<'_>) {
    if !has_sandbox(&format!("escapes of {language}")) {
        return;
    }
    let free = attempts(None, command).await;
    for (attempt, did) in &free {
        let expected = MAY.contains(&attempt.as_str()) || FREE.contains(&attempt.as_str());
        assert!(*did || !expected, "{language}: a free toolbox could not {attempt}");
    }
    let held = attempts(Some(read), command).await;
    assert_eq!((free.len(), held.len()), (attempted, attempted), "{language}: {held:?}");
    for (attempt, did) in held {
        let held_here = attempt != "signal a sibling" || kernel::landlock() >= kernel::SIGNALS;
        if can(&format!("{attempt}, in {language}"), "Landlock 6", held_here) {
            assert_eq!(did, MAY.contains(&attempt.as_str()), "{language}: {attempt}");
        }
    }
}

#[tokio::test]
async fn nothing_a_sandboxed_bash_tries_gets_it_out() {
    let script = fixture("escapes.sh");
    let command = |[inside, outside, readable]: [&str; 3], port: u16| {
        json!(["bash", script, inside, outside, readable, port.to_string(), "{sibling}"])
    };
    nothing_gets_out("Bash", 19, &script, &command).await;
}

#[tokio::test]
async fn nothing_a_sandboxed_node_tries_gets_it_out() {
    let script = fixture("escapes.mjs");
    let command = |[inside, outside, readable]: [&str; 3], port: u16| {
        json!(["node", script, inside, outside, readable, port.to_string(), "{sibling}"])
    };
    nothing_gets_out("Node", 23, &script, &command).await;
}

#[tokio::test]
async fn nothing_a_sandboxed_rust_program_tries_gets_it_out() {
    let binary = std::env::current_exe().unwrap();
    nothing_gets_out("Rust", 35, binary.to_str().unwrap(), &escape::command).await;
}

/// Starts children until it may not, up to 10,000, and says how many it could.
const IN_PYTHON: &str = "import os, signal, time
children = []
try:
    while len(children) < 10000:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError:
    pass
print(len(children))
";
const IN_NODE: &str = "const { spawn } = require('child_process')
let children = 0
const next = () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  child.on('error', () => { console.log(children); process.exit() })
  child.on('spawn', () => { children += 1; if (children < 10000) next(); else console.log(children) })
}
next()
";

#[tokio::test]
async fn ten_thousand_forks_in_a_sandbox_end_at_the_limit_and_leave_nothing() {
    if !has_sandbox("ten thousand forks in a sandbox") {
        return;
    }
    let command = |argv: [&str; 3]| {
        // A brace of a program is no placeholder.
        let argv = argv.map(|word| word.replace('{', "{{").replace('}', "}}"));
        let mut toolbox = json!({
            "tools": {"fork": {"description": "d", "run": argv}}, "limits": {"processes": 60}, "sandbox": true, "cwd": "/",
        });
        // Each a user of its own: root has no such limit, and all of a user's processes count.
        if is_root() {
            let user = if argv[0] == "node" { "54323" } else { "54324" };
            toolbox["user"] = json!(user);
            toolbox["group"] = json!(user);
        }
        toolbox
    };
    let node = command(["node", "-e", IN_NODE]);
    let python = command([PYTHON, "-c", IN_PYTHON]);
    let mut held =
        Held::host(json!({"node": node, "python": python, "healthy": {"tools": {"t": super::run(&["echo", "x"])}}}))
            .await;
    for language in ["node", "python"] {
        let forked: u32 = held.output(language, "fork").await.trim().parse().unwrap();
        assert!((1..1000).contains(&forked), "{language}: {forked}");
        assert_eq!(held.output("healthy", "t").await, "x\n");
    }
    crate::common::eventually::eventually("nothing is left", || held.host.processes().is_empty()).await;
    held.host.stop().await;
}

/// Takes from others what they get of the machine; what it could.
const SLOWS: &str = "import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
group = os.getpgid(pid)
did = []
def attempt(what, how):
    try:
        how()
        did.append(what)
    except OSError:
        pass
def io(kind, who):
    if libc.syscall(int(sys.argv[2]), kind, who, 3 << 13) != 0:
        raise OSError
attempt('own nice', lambda: os.setpriority(os.PRIO_PROCESS, 0, 5))
attempt('own processors', lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
attempt('own disk', lambda: io(1, 0))
attempt('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, 5))
attempt('nice of a group', lambda: os.setpriority(os.PRIO_PGRP, group, 5))
attempt('nice of a user', lambda: os.setpriority(os.PRIO_USER, os.getuid(), 5))
attempt('processors', lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)))
attempt('policy', lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
attempt('disk', lambda: io(1, pid))
attempt('disk of a group', lambda: io(2, group))
print(', '.join(did))
";

/// Of one user without rights: that is all the system itself asks for.
#[tokio::test]
async fn a_sandboxed_toolbox_slows_nobody_but_itself() {
    if !has_sandbox("a sandboxed toolbox that slows others") || !super::has_python("a toolbox that slows others") {
        return;
    }
    let of_user = |mut toolbox: Value| {
        toolbox["cwd"] = json!("/");
        if is_root() {
            toolbox["user"] = json!("54325");
            toolbox["group"] = json!("54325");
        }
        toolbox
    };
    let ioprio_set = nix::libc::SYS_ioprio_set.to_string();
    let slows = SLOWS.replace('{', "{{").replace('}', "}}");
    let parameters = json!({"pid": {"type": "integer", "required": true}});
    let slow = json!({"description": "d", "run": [PYTHON, "-c", slows, "{pid}", ioprio_set], "parameters": parameters});
    let free = of_user(json!({"tools": {"slow": slow}}));
    let mut sandboxed = free.clone();
    sandboxed["sandbox"] = json!(true);
    let sibling = "read line; echo '{\"id\":1,\"result\":{\"tools\":[]}}'; read line";
    let sibling = of_user(json!({"command": ["sh", "-c", sibling]}));
    let mut held = Held::host(json!({"sandboxed": sandboxed, "free": free, "sibling": sibling})).await;
    let pid = held.host.pid_of("sibling");
    let mut said = Vec::new();
    for toolbox in ["sandboxed", "free"] {
        let slowed = held.caller.call(toolbox, "slow", &json!({"pid": pid})).await.unwrap();
        said.push(slowed["output"].as_str().unwrap().trim().to_owned());
    }
    let own = "own nice, own processors, own disk";
    assert_eq!(said[0], own);
    assert!(said[1].starts_with(own) && said[1].contains("policy"), "{}", said[1]);
    held.host.stop().await;
}
