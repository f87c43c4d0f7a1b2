//! The control socket over real sockets.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};

use super::*;
use crate::control::client::{self, ClientError};
use crate::control::order::{Ordered, Orders, Reloaded};
use crate::control::socket::{self, SocketError, bind};
use crate::control::status::{
    Bus, BusState, Calls, Host, Latency, Messages, Process, Status, ToolService, Toolbox, ToolboxState,
};
use crate::control::verb::{Order, Verb};
use crate::migrate::verdict::Report;

/// A folder of its own for a test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolhost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("t.sock")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn status() -> Status {
    Status {
        host: Host {
            version: "0.1.0".to_owned(),
            pid: 7,
            uptime_seconds: 61,
            config: "/etc/toolhost/toolhost.yaml".to_owned(),
            bus: Bus {
                url: "ws://127.0.0.1:8181/core".to_owned(),
                state: BusState::Connected,
                since_seconds: 60,
                last_error: None,
            },
            tool_service: ToolService::Answering,
            conflicts: vec![],
            messages: Messages::default(),
        },
        toolboxes: vec![Toolbox {
            toolbox_id: "wordnet".to_owned(),
            program: Some("python3".to_owned()),
            state: ToolboxState::Backoff,
            reason: Some("exit status 1".to_owned()),
            retry_in_ms: Some(400),
            tools: 2,
            processes: vec![Process {
                pid: 9,
                uptime_seconds: 3,
                in_flight: 1,
            }],
            restarts: 4,
            calls: Calls::default(),
            latency: Some(Latency {
                p50_ms: 1.25,
                p99_ms: 20.0,
            }),
        }],
        forwards: vec![],
        migration: Report::default(),
    }
}

struct Fixed;

impl Verbs for Fixed {
    async fn status(&self) -> Status {
        status()
    }

    fn migration(&self) -> Report {
        Report::default()
    }

    async fn order(&self, order: Order, orders: Orders) -> Ordered {
        match orders.toolboxes.first().map(String::as_str) {
            Some("endless") => std::future::pending().await,
            Some("slow") => tokio::time::sleep(LOOK * 3).await,
            _ => {}
        }
        Ordered {
            unknown: vec![format!("{order:?}")],
            known: orders.toolboxes,
            toolboxes: vec![],
        }
    }

    async fn reload(&self) -> Result<Reloaded, String> {
        Err("toolhost.yaml:1:1: no".to_owned())
    }
}

/// Serves in the background until the token is cancelled.
fn host(path: &Path) -> (CancellationToken, tokio::task::JoinHandle<()>) {
    let stop = CancellationToken::new();
    let socket = bind(path).unwrap();
    (stop.clone(), tokio::spawn(serve(socket, Arc::new(Fixed), stop)))
}

async fn ask(path: &Path) -> Result<String, ClientError> {
    ask_for(path, Verb::Status).await
}

async fn ask_for(path: &Path, verb: Verb) -> Result<String, ClientError> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || client::ask(&path, &verb))
        .await
        .unwrap()
}

/// Sends raw bytes, and reads all there is until the host hangs up or has answered a line.
async fn say(path: &Path, bytes: Vec<u8>) -> String {
    let path = path.to_owned();
    let talk = move || {
        let mut stream = StdStream::connect(path).unwrap();
        stream.write_all(&bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn a_status_comes_back_as_it_was_told() {
    let folder = Folder::new("status");
    let (stop, serving) = host(&folder.socket());
    let text = ask(&folder.socket()).await.unwrap();
    assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status());
    let mode = std::fs::metadata(folder.socket()).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    stop.cancel();
    serving.await.unwrap();
    assert!(!folder.socket().exists());
    assert!(matches!(ask(&folder.socket()).await, Err(ClientError::NobodyThere(_))));
}

#[tokio::test]
async fn orders_arrive_as_they_were_given_and_a_refused_reload_says_why() {
    let folder = Folder::new("orders");
    let (_stop, _serving) = host(&folder.socket());
    let orders = Orders {
        toolboxes: vec!["wordnet".to_owned()],
        ..Orders::default()
    };
    for (verb, order) in [
        (Verb::Stop(orders.clone()), "Stop"),
        (Verb::Start(orders.clone()), "Start"),
        (Verb::Restart(orders), "Restart"),
    ] {
        let text = ask_for(&folder.socket(), verb).await.unwrap();
        let expected = format!(r#"{{"unknown":["{order}"],"known":["wordnet"],"toolboxes":[]}}"#);
        assert_eq!(text, expected);
    }
    let refused = ask_for(&folder.socket(), Verb::Reload).await.unwrap_err();
    assert_eq!(refused.to_string(), "toolhost.yaml:1:1: no");
    let short = say(&folder.socket(), b"{\"verb\":\"stop\",\"all\":true}\n".to_vec()).await;
    assert!(
        short.starts_with(r#"{"stop":"#),
        "only what is needed must be said: {short}"
    );
}

#[tokio::test]
async fn a_wrong_line_is_answered_and_the_next_one_too() {
    let folder = Folder::new("wrong");
    let (_stop, _serving) = host(&folder.socket());
    let answer = say(
        &folder.socket(),
        b"{\"verb\":\"dance\"}\nnonsense\n{\"verb\":\"status\"}\n".to_vec(),
    )
    .await;
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"error":"unknown variant `dance`, expected one of `status`, `stop`, `start`, `restart`, `reload`, `migration` at line 1 column 15"}"#
    );
    assert!(lines[1].starts_with(r#"{"error":"#), "{answer}");
    assert!(lines[2].starts_with(r#"{"status":"#), "{answer}");
    assert_eq!(lines.len(), 3);
}

#[tokio::test]
async fn an_endless_line_is_refused() {
    let folder = Folder::new("endless");
    let (_stop, _serving) = host(&folder.socket());
    let answer = say(&folder.socket(), vec![b'x'; 64 * 1024]).await;
    assert_eq!(answer, "{\"error\":\"a request may have 65536 bytes\"}\n");
}

#[tokio::test]
async fn peers_that_say_or_read_nothing_hurt_nobody() {
    let folder = Folder::new("silent");
    let (_stop, _serving) = host(&folder.socket());
    let mut deaf = StdStream::connect(folder.socket()).unwrap();
    deaf.set_nonblocking(true).unwrap();
    let request = [Verb::Status.line().as_bytes(), b"\n"].concat().repeat(1000);
    while deaf.write(&request).is_ok() {
        tokio::task::yield_now().await;
    }
    let silent: Vec<_> = (0..PEERS - 2)
        .map(|_| StdStream::connect(folder.socket()).unwrap())
        .collect();
    assert!(ask(&folder.socket()).await.is_ok());
    drop((deaf, silent));
}

fn restart(toolbox: &str) -> Vec<u8> {
    let orders = Orders {
        toolboxes: vec![toolbox.to_owned()],
        ..Orders::default()
    };
    [Verb::Restart(orders).line().as_bytes(), b"\n"].concat()
}

#[tokio::test]
async fn peers_that_went_away_while_they_waited_leave_their_seats() {
    let folder = Folder::new("gone");
    let (_stop, _serving) = host(&folder.socket());
    for _ in 0..PEERS {
        let mut peer = StdStream::connect(folder.socket()).unwrap();
        peer.write_all(&restart("endless")).unwrap();
    }
    let status = async { while ask(&folder.socket()).await.is_err() {} };
    timeout(IDLE, status).await.expect("a seat becomes free");
}

#[tokio::test]
async fn a_peer_that_says_no_more_is_answered_however_long_it_takes() {
    let folder = Folder::new("half");
    let (_stop, _serving) = host(&folder.socket());
    assert!(say(&folder.socket(), restart("slow")).await.contains("slow"));
}

#[tokio::test]
async fn one_peer_too_many_is_told_so() {
    let folder = Folder::new("many");
    let (_stop, _serving) = host(&folder.socket());
    let peers: Vec<_> = (0..PEERS)
        .map(|_| StdStream::connect(folder.socket()).unwrap())
        .collect();
    let refused = ask(&folder.socket()).await.unwrap_err();
    assert_eq!(refused.to_string(), "too many peers on the control socket");
    drop(peers);
}

#[tokio::test]
async fn a_dead_hosts_socket_is_replaced_a_live_one_is_not() {
    let folder = Folder::new("stale");
    let path = folder.socket();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "a listener leaves its file behind");
    let (stop, serving) = host(&path);
    assert!(matches!(bind(&path), Err(SocketError::InUse(_))));
    assert!(ask(&path).await.is_ok(), "the refused one left it alone");
    stop.cancel();
    serving.await.unwrap();
    drop(bind(&path).unwrap());

    let _foreign = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(matches!(bind(&path), Err(SocketError::InUse(_))));
}

#[tokio::test]
async fn what_is_no_socket_stays() {
    let folder = Folder::new("file");
    std::fs::write(folder.socket(), "mine").unwrap();
    let error = bind(&folder.socket()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("is in the way of the control socket and is no socket")
    );
    assert_eq!(std::fs::read(folder.socket()).unwrap(), b"mine");
    let long = folder.0.join("x".repeat(120));
    assert!(matches!(bind(&long), Err(SocketError::TooLong { .. })));
    let nowhere = folder.0.join("no/t.sock");
    assert!(matches!(bind(&nowhere), Err(SocketError::Io { .. })));
}

#[test]
fn the_path_is_the_typed_one_or_that_of_the_user() {
    let folder = Folder::new("path");
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o700)).unwrap();
    let runtime = |path: PathBuf| move |_: &str| Some(path.clone());
    let own = socket::path(None, |_| None);
    assert!(
        own.starts_with("/tmp") && own.ends_with("toolhost.sock"),
        "{}",
        own.display()
    );
    assert_eq!(
        socket::path(None, runtime(folder.0.clone())),
        folder.0.join("toolhost.sock")
    );
    assert_eq!(socket::path(None, runtime(folder.0.join("missing"))), own);
    assert_eq!(socket::path(None, runtime(PathBuf::from("."))), own);
    assert_eq!(
        socket::path(Some(Path::new("a")), runtime(folder.0.clone())),
        Path::new("a")
    );
}
