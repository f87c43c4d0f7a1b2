//! One task a toolbox, owning all its state: processes, queue, calls in flight, tools.
//!
//! # Theory of operation
//!
//! A [`ToolboxHandle`] is a mailbox. Behind it a task waits for whichever comes first: a control
//! message, calls, an event of one of its processes, or a deadline. Each wakes it once; it changes
//! its state, hands waiting calls to free processes, and waits again. It never waits *for* a
//! process: writing, reading and exits are all polled together ([`Process::poll_event`]), so a
//! process that does nothing costs its own calls and nothing else.
//!
//! A call is owed an answer by whoever holds its [`ReplyTo`]: the queue, then a process's duties.
//! Its deadline runs from its arrival. At the deadline it is answered and its id stays behind as
//! *abandoned*: the late answer finds nobody, and a process that is still busy a grace later is
//! replaced. When a process ends, what was in it is answered at once.
//!
//! A toolbox need not have a process: a lazy one before its first call, or one that nobody has called for long (`resting`).
//! Its tools stay published, and a call starts it.
//!
//! A panic in here is a fault of toolhost. It costs the calls at hand and the processes, as a crash of the toolbox would,
//! and the toolbox is started again by the same rules (`fault`).
//!
//! Nothing here knows the bus.
//!
//! [`Process::poll_event`]: crate::process::Process::poll_event
//! [`ReplyTo`]: crate::tools::outcome::ReplyTo

mod answers;
mod calls;
mod commands;
mod describing;
mod expiry;
mod fault;
mod kept;
pub mod lifecycle;
pub mod load;
pub mod orders;
mod queue;
mod refusals;
pub mod restart;
mod resting;
mod showing;
pub mod status;
mod stderr;
mod tail;
mod toolbox;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::config::ToolboxConfig;
use crate::process::guard::Guard;
use crate::state_folder::StateFolder;
use crate::tools::outcome::{Call, CallError};
use crate::tools::tool::ToolSet;
use lifecycle::Grace;
use load::{HostLoad, Load};
use orders::{Order, OrderEnd};
use refusals::Refusals;
use status::{Brief, Snapshot};

/// Calls on their way into the task, beside those that wait inside it. As many as may wait, where
/// that is more: a burst that fits into the queue must fit through its door.
const MAILBOX: usize = 1024;

/// What a toolbox's task is asked beside calls.
#[derive(Debug)]
pub(super) enum Control {
    /// Describe anew.
    Describe(oneshot::Sender<Option<Arc<ToolSet>>>, Patience),
    /// Show yourself.
    Snapshot(oneshot::Sender<Snapshot>),
    /// Start what failed or waits, unless its owner stopped it. What rests goes on resting.
    Start,
    /// Do what its owner asks.
    Order(Order, Grace, oneshot::Sender<OrderEnd>),
    /// Stop, with this long on each rung of the ladder, and end the task.
    Stop(Duration),
}

/// The mailbox of a toolbox. Cheap to clone; the toolbox stops when asked, or when the last handle goes.
#[derive(Debug, Clone)]
pub struct ToolboxHandle {
    calls: mpsc::Sender<Call>,
    load: Load,
    refusals: Refusals,
    control: mpsc::UnboundedSender<Control>,
    brief: watch::Receiver<Brief>,
}

/// What a toolbox needs of the host beside its configuration.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Ends the children of a host that is killed.
    pub guard: Guard,
    /// Counted up after each change of any toolbox's tools or state: whoever sees the count sees the change.
    pub changes: Arc<AtomicU64>,
    /// The bytes of the calls on hand, of all toolboxes together.
    pub load: HostLoad,
    /// Where the tools of lazy toolboxes are kept; `None`: nowhere.
    pub state: Option<StateFolder>,
}

/// The toolbox whose place another one takes.
#[derive(Debug)]
pub struct Predecessor {
    /// Its task.
    pub task: JoinHandle<Vec<Call>>,
    /// What it published last: so does its successor until it has described itself, and no call falls between.
    pub published: Option<Arc<ToolSet>>,
}

/// How long whoever wants to know the tools of a toolbox waits while it takes another one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As for one that is busy: then what the other one published will do.
    Short,
    /// Until it has described itself, or had the time for it.
    Long,
}

/// Starts the task of a toolbox, and its processes once `after` has ended: the toolbox it takes the
/// place of, whose unsent calls it takes over.
///
/// The task's own result are the calls that no process was asked.
pub fn start(
    config: ToolboxConfig,
    surroundings: &Surroundings,
    after: Option<Predecessor>,
) -> (ToolboxHandle, JoinHandle<Vec<Call>>) {
    let (calls, call_mail) = mpsc::channel(config.max_pending.max(MAILBOX));
    let (control, control_mail) = mpsc::unbounded_channel();
    // From the first moment on: its task may take a while to be run.
    let (brief_out, brief) = watch::channel(Brief {
        tools: after.as_ref().and_then(|after| after.published.clone()),
        ..Brief::default()
    });
    let refusals = Refusals::of(&config.id);
    let mail = toolbox::Mail {
        calls: call_mail,
        control: control_mail,
    };
    let toolbox = toolbox::Toolbox::new(config, surroundings.clone(), mail, brief_out, refusals.clone(), after);
    let task = tokio::spawn(fault::keep(toolbox));
    let load = Load::new(surroundings.load.clone());
    (
        ToolboxHandle {
            calls,
            load,
            refusals,
            control,
            brief,
        },
        task,
    )
}

impl ToolboxHandle {
    /// Hands over a call. Never blocks: where the mailbox is full, or too much is on hand, the call is refused.
    pub fn call(&self, mut call: Call) {
        match self.load.take(call.bytes()) {
            Ok(share) => call.reply = call.reply.holding(share),
            Err(error) => return self.refuse(call, error),
        }
        match self.calls.try_send(call) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(call)) => {
                self.refuse(call, CallError::Overloaded(self.calls.max_capacity()));
            }
            // Dropping it answers it.
            Err(mpsc::error::TrySendError::Closed(_)) => {}
        }
    }

    fn refuse(&self, call: Call, error: CallError) {
        self.refusals.count(&error);
        call.reply.send(Err(error));
    }

    /// Its tools described anew; `None` where it is down.
    pub async fn describe(&self, patience: Patience) -> Option<Arc<ToolSet>> {
        let (answer, described) = oneshot::channel();
        self.control.send(Control::Describe(answer, patience)).ok()?;
        described.await.ok()?
    }

    /// How it is now; `None` once it has ended.
    pub async fn snapshot(&self) -> Option<Snapshot> {
        let (answer, snapshot) = oneshot::channel();
        self.control.send(Control::Snapshot(answer)).ok()?;
        snapshot.await.ok()
    }

    /// What is known of it without asking.
    pub fn brief(&self) -> watch::Receiver<Brief> {
        self.brief.clone()
    }

    /// Has it do what its owner asks; the end comes through what is returned, which may be dropped.
    pub fn order(&self, order: Order, grace: Grace) -> oneshot::Receiver<OrderEnd> {
        let (answer, end) = oneshot::channel();
        // One whose task has ended drops the answer, which tells.
        let _ended = self.control.send(Control::Order(order, grace, answer));
        end
    }

    /// Starts it again at once if it is down, unless its owner stopped it. What rests until it is called is not down.
    pub fn start(&self) {
        let _ended = self.control.send(Control::Start);
    }

    /// Stops it: `rung` is its time after stdin was closed, and again after SIGTERM.
    pub fn stop(&self, rung: Duration) {
        let _ended = self.control.send(Control::Stop(rung));
    }
}
