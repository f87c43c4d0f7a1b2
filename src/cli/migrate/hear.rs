//! What a frame says to `toolhost migrate watch`. Pure.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use crate::bus::mark::{self, FORWARDS, LONGEST_INSTANCE, PROBE, asker, is_probe};
use crate::bus::message::Message;
use crate::bus::topic::{Peek, Topic, peek, valid_type};
use crate::bus::who::Caller;
use crate::json::{self, Members};
use crate::migrate::carry::Way;
use crate::migrate::sign::sign;
use crate::migrate::usage::{Moment, Topic as CallTopic};
use crate::migrate::watch::{Heard, MOST_TOOLBOXES, Mark, Said, Watch};

/// Bytes of a toolbox_id; longer ones are somebody's joke.
const LONGEST_ID: usize = 200;

/// Tells `watch` what `frame` says, whatever it is.
pub(super) fn hear(watch: &mut Watch, frame: &str, now: Moment) {
    let Peek::Topic(topic) = peek(frame) else { return };
    let topic = Topic::of(&topic);
    if !concerns_calls(topic) {
        return;
    }
    let Ok(message) = Message::parse(frame) else { return };
    let named = message.data.get("toolbox_id").and_then(json::string);
    let named = named.as_deref();
    match topic {
        Topic::Discover => hear_discover(watch, &message),
        Topic::DiscoverAnswer => {
            if let Some(id) = named.filter(|id| fits(id)) {
                let sign = message.data.get("tools").and_then(sign);
                watch.discovered(id, sign, print(message.context_text), now);
            }
        }
        Topic::Call => hear_call(watch, named, CallTopic::Replacement, &message, now),
        Topic::Predecessor(id) => hear_call(watch, Some(id), CallTopic::Predecessor, &message, now),
        Topic::CallAnswer => hear_answer(watch, named, CallTopic::Replacement, &message, now),
        Topic::PredecessorAnswer(id) => hear_answer(watch, Some(id), CallTopic::Predecessor, &message, now),
        _ => {}
    }
}

fn concerns_calls(topic: Topic<'_>) -> bool {
    let call = matches!(topic, Topic::Call | Topic::Predecessor(_));
    let answer = matches!(topic, Topic::CallAnswer | Topic::PredecessorAnswer(_));
    call || answer || matches!(topic, Topic::Discover | Topic::DiscoverAnswer)
}

/// A toolhost that asks tells what it forwards.
fn hear_discover(watch: &mut Watch, message: &Message<'_>) {
    let Some(by) = asker(message).filter(|by| by.len() <= LONGEST_INSTANCE) else {
        return;
    };
    let ways = message.context.get(FORWARDS).map_or("{}", |raw| raw.get());
    let ways = Members::parse(ways).unwrap_or_default();
    // One that cannot be understood is not worth the others.
    let ways = ways.iter().take(MOST_TOOLBOXES).filter(|(id, _)| fits(id));
    let ways: Vec<(&str, Way)> = ways
        .filter_map(|(id, way)| Some((id, serde_json::from_str(way.get()).ok()?)))
        .collect();
    watch.announced(by_digest(&by), ways.iter().copied());
}

fn hear_call(watch: &mut Watch, named: Option<&str>, topic: CallTopic, message: &Message<'_>, now: Moment) {
    let Some(toolbox_id) = named.filter(|id| fits(id)) else {
        return;
    };
    let heard = Heard {
        toolbox_id,
        topic,
        print: print(Some(&message.reply_context())),
        mark: mark(message, toolbox_id),
    };
    if let Some(mark) = heard.mark {
        // Whoever asked has been heard already.
        return watch.forwarded(&heard, mark, now);
    }
    if is_probe(message) {
        return watch.probed(&heard, now);
    }
    let caller = Caller::of(message);
    let keys = || message.context.iter().map(|(key, _)| key);
    watch.called(&heard, &caller.who(message), keys, now);
}

fn hear_answer(watch: &mut Watch, named: Option<&str>, topic: CallTopic, message: &Message<'_>, now: Moment) {
    let Some(toolbox_id) = named.filter(|id| fits(id)) else {
        return;
    };
    let heard = Heard {
        toolbox_id,
        topic,
        print: print(message.context_text),
        mark: mark(message, toolbox_id),
    };
    let said = match message.data.get("error") {
        Some(_) if message.context.get(PROBE).is_some() => Said::ToProbe,
        Some(_) => Said::Error,
        None => Said::Result,
    };
    watch.answered(&heard, said, now);
}

/// Whether `toolbox_id` can stand in a topic.
fn fits(toolbox_id: &str) -> bool {
    toolbox_id.len() <= LONGEST_ID && valid_type(toolbox_id) && !toolbox_id.contains(['.', ':'])
}

/// The mark, where this very call was forwarded, or this answers it: a tool carries it on into calls of its own.
fn mark(message: &Message<'_>, toolbox_id: &str) -> Option<Mark> {
    let call_topic = message.topic.strip_suffix(".response").unwrap_or(&message.topic);
    let mark = mark::Mark::of(message).filter(|mark| mark.is_on(call_topic, toolbox_id))?;
    Some(Mark {
        by: by_digest(&mark.by),
        call: mark.call,
    })
}

/// What the context of an answer has in common with the one that can be expected, whoever gives it.
fn print(context: Option<&str>) -> u64 {
    mark::digest(context.unwrap_or("{}"), &Seed::default())
}

fn by_digest(instance: &str) -> u64 {
    Seed::default().hash_one(instance)
}

/// The same each time: what was heard is compared with what is heard later.
type Seed = BuildHasherDefault<DefaultHasher>;

#[cfg(test)]
#[path = "hear_tests.rs"]
mod tests;
