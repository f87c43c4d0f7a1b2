//! The Rust toolbox of many moods: this very test binary, started again by itself.
//!
//! A test binary prints on stdout before a test of it runs, so the toolbox is started with its stdout as descriptor 3 and
//! `/dev/null` in its place, and takes it back.

use std::io::BufRead as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Set for the toolbox alone: whoever runs every ignored test is not to get one.
pub(crate) const MARK: &str = "TOOLHOST_TEST_CHILD";

/// The command line that is the toolbox.
pub(crate) fn argv() -> Vec<String> {
    let binary = std::env::current_exe().expect("the path of this test");
    let binary = binary.to_str().expect("UTF-8");
    let start = r#"exec "$0" "$@" 3>&1 > /dev/null"#;
    let arguments = ["--exact", "child::toolbox", "--ignored", "--nocapture"];
    let mut argv = vec!["sh", "-c", start, binary];
    argv.extend(arguments);
    argv.into_iter().map(str::to_owned).collect()
}

#[test]
#[ignore = "no test, but the toolbox that the others host"]
fn toolbox() {
    if std::env::var_os(MARK).is_none() {
        return;
    }
    // SAFETY: the shell of `argv` opened 3, and nothing else in this process knows of it.
    let stdout = unsafe { OwnedFd::from_raw_fd(3) };
    nix::unistd::dup2_stdout(&stdout).expect("stdout");
    drop(stdout);
    serve();
    std::process::exit(0);
}

#[derive(Deserialize)]
struct Request<'a> {
    id: Option<u64>,
    op: String,
    name: Option<String>,
    #[serde(borrow)]
    kwargs: Option<&'a RawValue>,
    config: Option<Value>,
}

const TOOLS: [&str; 24] = [
    "echo",
    "pid",
    "exit",
    "signal",
    "shut",
    "hang",
    "deaf",
    "noise",
    "stderr",
    "raw",
    "endless",
    "big",
    "background",
    "pair", // Up to here as in the other languages.
    "abort",
    "overflow",
    "leak",
    "forks",
    "shout",
    "broken_lines",
    "nested",
    "slowly",
    "pieced",
    "touch",
];

/// Lines on stdin that were no request: there must be none.
static BROKEN: AtomicUsize = AtomicUsize::new(0);
static CONFIG: Mutex<Value> = Mutex::new(Value::Null);
static HELD: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
/// Calls that are answered later, which are finished before the end.
static SLOW: Mutex<Vec<std::thread::JoinHandle<()>>> = Mutex::new(Vec::new());
/// Held over each whole line.
static STDOUT: Mutex<()> = Mutex::new(());

fn config(key: &str) -> Value {
    CONFIG.lock().unwrap()[key].clone()
}

/// Writes at once, and takes a closed pipe for the end.
fn write(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match nix::unistd::write(std::io::stdout(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => std::process::exit(9),
        }
    }
}

fn line(text: &str) {
    let _whole = STDOUT.lock().unwrap();
    write(format!("{text}\n").as_bytes());
}

fn answer(id: u64, result: &str) {
    line(&format!("{{\"id\":{id},\"result\":{result}}}"));
}

fn serve() {
    let mut stdin = std::io::stdin().lock();
    let mut text = String::new();
    loop {
        text.clear();
        let slow = config("reads_slowly").as_bool() == Some(true);
        let read = if slow {
            read_slowly(&mut stdin, &mut text)
        } else {
            stdin.read_line(&mut text).unwrap()
        };
        if read == 0 {
            break;
        }
        let Ok(request) = serde_json::from_str::<Request<'_>>(&text) else {
            BROKEN.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        match request.op.as_str() {
            "describe" => describe(&request),
            "call" => call(&request),
            _ => {}
        }
    }
    for call in SLOW.lock().unwrap().drain(..) {
        call.join().unwrap();
    }
    if config("stubborn").as_bool() == Some(true) {
        forever();
    }
}

/// A line, read so that the pipe is full most of the time.
fn read_slowly(stdin: &mut impl std::io::Read, text: &mut String) -> usize {
    let mut bytes = Vec::new();
    let mut chunk = [0];
    while stdin.read(&mut chunk).unwrap() == 1 {
        bytes.push(chunk[0]);
        if chunk[0] == b'\n' {
            break;
        }
        if bytes.len() % 8192 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    *text = String::from_utf8(bytes).expect("UTF-8");
    text.len()
}

fn describe(request: &Request<'_>) {
    *CONFIG.lock().unwrap() = request.config.clone().unwrap_or_default();
    if config("stubborn").as_bool() == Some(true) {
        let ignored = nix::sys::signal::SigHandler::SigIgn;
        // SAFETY: no handler of ours runs.
        unsafe { nix::sys::signal::signal(nix::sys::signal::Signal::SIGTERM, ignored) }.expect("ignored");
    }
    if let Some(seconds) = config("starts_after").as_f64() {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }
    if let Some(bytes) = config("stderr_at_start").as_u64() {
        to_stderr(&"starting\n".repeat(bytes as usize / 9));
    }
    if let Some(file) = config("starts_file").as_str() {
        append(file, &format!("{}\n", std::process::id()));
    }
    write(config("banner").as_str().unwrap_or_default().as_bytes());
    let mut tools: Vec<Value> = TOOLS
        .iter()
        .map(|name| json!({"name": name, "description": name}))
        .collect();
    tools.extend(config("tools").as_array().cloned().unwrap_or_default());
    let capabilities = config("capabilities");
    let capabilities = if capabilities.is_null() {
        json!([])
    } else {
        capabilities
    };
    let description = json!({"tools": tools, "capabilities": capabilities}).to_string();
    // As text, where it holds what no JSON value of ours can.
    let description = match config("schema_text").as_str() {
        Some(schema) => description.replace("\"SCHEMA\"", schema),
        None => description,
    };
    answer(request.id.unwrap(), &description);
    if let Some(seconds) = config("lives").as_f64() {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs_f64(seconds));
            to_stderr("lived its life\n");
            std::process::exit(5);
        });
    }
}

fn append(file: &str, text: &str) {
    use std::io::Write as _;
    let mut file = std::fs::File::options().append(true).create(true).open(file).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn to_stderr(text: &str) {
    use std::io::Write as _;
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

fn number(kwargs: &Value, key: &str) -> usize {
    kwargs[key].as_u64().unwrap_or_default() as usize
}

fn forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(600));
    }
}

fn call(request: &Request<'_>) {
    let id = request.id.unwrap();
    let text = request.kwargs.map_or("{}", RawValue::get);
    // Deep or odd arguments are for echo alone, which does not look at them.
    let kwargs: Value = serde_json::from_str(text).unwrap_or_default();
    match request.name.as_deref().unwrap_or_default() {
        "echo" => answer(id, text),
        "pid" => answer(id, &std::process::id().to_string()),
        "hang" => forever(),
        "deaf" => {
            answer(id, "\"last answer\"");
            forever();
        }
        "noise" => {
            (0..number(&kwargs, "lines")).for_each(|n| line(&format!("Processing request {n} ...")));
            answer(id, "\"noisy\"");
        }
        "stderr" => {
            to_stderr(&kwargs["unit"].as_str().unwrap().repeat(number(&kwargs, "bytes")));
            answer(id, "\"said\"");
        }
        "raw" => raw(id, &kwargs),
        "big" => answer(id, &format!("\"{}\"", "x".repeat(number(&kwargs, "bytes")))),
        "background" => answer(id, &sleeper().to_string()),
        "pair" => pair(id, text),
        "leak" => leak(id, number(&kwargs, "mebibytes")),
        "forks" => forks(id, number(&kwargs, "count")),
        "shout" => shout(id, number(&kwargs, "threads"), number(&kwargs, "lines")),
        "broken_lines" => answer(id, &BROKEN.load(Ordering::Relaxed).to_string()),
        "nested" => {
            let depth = number(&kwargs, "depth");
            answer(id, &format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        }
        "slowly" => {
            let seconds = kwargs["seconds"].as_f64().unwrap();
            SLOW.lock().unwrap().push(std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs_f64(seconds));
                answer(id, "\"slept\"");
            }));
        }
        "pieced" => pieced(id, text, number(&kwargs, "bytes")),
        "touch" => {
            append(kwargs["file"].as_str().unwrap(), "touched\n");
            answer(id, "null");
        }
        name @ ("exit" | "signal" | "shut" | "endless" | "abort" | "overflow") => end(name, &kwargs),
        _ => answer(id, text),
    }
}

/// The ways to die.
fn end(name: &str, kwargs: &Value) -> ! {
    match name {
        "exit" => {
            to_stderr("last words\n");
            std::process::exit(number(kwargs, "status") as i32);
        }
        "signal" => {
            to_stderr("last words\n");
            let signal = nix::sys::signal::Signal::try_from(number(kwargs, "signal") as i32).unwrap();
            // The first SIGSEGV is taken by the standard library, which looks for the end of a stack.
            loop {
                nix::sys::signal::kill(nix::unistd::Pid::this(), signal).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        "shut" => nix::unistd::close(1).unwrap(),
        "endless" => loop {
            write(&[b'x'; 65536]);
        },
        "abort" => std::process::abort(),
        _ => to_stderr(&deeper(1).to_string()),
    }
    forever()
}

/// Calls itself until the stack is at its end.
#[allow(unconditional_recursion, reason = "the end of the stack is what is wanted")]
fn deeper(depth: u64) -> u64 {
    let kept = std::hint::black_box([depth; 512]);
    deeper(depth + 1) + kept[7]
}

fn raw(id: u64, kwargs: &Value) {
    let digits: String = id.to_string().bytes().map(|digit| format!("{digit:02x}")).collect();
    let hex = kwargs["hex"].as_str().unwrap().replace("ID", &digits);
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    let step = match number(kwargs, "pieces") {
        0 => bytes.len(),
        pieces => pieces,
    };
    bytes.chunks(step).for_each(write);
}

/// Two calls, answered in the reverse order of their coming.
fn pair(id: u64, text: &str) {
    let mut held = HELD.lock().unwrap();
    held.push((id, text.to_owned()));
    if held.len() == 2 {
        held.drain(..).rev().for_each(|(id, text)| answer(id, &text));
    }
}

fn sleeper() -> u32 {
    let child = Command::new("sleep")
        .arg("300")
        .stdin(std::process::Stdio::null())
        .spawn();
    child.expect("sleep starts").id()
}

/// Takes memory and fills it, since nothing else counts.
fn leak(id: u64, mebibytes: usize) {
    for n in 0..mebibytes {
        let piece = vec![n as u8 | 1; 1 << 20];
        std::hint::black_box(&piece);
        std::mem::forget(piece);
    }
    answer(id, "\"leaked\"");
}

/// A bounded bomb: children, and their ids.
fn forks(id: u64, count: usize) {
    let children: Vec<u32> = (0..count).map(|_| sleeper()).collect();
    answer(id, &format!("{children:?}"));
}

/// Threads that print what is no answer, and go on after this call has its own.
fn shout(id: u64, threads: usize, lines: usize) {
    for thread in 0..threads {
        std::thread::spawn(move || {
            for n in 0..lines {
                line(&format!("thread {thread} says {n}: {{\"progress\""));
                if n % 100 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
    }
    answer(id, "\"shouting\"");
}

/// An answer that holds its arguments and so many bytes, in pieces of a KiB.
fn pieced(id: u64, kwargs: &str, bytes: usize) {
    let text = format!(
        "{{\"id\":{id},\"result\":{{\"kwargs\":{kwargs},\"filling\":\"{}\"}}}}\n",
        "x".repeat(bytes)
    );
    for piece in text.as_bytes().chunks(1024) {
        write(piece);
        std::thread::yield_now();
    }
}
