//! The toolboxes of this host, by id and by flat name: what the bus asks, answered by the supervisor.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::bus::toolboxes::{Listing, Toolboxes};
use crate::config::{Config, MigrateConfig, PredecessorTopics, Source, ToolService, ToolboxConfig};
use crate::json::Text;
use crate::process::aside::aside;
use crate::supervisor::status::Brief;
use crate::supervisor::{self, Patience, Predecessor, Surroundings, ToolboxHandle};
use crate::tools::catalog::Catalog;
use crate::tools::outcome::{Call, CallError};
use crate::tools::tool::ToolSet;

/// A toolbox's time on each rung of the ladder when it is removed or replaced.
pub const RELOAD_RUNG: Duration = Duration::from_secs(3);

/// How long a process may take to end once it was sent SIGKILL: one that this user may not signal never does.
const UNENDING: Duration = Duration::from_secs(3);

/// What a reload did, by toolbox_id, in the order of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Hosted from now on.
    pub added: Vec<String>,
    /// Hosted no longer.
    pub removed: Vec<String>,
    /// The file says something else of them: started anew, unless it is only of `predecessor_topics`.
    pub changed: Vec<String>,
    /// Left as they were.
    pub unchanged: Vec<String>,
    /// Whether the file says something else of the host itself: the tool service, what is forwarded, whether it is watched.
    pub settings: bool,
}

/// What the configuration says beyond single toolboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether `ovos.tools.*` is answered.
    pub tool_service: ToolService,
    /// Which calls to other hosts are forwarded.
    pub migrate: MigrateConfig,
    /// Every toolbox whose calls are counted.
    pub toolbox_ids: Vec<String>,
    /// Those hosted here whose predecessor topic is not answered. Nobody reads it: a change of it is one of the settings, and so
    /// told to the toolhosts that forward for them.
    pub ignoring: Vec<String>,
}

impl Settings {
    fn of(config: &Config) -> Self {
        Self {
            tool_service: config.tool_service,
            migrate: config.migrate.clone(),
            toolbox_ids: config.toolbox_ids().map(str::to_owned).collect(),
            ignoring: {
                let all = config.toolboxes.iter();
                let ignoring = all.filter(|toolbox| toolbox.predecessor_topics == PredecessorTopics::Ignore);
                ignoring.map(|toolbox| toolbox.id.clone()).collect()
            },
        }
    }
}

/// The reloads that were asked for. One after another is carried out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reloads {
    /// How many were asked for.
    pub begun: u64,
    /// How many of these are over.
    pub ended: u64,
    /// Whether the last one was refused: the file has faults.
    pub refused: bool,
}

/// Reads the configuration again; in words why it is refused.
pub type Loader = Box<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// The toolboxes of this host.
pub struct Registry {
    hosted: RwLock<Arc<Hosted>>,
    catalog: Mutex<(u64, Arc<Catalog>)>,
    surroundings: Surroundings,
    load: Loader,
    /// What the file last said of more than one toolbox.
    settings: watch::Sender<Settings>,
    /// The files whose change is a reason to reload; none where the file does not say so.
    watched: watch::Sender<Vec<Source>>,
    reloads: watch::Sender<Reloads>,
    /// The toolboxes' tasks, until everything is stopped. Held through a reload, so that there is one at a time.
    tasks: tokio::sync::Mutex<Option<Tasks>>,
}

/// The tasks of toolboxes, by toolbox_id; each gives back the calls it did not get to.
type Tasks = HashMap<String, JoinHandle<Vec<Call>>>;

/// One consistent set of toolboxes, in the order of the configuration.
#[derive(Default)]
struct Hosted {
    toolboxes: Vec<Arc<Toolbox>>,
    by_id: HashMap<String, Arc<Toolbox>>,
}

/// One toolbox as the host sees it.
pub struct Toolbox {
    /// What it was started with.
    pub config: ToolboxConfig,
    /// Its mailbox.
    pub handle: ToolboxHandle,
    brief: watch::Receiver<Brief>,
}

impl Toolbox {
    /// The same process, by another configuration that it is run alike by.
    fn with(&self, config: &ToolboxConfig) -> Arc<Self> {
        Arc::new(Self {
            config: config.clone(),
            handle: self.handle.clone(),
            brief: self.brief.clone(),
        })
    }

    /// Its tools as last described.
    pub fn tools(&self) -> Option<Arc<ToolSet>> {
        self.brief.borrow().tools.clone()
    }

    /// What is known of it.
    pub fn brief(&self) -> watch::Receiver<Brief> {
        self.brief.clone()
    }
}

impl Registry {
    /// Starts the toolboxes of `config`, side by side; `load` reads it again for a reload.
    pub async fn start(config: &Config, surroundings: Surroundings, load: Loader) -> Arc<Self> {
        let registry = Arc::new(Self {
            hosted: RwLock::default(),
            catalog: Mutex::new((u64::MAX, Arc::default())),
            surroundings,
            load,
            settings: watch::Sender::new(Settings::of(config)),
            watched: watch::Sender::default(),
            reloads: watch::Sender::default(),
            tasks: tokio::sync::Mutex::new(Some(HashMap::new())),
        });
        // Nothing was hosted before, so nothing ends.
        registry.apply(config, &mut *registry.tasks.lock().await);
        registry
    }

    /// Every toolbox, in the order of the configuration.
    pub fn toolboxes(&self) -> Vec<Arc<Toolbox>> {
        self.hosted().toolboxes.clone()
    }

    /// What the configuration says of more than one toolbox, also after a reload.
    pub fn settings(&self) -> watch::Receiver<Settings> {
        self.settings.subscribe()
    }

    /// The files to be watched as the configuration says, also after a reload, with what was read of them.
    pub fn watched(&self) -> watch::Receiver<Vec<Source>> {
        self.watched.subscribe()
    }

    /// The reloads there were and are.
    pub fn reloads(&self) -> watch::Receiver<Reloads> {
        self.reloads.subscribe()
    }

    /// Stops every toolbox, side by side, each with `rung` on each rung of the ladder. One whose process cannot be ended
    /// holds up nothing but a moment.
    pub async fn stop(&self, rung: Duration) {
        let tell = || {
            self.hosted()
                .toolboxes
                .iter()
                .for_each(|toolbox| toolbox.handle.stop(rung))
        };
        // Before the lock too: a reload may hold it for as long as what it removed takes to end.
        tell();
        // A reload that comes later finds nothing to start toolboxes with.
        let tasks = self.tasks.lock().await.take().unwrap_or_default();
        tell();
        let ladder = tokio::time::Instant::now() + rung * 2 + UNENDING;
        for (toolbox, mut task) in tasks {
            // Calls that no process was asked are answered by being dropped.
            if tokio::time::timeout_at(ladder, &mut task).await.is_err() {
                tracing::error!(
                    toolbox,
                    "its process cannot be ended: it runs as another user or waits for a device; it is left behind"
                );
                task.abort();
                let _calls = task.await;
            }
        }
    }

    /// Reads the configuration again and does what it says, as [`Toolboxes::reload`]; what changed by it.
    ///
    /// # Errors
    /// The faults of the file, which then changes nothing.
    pub async fn reload_telling(&self) -> Result<Changes, String> {
        let mut under_way = UnderWay::begin(&self.reloads);
        let changes = self.reload_when_it_is_its_turn().await;
        under_way.refused = changes.is_err();
        changes
    }

    async fn reload_when_it_is_its_turn(&self) -> Result<Changes, String> {
        // Read behind the lock: of two reloads at once the later one has the later file.
        let mut tasks = self.tasks.lock().await;
        // From a disk that may be slow.
        let config = aside(true, || (self.load)())
            .inspect_err(|why| tracing::error!(why, "reload refused, the old configuration goes on"))?;
        let (changes, ending) = self.apply(&config, &mut tasks);
        // One that failed or waits is tried again at once: its owner may just have mended it.
        self.hosted()
            .toolboxes
            .iter()
            .for_each(|toolbox| toolbox.handle.start());
        let ended = async move {
            for task in ending {
                let _calls = task.await;
            }
            // Not held while toolboxes describe themselves: the host may have to stop.
            drop(tasks);
        };
        tokio::join!(ended, self.describe_all(Patience::Long, |_, _| {}));
        tracing::info!(
            toolboxes = config.toolboxes.len(),
            forwarded = config.migrate.carried.len(),
            settings_changed = changes.settings,
            "reloaded"
        );
        Ok(changes)
    }

    /// Makes what is hosted what `config` says: only what changed is touched. Answers what did, and who is ending.
    fn apply(&self, config: &Config, tasks: &mut Option<Tasks>) -> (Changes, Vec<JoinHandle<Vec<Call>>>) {
        let mut changes = Changes::default();
        let Some(tasks) = tasks else {
            return (changes, Vec::new());
        };
        let old = self.hosted();
        let mut next = Hosted::default();
        let mut retired = Vec::new();
        for wanted in &config.toolboxes {
            let toolbox = match old.by_id.get(&wanted.id) {
                // One whose task ended, by a panic, is started anew like a changed one.
                Some(same) if same.config == *wanted && !has_ended(tasks, &wanted.id) => {
                    changes.unchanged.push(wanted.id.clone());
                    Arc::clone(same)
                }
                // The policy is the host's own affair: a process knows nothing of it.
                Some(same) if same.config.is_run_like(wanted) && !has_ended(tasks, &wanted.id) => {
                    changes.changed.push(wanted.id.clone());
                    same.with(wanted)
                }
                former => {
                    let list = match former {
                        Some(_) => &mut changes.changed,
                        None => &mut changes.added,
                    };
                    list.push(wanted.id.clone());
                    retired.extend(former.cloned());
                    let predecessor = former.and_then(|former| {
                        let task = tasks.remove(&wanted.id)?;
                        let published = former.tools();
                        Some(Predecessor { task, published })
                    });
                    self.start_one(wanted, predecessor, tasks)
                }
            };
            next.by_id.insert(wanted.id.clone(), Arc::clone(&toolbox));
            next.toolboxes.push(toolbox);
        }
        let removed = old
            .toolboxes
            .iter()
            .filter(|toolbox| !next.by_id.contains_key(&toolbox.config.id));
        for toolbox in removed {
            changes.removed.push(toolbox.config.id.clone());
            retired.push(Arc::clone(toolbox));
        }
        // First the new ones take the calls, then the old ones are stopped: no call falls between.
        *self.hosted.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        let stop = |toolbox: Arc<Toolbox>| {
            tracing::info!(toolbox = toolbox.config.id, "changed or removed, stopping");
            toolbox.handle.stop(RELOAD_RUNG);
            // One that is replaced is waited for by the one that takes its place.
            let replaced = self.hosts(&toolbox.config.id);
            (!replaced).then(|| tasks.remove(&toolbox.config.id)).flatten()
        };
        let ending = retired.into_iter().filter_map(stop).collect();
        self.surroundings.changes.fetch_add(1, Ordering::Release);
        self.settings.send_if_modified(|settings| {
            let new = Settings::of(config);
            let differs = *settings != new;
            // What it says of single toolboxes is told of them.
            changes.settings = settings.tool_service != new.tool_service || settings.migrate != new.migrate;
            *settings = new;
            differs
        });
        let watched = if config.watch {
            config.sources.0.clone()
        } else {
            Vec::new()
        };
        self.watched.send_if_modified(|before| {
            let differs = *before != watched;
            changes.settings |= before.is_empty() != watched.is_empty();
            *before = watched;
            differs
        });
        (changes, ending)
    }

    /// Starts `wanted`, once `after` has ended: the toolbox whose place it takes.
    fn start_one(&self, wanted: &ToolboxConfig, after: Option<Predecessor>, tasks: &mut Tasks) -> Arc<Toolbox> {
        let (handle, task) = supervisor::start(wanted.clone(), &self.surroundings, after);
        tasks.insert(wanted.id.clone(), task);
        Arc::new(Toolbox {
            config: wanted.clone(),
            brief: handle.brief(),
            handle,
        })
    }

    fn hosted(&self) -> Arc<Hosted> {
        Arc::clone(&self.hosted.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn catalog(&self) -> Arc<Catalog> {
        let generation = self.surroundings.changes.load(Ordering::Acquire);
        let mut cached = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.0 != generation {
            let hosted = self.hosted();
            let known: Vec<_> = hosted
                .toolboxes
                .iter()
                .filter_map(|toolbox| Some((toolbox.config.id.as_str(), toolbox.tools()?)))
                .collect();
            let names = known
                .iter()
                .map(|(id, tools)| (*id, tools.iter().map(|tool| tool.name.as_str())));
            *cached = (generation, Arc::new(Catalog::new(names)));
        }
        Arc::clone(&cached.1)
    }

    fn owner(&self, name: &str) -> Result<Arc<Toolbox>, CallError> {
        let catalog = self.catalog();
        let owner = catalog.owner(name)?;
        self.hosted()
            .by_id
            .get(owner)
            .cloned()
            .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
    }

    /// Describes every toolbox anew, side by side.
    async fn describe_all(&self, patience: Patience, mut answer: impl FnMut(&Toolbox, Option<Arc<ToolSet>>)) {
        let hosted = self.hosted();
        let describe = |toolbox: Arc<Toolbox>| async move {
            let tools = toolbox.handle.describe(patience).await;
            (toolbox, tools)
        };
        let mut described: FuturesUnordered<_> = hosted.toolboxes.iter().cloned().map(describe).collect();
        while let Some((toolbox, tools)) = described.next().await {
            answer(&toolbox, tools);
        }
    }
}

impl Toolboxes for Registry {
    fn hosts(&self, toolbox_id: &str) -> bool {
        self.hosted().by_id.contains_key(toolbox_id)
    }

    fn call(&self, toolbox_id: &str, call: Call) {
        match self.hosted().by_id.get(toolbox_id) {
            Some(toolbox) => toolbox.handle.call(call),
            None => call
                .reply
                .send(Err(CallError::Unavailable("removed by a reload".to_owned()))),
        }
    }

    fn invoke(&self, call: Call) {
        match self.owner(&call.name) {
            Ok(toolbox) => toolbox.handle.call(call),
            Err(error) => call.reply.send(Err(error)),
        }
    }

    fn get(&self, name: &str) -> Result<Text, CallError> {
        let toolbox = self.owner(name)?;
        let tools = toolbox.tools().unwrap_or_default();
        tools
            .get(name)
            .map(|tool| tool.definition.clone())
            .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
    }

    fn list(&self) -> Text {
        let hosted = self.hosted();
        let listings = hosted.toolboxes.iter().filter_map(|toolbox| toolbox.tools());
        Text::from(join_arrays(listings.map(|tools| tools.listing().clone())))
    }

    async fn discover(&self, mut answer: impl FnMut(Listing) + Send + 'static) {
        self.describe_all(Patience::Short, |toolbox, tools| {
            let tools = tools.map_or_else(|| Text::from("[]".to_owned()), |tools| tools.listing().clone());
            answer(Listing {
                toolbox_id: toolbox.config.id.clone(),
                tools,
            });
        })
        .await;
    }

    async fn reload(&self) -> Result<(), String> {
        self.reload_telling().await.map(|_| ())
    }

    fn is_ready(&self) -> bool {
        // What is started by its first call is ready for it as it is.
        let ready = |toolbox: &Arc<Toolbox>| toolbox.config.is_lazy() || toolbox.brief.borrow().settled;
        self.hosted().toolboxes.iter().all(ready)
    }

    fn predecessor_topics(&self, toolbox_id: &str) -> PredecessorTopics {
        self.hosted()
            .by_id
            .get(toolbox_id)
            .map(|toolbox| toolbox.config.predecessor_topics)
            .unwrap_or_default()
    }
}

/// A reload, until dropped: by a panic of ours too.
struct UnderWay<'a> {
    reloads: &'a watch::Sender<Reloads>,
    refused: bool,
}

impl<'a> UnderWay<'a> {
    fn begin(reloads: &'a watch::Sender<Reloads>) -> Self {
        reloads.send_modify(|reloads| reloads.begun += 1);
        let refused = false;
        Self { reloads, refused }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.reloads.send_modify(|reloads| {
            reloads.ended += 1;
            reloads.refused = self.refused;
        });
    }
}

/// Whether the task of a toolbox is over though nobody stopped it: by a panic.
fn has_ended(tasks: &Tasks, toolbox_id: &str) -> bool {
    tasks.get(toolbox_id).is_some_and(JoinHandle::is_finished)
}

/// `[a]` and `[b]` as `[a,b]`.
fn join_arrays(arrays: impl Iterator<Item = Text>) -> String {
    let mut joined = String::from("[");
    for array in arrays {
        let inner = array
            .as_str()
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or_default();
        if !inner.is_empty() && joined.len() > 1 {
            joined.push(',');
        }
        joined.push_str(inner);
    }
    joined.push(']');
    joined
}
