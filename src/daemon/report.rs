//! What the host says of itself: the banner and the status document.

use std::time::Instant;

use super::Host;
use crate::bus::link::Link;
use crate::bus::status::ServiceStatus;
use crate::cli::banner::{self, State};
use crate::config::Kind;
use crate::control::status::{
    Bus, BusState, Calls, Host as HostStatus, Latency, Messages, Process, Status, ToolService, Toolbox, ToolboxState,
};
use crate::registry;
use crate::supervisor::status::{Phase, Snapshot};
use crate::tools::tool::ToolSet;

/// The banner of `toolhost run`.
pub(super) fn banner(host: &Host, color: bool) -> String {
    let url = host.bus.url.clone();
    let bus = match (host.bus.embedded, host.bus.link.borrow().is_connected()) {
        (true, _) => banner::Bus::Embedded(url),
        (false, true) => banner::Bus::Joined(url),
        (false, false) => banner::Bus::Unreached(url),
    };
    let toolboxes: Vec<_> = host
        .registry
        .toolboxes()
        .iter()
        .map(|toolbox| banner_row(toolbox))
        .collect();
    banner::banner(&bus, &toolboxes, color)
}

fn banner_row(toolbox: &registry::Toolbox) -> banner::Toolbox {
    let brief = toolbox.brief().borrow().clone();
    let state = match (brief.phase, &brief.tools) {
        (Phase::Ready, Some(tools)) => State::Up(definitions(tools)),
        (Phase::Asleep, Some(tools)) => State::Asleep(definitions(tools)),
        (Phase::Backoff(why), _) => State::Down(format!("{why}; tried again")),
        (Phase::Failed(why), _) => State::Down(why),
        (Phase::Stopping | Phase::Stopped, _) => State::Down("stopped by its owner".to_owned()),
        _ => State::Down("still starting".to_owned()),
    };
    banner::Toolbox {
        toolbox_id: toolbox.config.id.clone(),
        state,
    }
}

fn definitions(tools: &ToolSet) -> Vec<serde_json::Value> {
    let definitions = tools.iter().map(|tool| serde_json::from_str(tool.definition.as_str()));
    definitions.filter_map(Result::ok).collect()
}

/// The status document.
pub(super) async fn status(host: &Host) -> Status {
    let mut toolboxes = Vec::new();
    for toolbox in host.registry.toolboxes() {
        toolboxes.push(toolbox_status(&toolbox).await);
    }
    let bridge = host.bus.bridge.status();
    let conflicts = bridge.conflicts.iter().map(|conflict| match &conflict.source {
        Some(source) => format!("{} ({} answers by '{source}')", conflict.name, conflict.seen),
        None => format!("{} ({} answers)", conflict.name, conflict.seen),
    });
    Status {
        host: HostStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_seconds: host.started.elapsed().as_secs(),
            config: host.config.file.display().to_string(),
            bus: bus_status(host),
            tool_service: match bridge.tool_service {
                ServiceStatus::Off => ToolService::Off,
                ServiceStatus::Serving => ToolService::Answering,
                ServiceStatus::Silent(_) => ToolService::Silent,
            },
            conflicts: conflicts.collect(),
            messages: Messages {
                received: bridge.handled,
                sent: bridge.answers,
                malformed: bridge.malformed,
            },
        },
        toolboxes,
        forwards: host.bus.bridge.carried(),
        migration: super::usage::status(host),
    }
}

fn bus_status(host: &Host) -> Bus {
    let link = host.bus.link.borrow().clone();
    let (state, since, last_error) = match link {
        Link::Connected { since } if host.bus.embedded => (BusState::Embedded, since, None),
        Link::Connected { since } => (BusState::Connected, since, None),
        Link::Trying { since, error } => (BusState::Connecting, since, error),
        Link::Stopped => (BusState::Connecting, Instant::now(), Some("stopped".to_owned())),
    };
    Bus {
        url: host.bus.url.clone(),
        state,
        since_seconds: since.elapsed().as_secs(),
        last_error,
    }
}

async fn toolbox_status(toolbox: &registry::Toolbox) -> Toolbox {
    let tools = toolbox.tools().map_or(0, |tools| tools.len());
    let snapshot = toolbox.handle.snapshot().await;
    let phase = snapshot.as_ref().map_or_else(
        || Phase::Failed("its task has ended; a reload starts it anew".to_owned()),
        |snapshot| snapshot.phase.clone(),
    );
    let (state, reason) = match phase {
        Phase::Starting => (ToolboxState::Starting, None),
        Phase::Ready => (ToolboxState::Ready, None),
        Phase::Asleep => (ToolboxState::Asleep, Some("started by the next call".to_owned())),
        Phase::Backoff(why) => (ToolboxState::Backoff, Some(why)),
        Phase::Failed(why) => (ToolboxState::Failed, Some(why)),
        Phase::Stopping => (ToolboxState::Stopping, None),
        Phase::Stopped => (ToolboxState::Stopped, Some("by its owner".to_owned())),
    };
    let counted = |count: fn(&Snapshot) -> u64| snapshot.as_ref().map_or(0, count);
    Toolbox {
        toolbox_id: toolbox.config.id.clone(),
        program: program(&toolbox.config.kind),
        state,
        reason,
        retry_in_ms: snapshot
            .as_ref()
            .and_then(|snapshot| u64::try_from(snapshot.retry_in?.as_millis()).ok()),
        tools,
        processes: snapshot.as_ref().map(processes).unwrap_or_default(),
        restarts: counted(|snapshot| snapshot.restarts),
        calls: Calls {
            ok: counted(|snapshot| snapshot.succeeded),
            error: counted(|snapshot| snapshot.failed),
            pending: snapshot.as_ref().map_or(0, |snapshot| snapshot.pending),
        },
        latency: snapshot
            .and_then(|snapshot| snapshot.latency)
            .map(|(median, worst)| Latency {
                p50_ms: median.as_secs_f64() * 1000.0,
                p99_ms: worst.as_secs_f64() * 1000.0,
            }),
    }
}

/// What runs it, for people; commands differ from call to call.
fn program(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Command(argv) => argv.first().cloned(),
        Kind::Script(script) => Some(script.path.display().to_string()),
        Kind::Tools(_) => None,
    }
}

fn processes(snapshot: &Snapshot) -> Vec<Process> {
    let process = |process: &crate::supervisor::status::ProcessSnapshot| Process {
        pid: process.pid.unsigned_abs(),
        uptime_seconds: process.uptime.as_secs(),
        in_flight: process.in_flight,
    };
    snapshot.processes.iter().map(process).collect()
}
