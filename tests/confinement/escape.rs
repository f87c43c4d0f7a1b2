//! Tries to get out of a sandbox, every way Rust knows. No test, but the program that one starts: this binary, by itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::FromRawFd as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::process::Command;

use nix::libc;
use serde_json::{Value, json};

const INPUT: &str = "TOOLHOST_TEST_ESCAPE";

/// The command that does, for `run`, with the sibling's process id to be filled in.
pub(crate) fn command(places: [&str; 3], port: u16) -> Value {
    let binary = std::env::current_exe().expect("the path of this test");
    let [inside, outside, readable] = places;
    // What a test binary prints goes to /dev/null; what this one has to say, to descriptor 3.
    let start = format!(
        "{INPUT}='{inside} {outside} {readable} {port}'\" $1\" exec \"$0\" --exact escape::program --ignored --nocapture 3>&1 > /dev/null"
    );
    json!(["sh", "-c", start, binary, "{sibling}"])
}

#[test]
#[ignore = "no test, but the program that one starts"]
fn program() {
    let Ok(input) = std::env::var(INPUT) else { return };
    let words: Vec<&str> = input.split(' ').collect();
    let said = attempts(&words);
    // SAFETY: the shell of `command` opened 3, and nothing else in this process knows of it.
    let mut out = unsafe { File::from_raw_fd(3) };
    out.write_all(json!(said).to_string().as_bytes()).expect("it is heard");
    std::process::exit(0);
}

#[derive(Default)]
struct Said(BTreeMap<&'static str, &'static str>);

impl Said {
    fn attempt<T>(&mut self, name: &'static str, outcome: io::Result<T>) {
        self.0.insert(name, if outcome.is_ok() { "did" } else { "refused" });
    }

    fn call(&mut self, name: &'static str, returned: libc::c_long) {
        self.attempt(
            name,
            if returned < 0 {
                Err(io::Error::last_os_error())
            } else {
                Ok(())
            },
        );
    }
}

fn child(program: &str, argument: &str) -> io::Result<()> {
    let output = Command::new(program).arg(argument).output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(io::Error::other("it failed"))
    }
}

fn attempts(words: &[&str]) -> BTreeMap<&'static str, &'static str> {
    let mut said = Said::default();
    files(&mut said, words[0], words[1], words[2]);
    sockets(&mut said, words[2], words[3]);
    let sibling = words[4].parse().expect("a process id");
    processes(&mut said, nix::unistd::getppid().as_raw(), sibling);
    said.0
}

fn files(said: &mut Said, inside: &str, outside: &str, readable: &str) {
    let secret = format!("{outside}/secret");
    said.attempt("read inside", std::fs::read(format!("{readable}/word")));
    said.attempt("write inside", std::fs::write(format!("{inside}/new"), "x"));
    said.attempt("write to /dev/null", std::fs::write("/dev/null", "x"));
    said.attempt("a pipe of its own", UnixDatagram::pair());
    said.attempt("a child of its own", child("sleep", "0"));
    said.attempt("read outside", std::fs::read(&secret));
    said.attempt("list outside", std::fs::read_dir(outside));
    said.attempt("write outside", std::fs::write(&secret, "x"));
    said.attempt("create outside", std::fs::write(format!("{outside}/new"), "x"));
    said.attempt("a folder outside", std::fs::create_dir(format!("{outside}/folder")));
    said.attempt("delete outside", std::fs::remove_file(&secret));
    said.attempt(
        "rename out",
        std::fs::rename(format!("{inside}/new"), format!("{outside}/new")),
    );
    said.attempt("link out", std::fs::hard_link(&secret, format!("{inside}/link")));
    std::os::unix::fs::symlink(&secret, format!("{inside}/symlink")).expect("a link");
    said.attempt("follow a link out", std::fs::read(format!("{inside}/symlink")));
    said.attempt(
        "write what is readable",
        std::fs::write(format!("{readable}/word"), "x"),
    );
    said.attempt("a child outside", child("cat", &secret));
}

fn sockets(said: &mut Said, readable: &str, port: &str) {
    let address = format!("127.0.0.1:{port}");
    said.attempt("TCP to this machine", TcpStream::connect(&address));
    said.attempt("TCP from this machine", TcpListener::bind("127.0.0.1:0"));
    said.attempt(
        "UDP to this machine",
        UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", &address)),
    );
    said.attempt("a unix socket", UnixStream::connect(format!("{readable}/socket")));
    use std::os::linux::net::SocketAddrExt as _;
    let hidden = SocketAddr::from_abstract_name(format!("toolhost-test-{port}")).expect("a name");
    said.attempt("an abstract unix socket", UnixListener::bind_addr(&hidden));
    // SAFETY: numbers alone.
    said.call(
        "a netlink socket",
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, 0) }.into(),
    );
    // SAFETY: numbers alone.
    said.call(
        "a raw socket",
        unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0) }.into(),
    );
}

fn processes(said: &mut Said, host: i32, sibling: i32) {
    let proc =
        |pid: i32, file: &str| File::open(format!("/proc/{pid}/{file}")).and_then(|mut file| file.read(&mut [0]));
    // SAFETY: calls that take numbers, or null where they take more.
    unsafe {
        let none = std::ptr::null_mut::<libc::c_void>();
        said.call("signal the host", libc::kill(host, 0).into());
        said.call(
            "signal a thread of the host",
            libc::syscall(libc::SYS_tgkill, host, host, 0),
        );
        said.call("a descriptor of the host", libc::syscall(libc::SYS_pidfd_open, host, 0));
        said.call("signal a sibling", libc::kill(sibling, 0).into());
        said.call("trace the host", libc::ptrace(libc::PTRACE_SEIZE, host, none, none));
        said.call("trace a sibling", libc::ptrace(libc::PTRACE_SEIZE, sibling, none, none));
        said.call(
            "read a sibling",
            libc::syscall(libc::SYS_process_vm_readv, sibling, none, 0, none, 0, 0),
        );
        said.call("namespaces of its own", libc::unshare(libc::CLONE_NEWUSER).into());
    }
    said.attempt("the host's environment", proc(host, "environ"));
    said.attempt("the host's memory", File::open(format!("/proc/{host}/mem")));
    said.attempt("a sibling's environment", proc(sibling, "environ"));
    said.attempt("a sibling's memory", File::open(format!("/proc/{sibling}/mem")));
}
