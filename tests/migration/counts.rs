//! Who calls on which topic: in the status, in the report, and over restarts.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::common::caller::{CALL, Caller, DISCOVER, predecessor};
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};
use crate::common::peers::RealBus;
use crate::common::scratch::Scratch;

/// `toolhost migrate report`: the exit code, the document, what was said.
fn report(socket: &Path, quiet: &str) -> (i32, Value, String) {
    let Output { status, stdout, stderr } = report_command(socket, quiet).output().expect("toolhost starts");
    let document = serde_json::from_slice(&stdout).expect("a document");
    let said = String::from_utf8(stderr).expect("text");
    (status.code().expect("an exit code"), document, said)
}

#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn report_command(socket: &Path, quiet: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command
        .args(["migrate", "report", "--quiet", quiet, "--socket"])
        .arg(socket);
    command
}

/// `toolhost metrics`
#[allow(clippy::disallowed_methods)] // The program is started as its owner starts it.
fn metrics(socket: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_toolhost"))
        .args(["metrics", "--socket"])
        .arg(socket)
        .output()
        .expect("toolhost starts");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("text")
}

fn config(url: &str) -> Value {
    let with = |policy: &str| {
        let mut toolbox = moody(&json!({}));
        toolbox["predecessor_topics"] = policy.into();
        toolbox
    };
    json!({"bus": {"url": url}, "toolboxes": {"warns": with("warn"), "ignores": with("ignore"), "answers": with("answer")}})
}

/// Where a host keeps its counts.
fn counts_file(host: &Host) -> PathBuf {
    let folder = host.folder().join(".local/state/toolhost");
    let is_counts = |name: &str| name.starts_with("usage-") && name.ends_with(".json");
    let mut files = std::fs::read_dir(&folder).expect("the state folder").flatten();
    let file = files.find(|file| is_counts(&file.file_name().to_string_lossy()));
    file.expect("the counts").path()
}

fn counts(document: &Value, toolbox_id: &str) -> (u64, u64, String) {
    let toolboxes = document["toolboxes"].as_array().expect("toolboxes");
    let found = toolboxes.iter().find(|toolbox| toolbox["toolbox_id"] == toolbox_id);
    let toolbox = found.unwrap_or_else(|| panic!("{toolbox_id} is told: {document}"));
    (
        toolbox["predecessor_calls"].as_u64().expect("a number"),
        toolbox["replacement_calls"].as_u64().expect("a number"),
        toolbox["verdict"].as_str().unwrap_or("-").to_owned(),
    )
}

#[tokio::test]
async fn the_report_counts_callers_by_topic_and_says_whether_it_is_quiet() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    let old = json!({"name": "echo", "kwargs": {}});
    for _ in 0..3 {
        caller.ask(&predecessor("warns"), &old).await;
        assert!(caller.stays_unanswered(&predecessor("ignores"), &old).await);
    }
    caller.call("answers", "echo", &json!({})).await.expect("a result");

    let (code, document, said) = report(&host.socket(), "1h");
    assert_eq!(code, 1, "{said}");
    assert_eq!(counts(&document, "warns"), (3, 0, "used".to_owned()));
    assert_eq!(counts(&document, "ignores"), (3, 0, "used".to_owned()));
    assert_eq!(counts(&document, "answers"), (0, 1, "too_early".to_owned()));
    assert!(
        said.contains("the predecessor topic of 'warns', 'ignores'") || said.contains("'ignores', 'warns'"),
        "{said}"
    );
    assert!(
        said.contains("the calls to 'answers' have been counted for ") && said.contains(" only, not yet for 1 h"),
        "{said}"
    );
    let caller_told = &document["toolboxes"][2]["callers"][0];
    assert_eq!(caller_told["source"], "caller");
    assert_eq!(caller_told["session_id"], "s");
    assert_eq!(caller_told["context_keys"], "token source destination session");
    assert_eq!(counts(&host.status().expect("a status")["migration"], "warns").0, 3);
    let log = host.log();
    assert!(
        log.contains(r#"{\"toolbox_id\": \"warns\", \"name\": ..., \"kwargs\": {...}}"#),
        "{log}"
    );
    let (code, document, said) = report(&host.socket(), "0s");
    assert_eq!((code, document["quiet"].clone(), said.as_str()), (0, json!(true), ""));
    let metrics = metrics(&host.socket());
    for line in [
        r#"toolhost_topic_calls_total{toolbox_id="warns",caller="1",source="caller",session_id="s",topic="predecessor"} 3"#,
        r#"toolhost_topic_calls_total{toolbox_id="answers",caller="1",source="caller",session_id="s",topic="replacement"} 1"#,
        r#"toolhost_topic_calls_total{toolbox_id="warns",caller="others",topic="predecessor"} 0"#,
        r#"toolhost_toolbox_topic_calls_total{toolbox_id="warns",topic="predecessor"} 3"#,
        r#"toolhost_toolbox_ready{toolbox_id="warns"} 1"#,
        r#"toolhost_calls_total{toolbox_id="warns",outcome="ok"} 3"#,
    ] {
        assert!(metrics.lines().any(|told| told == line), "{line} is not in\n{metrics}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_forwarded_toolbox_whose_host_nobody_has_heard_is_not_quiet() {
    let bus = Embedded::start().await;
    let forwarding = json!({"bus": {"url": bus.url}, "migrate": {"to_predecessor": ["late"]}, "toolboxes": {}});
    let host = Host::start(&forwarding).await;
    let (code, document, said) = report(&host.socket(), "0s");
    assert_eq!(
        (code, counts(&document, "late").2.as_str(), &document["quiet"]),
        (1, "no_host", &json!(false))
    );
    assert!(
        said.contains("no host of 'late' has been heard on the bus: is the id right, and its host running?"),
        "{said}"
    );
    let heard = || host.status().expect("a status")["forwards"][0]["heard"].clone();
    assert_eq!(heard(), json!(false));

    let late = Host::start(&json!({"bus": {"url": bus.url}, "toolboxes": {"late": moody(&json!({}))}})).await;
    let mut caller = Caller::connect(&bus.url).await;
    let discover = caller.send(DISCOVER, &json!({})).await;
    caller.wait(&discover, 1).await;
    eventually("its host is heard", || heard() == json!(true)).await;
    let (code, document, said) = report(&host.socket(), "0s");
    assert_eq!((code, counts(&document, "late").2.as_str()), (0, "quiet"), "{said}");
    host.stop().await;
    late.stop().await;
}

#[test]
fn a_quiet_period_without_a_unit_is_refused() {
    let output = report_command(Path::new("/nowhere"), "14")
        .output()
        .expect("toolhost starts");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("14d for days"), "{said}");
    let nobody = report_command(Path::new("/nowhere"), "0")
        .output()
        .expect("toolhost starts");
    assert_eq!(nobody.status.code(), Some(3), "none at all needs no unit");
}

#[tokio::test]
async fn the_counts_outlive_a_restart_and_nobody_else_can_read_them() {
    let bus = Embedded::start().await;
    let mut host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    caller.ask(&predecessor("warns"), &json!({"name": "echo"})).await;
    host.signal(Signal::SIGTERM);
    host.ended().await;
    let mode = counts_file(&host).metadata().expect("its mode").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = host.restart().await;
    caller.ask(&predecessor("warns"), &json!({"name": "echo"})).await;
    let (_, document, _) = report(&again.socket(), "14d");
    assert_eq!(counts(&document, "warns").0, 2);
    again.stop().await;
}

/// How long the calls of a toolbox have been counted, and how long the host is up.
fn counted_and_up(host: &Host, toolbox_id: &str) -> (u64, u64) {
    let status = host.status().expect("a status");
    let toolboxes = status["migration"]["toolboxes"].as_array().expect("toolboxes");
    let found = toolboxes.iter().find(|toolbox| toolbox["toolbox_id"] == toolbox_id);
    let counted = found.expect("it is told")["counted_seconds"].as_u64();
    let up = status["host"]["uptime_seconds"].as_u64();
    (counted.expect("a number"), up.expect("a number"))
}

#[tokio::test]
async fn the_time_a_bus_is_away_is_not_counted() {
    let mut bus = RealBus::start().await;
    let host = Host::start(&config(&bus.url())).await;
    let now = || counted_and_up(&host, "warns");
    bus.kill();
    let is_away = || host.status().expect("a status")["host"]["bus"]["state"] == "connecting";
    eventually("the bus is away", is_away).await;
    // Its loss is entered a moment after it is told.
    let (_, noticed) = now();
    eventually("a second goes by", || now().1 > noticed).await;
    let (counted, away) = now();
    eventually("two more go by", || now().1 >= away + 2).await;
    assert_eq!(now().0, counted);
    bus.restart().await;
    eventually("counting goes on", || now().0 > counted).await;
    host.stop().await;
}

#[tokio::test]
async fn the_report_speaks_of_the_toolboxes_that_a_reload_has_left_and_brought() {
    let bus = Embedded::start().await;
    let mut toolboxes = config(&bus.url);
    let host = Host::start(&toolboxes).await;
    let mut caller = Caller::connect(&bus.url).await;
    caller.ask(&predecessor("warns"), &json!({"name": "echo"})).await;
    let told = || {
        let report = host.status().expect("a status")["migration"]["toolboxes"].clone();
        let ids = report.as_array().expect("toolboxes").iter();
        ids.map(|toolbox| toolbox["toolbox_id"].as_str().expect("an id").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(told(), ["answers", "ignores", "warns"]);
    let entries = toolboxes["toolboxes"].as_object_mut().expect("toolboxes");
    entries.remove("warns");
    entries.insert("newcomer".to_owned(), moody(&json!({})));
    toolboxes["migrate"] = json!({"to_predecessor": ["elsewhere"]});
    host.write_config(&toolboxes);
    host.signal(Signal::SIGHUP);
    let expected = ["answers", "elsewhere", "ignores", "newcomer"];
    eventually("it tells of what is there now", || told() == expected).await;
    caller
        .send(CALL, &json!({"toolbox_id": "elsewhere", "name": "x", "kwargs": {}}))
        .await;
    let forwarded = r#"toolhost_forwarded_calls_total{toolbox_id="elsewhere"} 1"#;
    eventually("the metrics count what is forwarded", || {
        metrics(&host.socket()).lines().any(|line| line == forwarded)
    })
    .await;
    host.stop().await;
}

/// A host that has stopped, and the file it keeps its counts in.
async fn a_host_that_has_stopped() -> (Embedded, Host, PathBuf) {
    let bus = Embedded::start().await;
    let mut host = Host::start(&config(&bus.url)).await;
    host.signal(Signal::SIGTERM);
    host.ended().await;
    let file = counts_file(&host);
    (bus, host, file)
}

#[tokio::test]
async fn counts_that_cannot_be_read_are_set_aside_and_the_host_starts() {
    let (_bus, host, file) = a_host_that_has_stopped().await;
    std::fs::write(&file, "{broken").expect("written");
    let again = host.restart().await;
    assert!(again.log().contains("counting begins anew"), "{}", again.log());
    assert_eq!(
        std::fs::read_to_string(file.with_extension("bad")).expect("set aside"),
        "{broken"
    );
    again.stop().await;
}

/// Two months of quiet are behind the host, as its file says.
fn make_quiet(file: &Path) {
    const TWO_MONTHS: u64 = 60 * 86_400;
    let text = std::fs::read_to_string(file).expect("the counts");
    let mut counts: Value = serde_json::from_str(&text).expect("JSON");
    for toolbox in counts["toolboxes"].as_object_mut().expect("toolboxes").values_mut() {
        toolbox["counted_seconds"] = TWO_MONTHS.into();
        toolbox["quiet_seconds"] = TWO_MONTHS.into();
    }
    std::fs::write(file, counts.to_string()).expect("written");
}

#[tokio::test]
async fn a_host_that_is_killed_still_knows_that_the_quiet_was_broken() {
    let (bus, host, file) = a_host_that_has_stopped().await;
    make_quiet(&file);
    let mut host = host.restart().await;
    let (code, _, said) = report(&host.socket(), "14d");
    assert_eq!(code, 0, "{said}");

    let mut caller = Caller::connect(&bus.url).await;
    caller.ask(&predecessor("answers"), &json!({"name": "echo"})).await;
    eventually("the call is on disk", || {
        let text = std::fs::read_to_string(&file).expect("the counts");
        let counts: Value = serde_json::from_str(&text).expect("a whole file");
        counts["toolboxes"]["answers"]["predecessor_calls"] == 1
    })
    .await;
    host.signal(Signal::SIGKILL);
    host.ended().await;
    let host = host.restart().await;
    let (code, document, said) = report(&host.socket(), "14d");
    assert_eq!(code, 1, "{said}");
    assert_eq!(counts(&document, "answers"), (1, 0, "used".to_owned()));
    assert_eq!(counts(&document, "warns"), (0, 0, "quiet".to_owned()));
    assert_eq!(document["not_kept"], Value::Null, "the file is free");
    host.stop().await;
}

/// What answers on the control socket instead of a host, and must not pass for "not yet".
#[tokio::test]
async fn a_question_that_was_not_answered_is_no_verdict() {
    let table: [(&str, &[u8], &str); 6] = [
        ("it hangs up at once", b"", "the host hung up"),
        (
            "it hangs up halfway",
            b"{\"migration\": {\"now\": 1, \"toolb",
            "the host hung up",
        ),
        (
            "it speaks of something else",
            b"{\"status\": {}}\n",
            "it has no 'migration'",
        ),
        ("it speaks no JSON", b"HTTP/1.1 400 Bad Request\n", "is none"),
        (
            "it has another idea of it",
            b"{\"migration\": {\"now\": \"noon\"}}\n",
            "cannot be understood",
        ),
        ("it refuses", b"{\"error\": \"too many peers\"}\n", "too many peers"),
    ];
    let folder = Scratch::new();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).expect("a private folder");
    for (number, (what, answer, expected)) in table.into_iter().enumerate() {
        let socket = folder.path().join(number.to_string());
        let listener = UnixListener::bind(&socket).expect("a socket");
        let answering = std::thread::spawn(move || {
            let (peer, _) = listener.accept().expect("a peer");
            let mut peer = BufReader::new(peer);
            // The question has been read before anything is closed: else the system says that the peer broke off.
            peer.read_line(&mut String::new()).expect("a question");
            peer.get_mut().write_all(answer).expect("it reads");
        });
        let Output { status, stderr, .. } = report_command(&socket, "14d").output().expect("toolhost starts");
        answering.join().expect("the listener is well");
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(3), "{what}: {said}");
        assert!(said.contains(expected), "{what}: {said}");
    }
    let nobody = report_command(&folder.path().join("nobody"), "14d").output();
    assert_eq!(nobody.expect("toolhost starts").status.code(), Some(3));
    let no_time = report_command(&folder.path().join("nobody"), "a while").output();
    assert_eq!(no_time.expect("toolhost starts").status.code(), Some(2));
}

#[tokio::test]
async fn a_report_that_cannot_be_printed_is_no_verdict() {
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("a full device");
    let output = report_command(&host.socket(), "14d")
        .stdout(full)
        .stderr(Stdio::piped())
        .output();
    let output = output.expect("toolhost starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write the answer to stdout"), "{said}");
    host.stop().await;
}

#[tokio::test]
async fn a_host_whose_counts_cannot_be_kept_says_so_and_vouches_for_no_quiet_of_before() {
    let (_bus, host, file) = a_host_that_has_stopped().await;
    make_quiet(&file);
    // Two locks of one file: as another host with this configuration has it.
    let lock = std::fs::File::options()
        .write(true)
        .open(format!("{}.lock", file.display()))
        .expect("the lock");
    let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).expect("nobody has it");
    let mut again = host.restart().await;
    let (code, document, said) = report(&again.socket(), "14d");
    assert_eq!(code, 1, "{said}");
    let why = document["not_kept"].as_str().expect("it says so");
    assert!(why.starts_with("another toolhost with this configuration"), "{why}");
    again.signal(Signal::SIGTERM);
    again.ended().await;
    drop(lock);
    let text = std::fs::read_to_string(&file).expect("the counts");
    assert!(text.contains("5184000"), "the file is as it was: {text}");
}

#[tokio::test]
async fn of_more_callers_than_can_be_told_apart_none_is_hidden_and_every_call_is_counted() {
    const CALLERS: usize = 1100;
    let bus = Embedded::start().await;
    let host = Host::start(&config(&bus.url)).await;
    let mut caller = Caller::connect(&bus.url).await;
    // A call that is answered without the toolbox.
    let nothing = json!({"name": "no such tool"});
    for n in 0..CALLERS {
        caller
            .send_from(&format!("skill {n}"), &predecessor("warns"), &nothing)
            .await;
    }
    caller.hear_answers(CALLERS).await;
    let more = "calls on predecessor topics by more callers than are named in an hour";
    eventually("the log says that there are more", || host.log().contains(more)).await;
    let log = host.log();
    let lines_with = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    // The one that tells of the others comes after these.
    assert_eq!(lines_with("call on a predecessor topic"), 1024, "so many lines an hour");
    assert_eq!(lines_with("callers=1 "), 1, "{log}");
    let metrics = metrics(&host.socket());
    let value = |series: &str| {
        let sample = metrics.lines().find_map(|line| line.strip_prefix(series));
        let sample = sample.unwrap_or_else(|| panic!("{series} is not in\n{metrics}"));
        sample.trim().parse::<usize>().expect("a number")
    };
    let others = r#"toolhost_topic_calls_total{toolbox_id="warns",caller="others",topic="predecessor"}"#;
    assert_eq!(value(others), CALLERS - 64);
    let all = r#"toolhost_toolbox_topic_calls_total{toolbox_id="warns",topic="predecessor"}"#;
    assert_eq!(value(all), CALLERS);
    host.stop().await;
}
