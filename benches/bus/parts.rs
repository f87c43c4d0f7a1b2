//! The processes the benchmark starts, each ended with its owner.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A folder that goes with its owner.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("toolhost-bench-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A process, ended by SIGTERM so that it ends its own children.
pub(crate) struct Running {
    child: Child,
    _scratch: Scratch,
}

impl Running {
    fn start(mut command: Command, scratch: Scratch) -> Self {
        let child = command.spawn().expect("the process starts");
        Self {
            child,
            _scratch: scratch,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Time on a processor so far, of all its threads.
    pub(crate) fn cpu(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).expect("a living process");
        let nanos = tasks.flatten().filter_map(|task| {
            let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            stat.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanos.sum())
    }

    /// Resident memory in KiB, of this process alone.
    pub(crate) fn rss_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a living process");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
            .expect("a VmRSS line")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).ok();
        let patience = Instant::now() + Duration::from_secs(5);
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if Instant::now() > patience {
                self.child.kill().ok();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// What a toolbox of the measured host is.
#[derive(Clone, Copy)]
pub(crate) enum Echo {
    Rust,
    Python,
}

impl Echo {
    fn command(self) -> String {
        match self {
            Self::Rust => {
                let me = std::env::current_exe().expect("the path of this program");
                format!("[{:?}, echo-toolbox]", me.display().to_string())
            }
            Self::Python => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bus/echo.py");
                // The shipped service's own Python where it is there, so that the two start alike.
                let python = peers().unwrap_or_else(|_| PathBuf::from("python3"));
                format!(
                    "[{:?}, {:?}]",
                    python.display().to_string(),
                    script.display().to_string()
                )
            }
        }
    }
}

/// `toolhost run` with `toolboxes` of a kind, named echo0, echo1 and so on; on `bus`, or on one of its own.
pub(crate) fn toolhost(toolboxes: usize, echo: Echo, bus: Option<&str>) -> (Running, String) {
    let mut config = String::from("toolboxes:\n");
    for number in 0..toolboxes {
        config.push_str(&format!("  echo{number}: {{command: {}}}\n", echo.command()));
    }
    hosting(Path::new(env!("CARGO_BIN_EXE_toolhost")), &config, bus)
}

/// `program run` with `config`; on `bus`, or on one of its own.
pub(crate) fn hosting(program: &Path, config: &str, bus: Option<&str>) -> (Running, String) {
    let scratch = Scratch::new();
    let url = bus.map_or_else(|| url_of(free_port()), str::to_owned);
    let file = scratch.0.join("toolhost.yaml");
    std::fs::write(&file, config).expect("a configuration");
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(file)
        .arg("--socket")
        .arg(scratch.0.join("control"));
    match bus {
        Some(bus) => command.args(["--bus", bus]),
        None => command.arg(format!("--embedded-bus={}", authority(&url))),
    };
    (Running::start(quiet(command), scratch), url)
}

/// `toolhost bus`: the embedded bus alone.
pub(crate) fn bare_bus() -> (Running, String) {
    let url = url_of(free_port());
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command.args(["bus", authority(&url)]);
    let running = Running::start(quiet(command), Scratch::new());
    listening(&url);
    (running, url)
}

/// The Python that has the real OVOS parts, or what to do about it.
pub(crate) fn peers() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var_os("TOOLHOST_PEERS").map_or_else(|| here.join("target/peers"), PathBuf::from);
    let python = folder.join("bin/python");
    if python.exists() {
        return Ok(python);
    }
    let missing = python.display();
    Err(format!(
        "the real OVOS parts are not there ({missing}), so toolhost is measured alone; `tests/setup` gets them"
    ))
}

/// A real ovos-messagebus.
pub(crate) fn real_bus(python: &Path) -> (Running, String) {
    let scratch = Scratch::new();
    let port = free_port();
    let folder = scratch.0.join("mycroft");
    std::fs::create_dir_all(&folder).expect("a configuration folder");
    let config = format!(r#"{{"websocket": {{"host": "127.0.0.1", "port": {port}, "route": "/core", "ssl": false}}}}"#);
    std::fs::write(folder.join("mycroft.conf"), config).expect("a configuration");
    let mut command = python_command(python, &scratch);
    command.args(["-m", "ovos_messagebus"]);
    let running = Running::start(quiet(command), scratch);
    let url = url_of(port);
    listening(&url);
    (running, url)
}

/// A Python process that speaks in marked lines.
pub(crate) struct Shipped {
    pub(crate) running: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shipped {
    /// The shipped tool service on the bus at `url`, ready.
    pub(crate) fn service(python: &Path, url: &str, toolboxes: usize) -> Self {
        Self::start(python, &["service", url, &toolboxes.to_string()])
    }

    /// The shipped client on the bus at `url`, connected.
    pub(crate) fn caller(python: &Path, url: &str) -> Self {
        Self::start(python, &["caller", url])
    }

    fn start(python: &Path, args: &[&str]) -> Self {
        let scratch = Scratch::new();
        let mut command = python_command(python, &scratch);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bus/shipped.py");
        command.arg(script).args(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut running = Running::start(command, scratch);
        let input = running.child.stdin.take().expect("a pipe");
        let output = BufReader::new(running.child.stdout.take().expect("a pipe"));
        let mut shipped = Self { running, input, output };
        shipped.heard();
        shipped
    }

    /// The times of `calls` calls, one after another.
    pub(crate) fn calls(&mut self, calls: usize) -> Vec<u64> {
        writeln!(self.input, "{calls}").expect("the caller listens");
        serde_json::from_str(&self.heard()).expect("a list of times")
    }

    fn heard(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.output.read_line(&mut line).expect("text");
            assert!(
                read > 0,
                "the shipped part ended early: its script is benches/bus/shipped.py"
            );
            if let Some(said) = line.strip_prefix("BENCH ") {
                return said.to_owned();
            }
        }
    }
}

fn python_command(python: &Path, scratch: &Scratch) -> Command {
    let mut command = Command::new(python);
    for name in [
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "HOME",
    ] {
        command.env(name, &scratch.0);
    }
    command
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn url_of(port: u16) -> String {
    format!("ws://127.0.0.1:{port}/core")
}

fn authority(url: &str) -> &str {
    url.trim_start_matches("ws://").trim_end_matches("/core")
}

/// Waits until somebody listens there.
pub(crate) fn listening(url: &str) {
    let patience = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(authority(url)).is_err() {
        assert!(Instant::now() < patience, "nobody listens at {url}");
        std::thread::sleep(Duration::from_micros(500));
    }
}
