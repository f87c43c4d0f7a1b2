//! `start: lazy`: what is published and what is run before the first call, and by what that call is checked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use toolhost::config::{Mode, Restart, Start, ToolboxConfig};
use toolhost::json::Text;
use toolhost::supervisor::status::Phase;

use crate::harness::{Folder, Hosted, eventually, moody};

/// A lazy toolbox that notes its starts, with a state folder that outlives it.
struct Lazy {
    folder: Folder,
    config: ToolboxConfig,
}

impl Lazy {
    fn new(own: impl Fn(&Folder) -> Value) -> Self {
        let folder = Folder::new();
        let mut config = moody(&own(&folder));
        config.start = Start::Lazy;
        let starts = folder.path("starts").display().to_string();
        config.env.0.insert("STARTS_FILE".into(), starts);
        Self { folder, config }
    }

    fn state(&self) -> PathBuf {
        self.folder.path("state")
    }

    fn file(&self) -> PathBuf {
        self.state().join("tools/moody.json")
    }

    /// The processes that were started so far; a line more where two were alive at the same time.
    fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.path("starts")).map_or(0, |text| text.lines().count())
    }

    fn host(&self) -> Hosted {
        Hosted::start_with_state(self.config.clone(), &self.state())
    }

    /// Hosts it, and waits until it sleeps, with no process left.
    async fn asleep(&self) -> Hosted {
        let toolbox = self.host();
        toolbox.wait_for(|phase| *phase == Phase::Asleep).await;
        toolbox.seen("no process", |seen| seen.processes.is_empty()).await;
        toolbox
    }

    /// Has its tools kept, as a first run of the host does.
    async fn learned(self) -> Self {
        self.asleep().await.stop(Duration::from_secs(1)).await;
        assert_eq!(self.starts(), 1);
        self
    }
}

fn has(tools: Option<&Vec<String>>, name: &str) -> bool {
    tools.is_some_and(|tools| tools.iter().any(|tool| tool == name))
}

#[tokio::test]
async fn a_first_run_starts_it_to_learn_its_tools_and_later_runs_wait_for_a_call() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let toolbox = lazy.asleep().await;
    assert!(has(toolbox.tools().await.as_ref(), "echo"), "a discover is answered");
    assert!(toolbox.handle.brief().borrow().tools.is_some(), "and a list");
    assert_eq!(lazy.starts(), 1, "by no process");
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    assert_eq!(toolbox.call("echo", json!({"n": 2})).await, Ok(json!({"n": 2})));
    toolbox.wait_for(|phase| *phase == Phase::Ready).await;
    assert_eq!(lazy.starts(), 2, "one for both calls");
    assert_eq!(
        toolbox.handle.snapshot().await.unwrap().restarts,
        0,
        "that is no restart"
    );
}

#[tokio::test]
async fn a_call_while_it_is_started_to_learn_its_tools_keeps_it_up() {
    let lazy = Lazy::new(|folder| json!({"wait_for_file": folder.path("go")}));
    let toolbox = lazy.host();
    let call = toolbox.send("pid", json!({}));
    toolbox.pending(1).await;
    std::fs::write(lazy.folder.path("go"), "").unwrap();
    assert_eq!(call.get().await, Ok(json!(toolbox.pid().await)));
    toolbox.wait_for(|phase| *phase == Phase::Ready).await;
    assert_eq!(lazy.starts(), 1);
}

#[tokio::test]
async fn a_first_call_is_checked_by_what_the_program_says_now() {
    let lazy = Lazy::new(|folder| json!({"extra_tool_file": folder.path("grown")}));
    let lazy = lazy.learned().await;
    std::fs::write(lazy.folder.path("grown"), "").unwrap();
    let mut toolbox = lazy.asleep().await;
    assert!(!has(toolbox.tools().await.as_ref(), "grown"), "as last described");
    assert_eq!(toolbox.call("grown", json!({})).await, Ok(json!({})), "as it is now");
    assert!(has(toolbox.tools().await.as_ref(), "grown"));
    toolbox.stop(Duration::from_secs(1)).await;
    // And the other way round.
    std::fs::remove_file(lazy.folder.path("grown")).unwrap();
    let toolbox = lazy.asleep().await;
    assert!(has(toolbox.tools().await.as_ref(), "grown"), "the newest list was kept");
    let gone = toolbox.call("grown", json!({})).await;
    assert_eq!(gone, Err("Unknown tool: 'grown'".into()));
    let tools = toolbox.handle.brief().borrow().tools.clone().unwrap();
    assert!(
        tools.get("grown").is_none() && tools.get("echo").is_some(),
        "it is published no longer"
    );
}

#[tokio::test]
async fn a_changed_configuration_is_not_answered_by_an_old_list() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let changes: [&dyn Fn(&mut ToolboxConfig); 3] = [
        &|config| config.config = Text::from("{\"capabilities\": [\"concurrent\"]}".to_owned()),
        &|config| _ = config.env.0.insert("LANG".into(), "de".into()),
        &|config| config.inherit_env = vec!["LANG".into()],
    ];
    for (change, starts) in changes.into_iter().zip([2, 3, 4]) {
        let mut changed = lazy.config.clone();
        change(&mut changed);
        let mut toolbox = Hosted::start_with_state(changed, &lazy.state());
        toolbox.wait_for(|phase| *phase == Phase::Asleep).await;
        assert_eq!(lazy.starts(), starts, "it was asked again");
        toolbox.stop(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn what_the_owner_publishes_is_as_the_file_says_now_whatever_was_kept() {
    let mut lazy = Lazy::new(|_| json!({})).learned().await;
    lazy.config.publish.allow = vec!["echo".into()];
    lazy.config.publish.namespace = Some("my".into());
    let toolbox = lazy.asleep().await;
    assert_eq!(toolbox.tools().await, Some(vec!["my_echo".to_owned()]));
    assert_eq!(lazy.starts(), 1);
    assert_eq!(toolbox.call("my_echo", json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn what_is_kept_holds_no_secret_and_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut lazy = Lazy::new(|_| json!({"key": "hunter2"}));
    lazy.config.env.0.insert("TOKEN".into(), "hunter2".into());
    let lazy = lazy.learned().await;
    let text = std::fs::read_to_string(lazy.file()).unwrap();
    assert!(text.contains("echo") && !text.contains("hunter2"), "{text}");
    assert_eq!(lazy.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_damaged_or_foreign_state_file_is_as_good_as_none() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let good = std::fs::read_to_string(lazy.file()).unwrap();
    let refused = good
        .replacen(r#""name":"#, r#""nome":"#, 1)
        .replacen(r#""name": "#, r#""nome": "#, 1);
    assert_ne!(refused, good);
    let files = [
        "",
        "{",
        "null",
        &good[..good.len() / 2],
        &good.replacen("moody", "noisy", 1),
        &refused,
        "\u{0}",
    ];
    for (text, starts) in files.into_iter().zip(2..) {
        std::fs::write(lazy.file(), text).unwrap();
        let mut toolbox = lazy.asleep().await;
        assert!(has(toolbox.tools().await.as_ref(), "echo"), "{text:?}");
        assert_eq!(lazy.starts(), starts, "{text:?}");
        toolbox.stop(Duration::from_secs(1)).await;
        assert_eq!(
            std::fs::read_to_string(lazy.file()).unwrap(),
            good,
            "and it is written anew"
        );
    }
}

#[tokio::test]
async fn it_works_where_nothing_can_be_kept() {
    let lazy = Lazy::new(|_| json!({}));
    // A file is in the way.
    std::fs::write(lazy.state(), "").unwrap();
    for starts in [1, 3] {
        let mut toolbox = lazy.asleep().await;
        assert_eq!(lazy.starts(), starts);
        assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
        toolbox.stop(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn one_that_cannot_be_started_says_why_to_its_first_caller_and_is_given_up_in_the_end() {
    let mut lazy = Lazy::new(|folder| json!({"die_file": folder.path("die")}))
        .learned()
        .await;
    lazy.config.restart = Restart {
        give_up_after: 3,
        backoff: Duration::from_millis(10),
        ..Restart::default()
    };
    let toolbox = lazy.asleep().await;
    std::fs::write(lazy.folder.path("die"), "").unwrap();
    let error = toolbox.call("echo", json!({})).await.unwrap_err();
    assert!(
        error.starts_with("ToolboxUnavailable: exit status 1: no good start"),
        "{error}"
    );
    toolbox.wait_for(|phase| matches!(phase, Phase::Failed(_))).await;
    assert_eq!(lazy.starts(), 4, "one to learn, three to fail");
    assert_eq!(toolbox.tools().await, None, "as of any that is down");
    // Mended, and asked for.
    std::fs::remove_file(lazy.folder.path("die")).unwrap();
    toolbox.handle.start();
    toolbox.served_again().await;
}

#[tokio::test]
async fn a_reload_that_does_not_concern_it_lets_it_sleep() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let toolbox = lazy.asleep().await;
    toolbox.handle.start();
    assert!(has(toolbox.tools().await.as_ref(), "echo"));
    let seen = toolbox.handle.snapshot().await.unwrap();
    assert_eq!((seen.phase, seen.processes.len(), lazy.starts()), (Phase::Asleep, 0, 1));
}

#[tokio::test]
async fn one_that_takes_the_place_of_another_is_looked_at_once() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let mut old = lazy.asleep().await;
    let (mut changed, task) = (lazy.config.clone(), old.task.take());
    // What the digest does not know of.
    changed
        .env
        .0
        .insert("STARTS_FILE".into(), lazy.folder.path("again").display().to_string());
    let new = Hosted::start_after(changed, task);
    old.handle.stop(Duration::from_secs(1));
    new.wait_for(|phase| *phase == Phase::Asleep).await;
    assert_eq!(
        std::fs::read_to_string(lazy.folder.path("again"))
            .unwrap()
            .lines()
            .count(),
        1
    );
    assert_eq!(lazy.starts(), 1);
}

#[tokio::test]
async fn calls_that_a_predecessor_left_wake_it() {
    let lazy = Lazy::new(|_| json!({})).learned().await;
    let mut old = Hosted::start(moody(&json!({}))).ready().await;
    let in_hand = old.send("sleep", json!({"seconds": 0.5}));
    let waiting = old.send("echo", json!({"n": 1}));
    old.seen("a call that waits", |seen| seen.pending == 1).await;
    let new = Hosted::start_after(lazy.config.clone(), old.task.take());
    old.handle.stop(Duration::from_secs(10));
    assert_eq!(in_hand.get().await, Ok(json!("slept")));
    assert_eq!(waiting.get().await, Ok(json!({"n": 1})));
    new.wait_for(|phase| *phase == Phase::Ready).await;
    assert_eq!(lazy.starts(), 2);
}

#[tokio::test]
async fn a_run_once_toolbox_is_asked_for_its_tools_before_its_first_call_and_not_before() {
    let mut lazy = Lazy::new(|_| json!({}));
    lazy.config.mode = Mode::Oneshot;
    lazy.config.processes = 2;
    let lazy = lazy.learned_oneshot().await;
    let toolbox = lazy.asleep().await;
    assert!(has(toolbox.tools().await.as_ref(), "echo"));
    assert_eq!(lazy.starts(), 1);
    assert_eq!(toolbox.call("echo", json!({"n": 1})).await, Ok(json!({"n": 1})));
    toolbox.wait_for(|phase| *phase == Phase::Ready).await;
    // One to learn, one to be asked again, one for the call.
    eventually("three were started", || lazy.processes().len() == 3).await;
}

impl Lazy {
    async fn learned_oneshot(self) -> Self {
        let mut toolbox = self.host();
        toolbox.wait_for(|phase| *phase == Phase::Ready).await;
        toolbox.stop(Duration::from_secs(1)).await;
        assert_eq!(self.starts(), 1);
        self
    }

    fn processes(&self) -> Vec<i32> {
        pids(&self.folder.path("starts"))
    }
}

/// The processes that noted their start in `file`.
fn pids(file: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[tokio::test]
async fn a_call_whose_time_is_over_before_the_program_is_up_leaves_it_up_for_the_next() {
    let mut lazy = Lazy::new(|folder| json!({"wait_for_file": folder.path("go")}));
    std::fs::write(lazy.folder.path("go"), "").unwrap();
    lazy = lazy.learned().await;
    std::fs::remove_file(lazy.folder.path("go")).unwrap();
    lazy.config.timeout = Duration::from_millis(300);
    let mut toolbox = lazy.asleep().await;
    let late = toolbox.call("echo", json!({})).await;
    assert_eq!(late, Err("TimeoutError: 'echo' did not answer within 300ms".into()));
    std::fs::write(lazy.folder.path("go"), "").unwrap();
    toolbox = toolbox.ready().await;
    toolbox.served_again().await;
    assert_eq!(lazy.starts(), 2);
}
