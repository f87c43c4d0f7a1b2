//! Starts toolboxes and calls them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolhost::config::{Kind, ToolboxConfig};
use toolhost::json::Text;
use toolhost::state_folder::StateFolder;
use toolhost::supervisor::status::{Phase, Snapshot};
use toolhost::supervisor::{self, Patience, Predecessor, Surroundings, ToolboxHandle};
use toolhost::tools::outcome::{Call, Outcome, ReplyTo};

/// No wait in these tests is longer, however busy the machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A folder of a test's own, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("toolhost-test-{}-{:08x}", std::process::id(), fastrand::u32(..));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The configuration of a toolbox that runs `argv`, with the file's defaults but for the times.
pub(crate) fn config(id: &str, argv: &[&str]) -> ToolboxConfig {
    let argv = argv.iter().map(|part| (*part).to_owned()).collect();
    ToolboxConfig {
        timeout: Duration::from_secs(20),
        describe_timeout: Duration::from_secs(20),
        ..ToolboxConfig::new(id, Kind::Command(argv), fixtures())
    }
}

/// The moody toolbox, with its own `config:`.
pub(crate) fn moody(own: &Value) -> ToolboxConfig {
    ToolboxConfig {
        config: Text::from(own),
        ..config("moody", &["python3", "moody.py"])
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A toolbox under test; its processes end with it.
pub(crate) struct Hosted {
    pub(crate) handle: ToolboxHandle,
    pub(crate) task: Option<JoinHandle<Vec<Call>>>,
}

impl Hosted {
    pub(crate) fn start(config: ToolboxConfig) -> Self {
        Self::start_after(config, None)
    }

    /// Starts in the place of the toolbox whose task is `after`.
    pub(crate) fn start_after(config: ToolboxConfig, after: Option<JoinHandle<Vec<Call>>>) -> Self {
        Self::start_with(config, &Surroundings::default(), after)
    }

    /// Starts with a state folder, as a host of its own.
    pub(crate) fn start_with_state(config: ToolboxConfig, state: &Path) -> Self {
        let surroundings = Surroundings {
            state: Some(StateFolder::at(state)),
            ..Surroundings::default()
        };
        Self::start_with(config, &surroundings, None)
    }

    fn start_with(config: ToolboxConfig, surroundings: &Surroundings, after: Option<JoinHandle<Vec<Call>>>) -> Self {
        let after = after.map(|task| Predecessor { task, published: None });
        let (handle, task) = supervisor::start(config, surroundings, after);
        Self {
            handle,
            task: Some(task),
        }
    }

    /// Sends a call; the answer comes through what is returned.
    pub(crate) fn send(&self, tool: &str, kwargs: Value) -> Pending {
        let (answer, answered) = oneshot::channel();
        let arrived = Instant::now();
        self.handle.call(Call {
            name: tool.to_owned(),
            kwargs: Some(Text::from(&kwargs)),
            context: None,
            arrived,
            reply: ReplyTo::new(move |outcome| _ = answer.send(outcome)),
        });
        Pending { answered, arrived }
    }

    /// Calls and waits: the result, or the error's text.
    pub(crate) async fn call(&self, tool: &str, kwargs: Value) -> Result<Value, String> {
        self.send(tool, kwargs).get().await
    }

    /// Waits until the toolbox's state is one `wanted` takes.
    pub(crate) async fn wait_for(&self, wanted: impl Fn(&Phase) -> bool) -> Phase {
        let mut brief = self.handle.brief();
        let waited = tokio::time::timeout(DEADLINE, brief.wait_for(|brief| wanted(&brief.phase))).await;
        waited.expect("the state in time").unwrap().phase.clone()
    }

    /// Looks at the toolbox until what it sees is as `wanted`.
    pub(crate) async fn seen(&self, what: &str, wanted: impl Fn(&Snapshot) -> bool) {
        let start = Instant::now();
        while !wanted(&self.handle.snapshot().await.unwrap()) {
            assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Calls until a call is served again, and tells how many were not.
    pub(crate) async fn served_again(&self) -> usize {
        let start = Instant::now();
        let mut refused = 0;
        while let Err(error) = self.call("echo", json!({})).await {
            assert!(start.elapsed() < DEADLINE, "not served within {DEADLINE:?}: {error}");
            refused += 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        refused
    }

    pub(crate) async fn ready(self) -> Self {
        self.wait_for(|phase| *phase == Phase::Ready).await;
        self
    }

    /// Waits until so many calls wait for a process.
    pub(crate) async fn pending(&self, wanted: usize) {
        let start = Instant::now();
        while self.handle.snapshot().await.unwrap().pending != wanted {
            assert!(start.elapsed() < DEADLINE, "never {wanted} calls waiting");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) async fn pid(&self) -> i32 {
        i32::try_from(self.call("pid", json!({})).await.unwrap().as_i64().unwrap()).unwrap()
    }

    /// Stops it, and gives back what it was not asked.
    pub(crate) async fn stop(&mut self, rung: Duration) -> Vec<Call> {
        self.handle.stop(rung);
        let task = self.task.take().unwrap();
        tokio::time::timeout(DEADLINE, task)
            .await
            .expect("stopped in time")
            .unwrap()
    }

    pub(crate) async fn tools(&self) -> Option<Vec<String>> {
        let described = tokio::time::timeout(DEADLINE, self.handle.describe(Patience::Short))
            .await
            .expect("described in time");
        described.map(|tools| tools.iter().map(|tool| tool.name.clone()).collect())
    }
}

/// A call under way.
pub(crate) struct Pending {
    answered: oneshot::Receiver<Outcome>,
    arrived: Instant,
}

impl Pending {
    pub(crate) async fn get(self) -> Result<Value, String> {
        self.timed().await.0
    }

    /// The answer and how long it took.
    pub(crate) async fn timed(self) -> (Result<Value, String>, Duration) {
        let outcome = tokio::time::timeout(DEADLINE, self.answered)
            .await
            .expect("an answer in time")
            .unwrap();
        let answer = outcome
            .map(|text| serde_json::from_str(text.as_str()).unwrap())
            .map_err(|error| error.to_string());
        (answer, self.arrived.elapsed())
    }
}

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process of that id exists and is no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}
