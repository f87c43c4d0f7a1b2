//! What the bridge notices and says beside its answers: malformed Messages, other hosts, old callers.

use std::time::Instant;

use tokio_tungstenite::tungstenite::Utf8Bytes;
use tracing::{error, info, warn};

use super::{Bridge, Outgoing, lock};
use crate::bus::mark::{asker, is_forwarded};
use crate::bus::message::{Empty, Malformed, Message, frame};
use crate::bus::service::{News, Other, Step};
use crate::bus::status::count;
use crate::bus::toolboxes::Toolboxes;
use crate::bus::topic::Topic;
use crate::bus::who::Caller;
use crate::config::{PredecessorTopics, ToolService};
use crate::json;
use crate::log_limit::{LeftOut, Naming};
use crate::migrate::usage;
use crate::topics::CALL;

/// Under which name a shared tool service is a conflict.
const TOOL_SERVICE: &str = "ovos.tools";

impl<T: Toolboxes, O: Outgoing> Bridge<T, O> {
    /// A malformed Message is dropped: nothing is derived from it, no answer, only a line in the log
    /// that helps to find its producer (OVOS-MSG-1 §6.1).
    pub(super) fn drop_malformed(&self, malformed: Option<Box<Malformed>>) {
        let Some(malformed) = malformed else {
            return;
        };
        count(&self.0.counters.malformed);
        let admitted = lock(&self.0.malformed_log).admit(malformed.why.kind(), Instant::now());
        if let Some(suppressed) = admitted {
            warn!(
                reason = %malformed.why,
                topic = malformed.topic.as_deref(),
                source = malformed.source.as_deref(),
                session_id = malformed.session_id.as_deref(),
                bytes = malformed.bytes,
                shape = %malformed.sample,
                suppressed,
                "malformed message dropped"
            );
        }
    }

    /// Another host's answer: does it claim what this one answers for?
    pub(super) fn overhear(&self, topic: Topic<'_>, frame: &Utf8Bytes) {
        if topic == Topic::ServiceAnswer && !lock(&self.0.service).serves() {
            // One that is silent only needs to know that somebody answers, not what.
            lock(&self.0.service).answer_overheard(false, Instant::now());
            return;
        }
        let message = match Message::parse(frame) {
            Ok(message) => message,
            Err(malformed) => return self.drop_malformed(Some(malformed)),
        };
        if topic == Topic::DiscoverAnswer {
            let toolbox_id = message.data.get("toolbox_id").and_then(json::string);
            match toolbox_id {
                Some(id) if self.0.toolboxes.hosts(&id) => self.conflict(&id, &message),
                Some(id) if self.carries() => self.host_discovered(&id, &message),
                _ => {}
            }
            return;
        }
        let (step, serves_in_any_case) = {
            let mut service = lock(&self.0.service);
            let to_probe = asker(&message).is_some_and(|id| id == service.instance());
            let step = service.answer_overheard(to_probe, Instant::now());
            (step, service.mode() == ToolService::Yes)
        };
        self.follow(step);
        if serves_in_any_case {
            self.conflict(TOOL_SERVICE, &message);
        }
    }

    fn conflict(&self, name: &str, message: &Message<'_>) {
        let source = message.context_field("source");
        let hint = match name {
            TOOL_SERVICE => "stop one of them, or set tool_service to auto",
            _ => "stop one of them, or give the toolbox another id",
        };
        lock(&self.0.conflicts).record(name, source.clone());
        self.hourly(&format!("conflict {name}"), |suppressed| {
            error!(
                name,
                source, hint, suppressed, "another host on this bus answers for the same name: callers get two answers"
            );
        });
    }

    /// Does what the tool service decided, except for the answer itself.
    pub(super) fn follow(&self, step: Step) {
        match step.news {
            Some(News::FellSilent(Other::ToolService)) => {
                warn!("another tool service answers ovos.tools.* on this bus: toolhost is silent there");
            }
            Some(News::FellSilent(Other::Toolhost)) => {
                warn!("another toolhost answers ovos.tools.* on this bus: this one is silent there");
            }
            Some(News::Resumed) => info!("no other tool service answers any more: toolhost answers ovos.tools.* again"),
            None => {}
        }
        if step.probe {
            self.probe("ovos.tools.list");
        }
    }

    /// Asks the bus who else is there.
    pub(super) fn probe(&self, topic: &str) {
        let context = self.announcement();
        self.0.answers.outgoing.send(frame(topic, &Empty, &context).into());
    }

    /// Counts a call, and says whether it is answered, by the policy for predecessor topics (OVOS-TOOLS-1 §6).
    pub(super) fn admits(&self, topic: Topic<'_>, toolbox_id: &str, message: &Message<'_>) -> bool {
        let predecessor = matches!(topic, Topic::Predecessor(_));
        let caller = Caller::of(message);
        // Of a forwarded call the caller did not choose the topic. The call it made was heard too, and counted there.
        let chose_topic = !is_forwarded(message, toolbox_id);
        if chose_topic {
            self.count_call(predecessor, toolbox_id, message, &caller);
        }
        if !predecessor {
            return true;
        }
        match self.0.toolboxes.predecessor_topics(toolbox_id) {
            PredecessorTopics::Ignore => return false,
            PredecessorTopics::Warn if chose_topic => self.name_old_caller(toolbox_id, message, &caller),
            PredecessorTopics::Warn | PredecessorTopics::Answer => {}
        }
        true
    }

    /// Counts a call to a toolbox of another host, which this one forwards.
    pub(super) fn count_foreign_call(&self, predecessor: bool, toolbox_id: &str, message: &Message<'_>) {
        self.count_call(predecessor, toolbox_id, message, &Caller::of(message));
    }

    fn count_call(&self, predecessor: bool, toolbox_id: &str, message: &Message<'_>, caller: &Caller<'_>) {
        let topic = if predecessor {
            usage::Topic::Predecessor
        } else {
            usage::Topic::Replacement
        };
        let keys = || message.context.iter().map(|(key, _)| key);
        let ledger = &self.0.ledger;
        ledger.count(toolbox_id, topic, &caller.who(message), keys);
    }

    fn name_old_caller(&self, toolbox_id: &str, message: &Message<'_>, caller: &Caller<'_>) {
        let context_keys = usage::joined(message.context.iter().map(|(key, _)| key));
        let (source, session_id) = caller.shown();
        let key = format!("{source:?} {session_id:?} {toolbox_id} {context_keys}");
        let naming = lock(&self.0.callers_log).admit(&key, Instant::now());
        let suppressed = match naming {
            Naming::Line(suppressed) => suppressed,
            Naming::Others(left_out) => return say_left_out(left_out),
            Naming::Nothing => return,
        };
        warn!(
            topic = %message.topic,
            source,
            session_id,
            context_keys,
            send_instead = %format!(
                r#"{CALL} {{"toolbox_id": "{toolbox_id}", "name": ..., "kwargs": {{...}}}}"#
            ),
            suppressed,
            "call on a predecessor topic"
        );
    }

    /// Lets `line` be written once an hour for each `key`.
    pub(super) fn hourly(&self, key: &str, line: impl FnOnce(u64)) {
        let admitted = lock(&self.0.hourly_log).admit(key, Instant::now());
        if let Some(suppressed) = admitted {
            line(suppressed);
        }
    }
}

/// There are more callers of predecessor topics than the log names in an hour.
fn say_left_out(left_out: LeftOut) {
    warn!(
        callers = left_out.keys,
        or_more = left_out.or_more,
        calls = left_out.times,
        "calls on predecessor topics by more callers than are named in an hour"
    );
}
