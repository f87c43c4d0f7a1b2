//! What somebody who only listens can say of the call topics on a bus: who calls, and what the host behind answers. Pure:
//! the time is handed in.
//!
//! Nothing here changes by the clock alone, only by what is heard or asked. So each Message costs the toolbox it is of, and
//! there is something to tell only of toolboxes that turned out to be otherwise than they were told to be.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use super::carry::Way;
use super::sign::Sign;
use super::usage::{Caller, MOST_CALLERS, Moment, Topic, Usage, Who};
use crate::topics::predecessor;

mod host;

use host::{By, Forwarded, Host};

/// Toolboxes that are told apart: anybody can invent topics.
pub const MOST_TOOLBOXES: usize = 1024;

/// What the host of a toolbox answers.
///
/// A host that has definitions from before OVOS-TOOLS-1 knows the predecessor only, one that has definitions of
/// OVOS-TOOLS-1 the replacement; whether the predecessor too, only calls show. A call proves that a topic is answered when
/// the host's own answer to it is heard. It takes more to prove that a topic is *not* answered, since a tool may be slow and
/// a host away for a moment: three calls in a row, with a sign of life of the host before the first, between them and after
/// the last, none answered within ten seconds, or within twice the longest time this host has ever taken. One answer, however
/// late, takes that back. A host that gave no sign of life for a minute and a half, though asked, has gone, and so has what
/// was known of it; one whose definitions are of the other kind is another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Both topics.
    Both,
    /// The predecessor only.
    OldOnly,
    /// The replacement only.
    NewOnly,
    /// The predecessor; of the replacement nothing is known yet.
    Old,
    /// The replacement; of the predecessor nothing is known yet.
    New,
    /// There is no sign of a host.
    Nothing,
}

/// One predecessor topic on the bus.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watched {
    /// `ovos.persona.tools.<toolbox_id>.call`
    pub topic: String,
    /// The toolbox it is of.
    pub toolbox_id: String,
    /// What its host answers itself.
    pub host: Answers,
    /// The ways in which toolhosts were seen to forward calls for it, or said that they do.
    pub forwarded: Vec<Way>,
    /// Calls on the predecessor topic.
    pub predecessor_calls: u64,
    /// Calls on the replacement.
    pub replacement_calls: u64,
    /// Who called, the last to use the predecessor first.
    pub callers: Vec<Caller>,
}

/// A Message on a call topic or its answer topic.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    /// The toolbox that is called, or that answers.
    pub toolbox_id: &'a str,
    /// The topic of the call.
    pub topic: Topic,
    /// What an answer has in common with the call it is to, and a call that was forwarded with the one that was asked.
    pub print: u64,
    /// The mark, where this call was forwarded, or this answer is to one that was.
    pub mark: Option<Mark>,
}

/// The mark of a forwarded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// A digest of the instance that forwarded it.
    pub by: u64,
    /// Its number there.
    pub call: u64,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// A result.
    Result,
    /// An error. One that forwards has errors of its own.
    Error,
    /// That it was asked by a toolhost for a tool that does not exist: nobody but a host says so.
    ToProbe,
}

/// Everything that was heard.
#[derive(Debug, Default)]
pub struct Watch {
    toolboxes: BTreeMap<String, Entry>,
    /// Those of which there may be something new to tell.
    changed: BTreeSet<String>,
    /// Whether one had no room.
    full: bool,
    /// When the hosts should be asked, for the sake of calls that wait.
    due: Option<u64>,
}

#[derive(Debug, Default)]
struct Entry {
    host: Host,
    usage: Usage,
    /// How many have called, and who of them on the predecessor topic: as many as can be told apart.
    callers: usize,
    on_predecessor: BTreeSet<u64>,
    /// What was last told of it.
    told: Option<Face>,
}

/// What makes it worth telling: its answers, how it is forwarded, its callers, those on the predecessor topic.
type Face = (Answers, Forwarded, [usize; 2]);

impl Entry {
    fn face(&self) -> Face {
        let callers = [self.callers, self.on_predecessor.len()];
        (self.host.answers(), self.host.forwarded(), callers)
    }

    fn called<'k, I: Iterator<Item = &'k str>>(
        &mut self,
        heard: &Heard<'_>,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
        now: Moment,
    ) {
        let mut new = false;
        let keys = || {
            new = true;
            keys()
        };
        self.usage.count(heard.toolbox_id, heard.topic, who, keys, now);
        self.callers = (self.callers + usize::from(new)).min(MOST_CALLERS);
        if heard.topic == Topic::Predecessor && self.on_predecessor.len() < MOST_CALLERS {
            let mut hasher = DefaultHasher::new();
            (who.source, who.session_id).hash(&mut hasher);
            self.on_predecessor.insert(hasher.finish());
        }
    }
}

impl Watch {
    /// A host answered the discover that `print` stands for.
    pub fn discovered(&mut self, toolbox_id: &str, sign: Option<Sign>, print: u64, now: Moment) {
        self.at(toolbox_id, |entry| entry.host.discovered(sign, print, now.steady));
    }

    /// Somebody called a toolbox.
    pub fn called<'k, I: Iterator<Item = &'k str>>(
        &mut self,
        heard: &Heard<'_>,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
        now: Moment,
    ) {
        let due = self.at(heard.toolbox_id, |entry| {
            entry.called(heard, who, keys, now);
            entry.host.called(heard.topic, heard.print, By::Caller, now.steady)
        });
        self.is_due(due.flatten());
    }

    /// A toolhost asked for a tool that does not exist, to see whether the topic is answered.
    pub fn probed(&mut self, heard: &Heard<'_>, now: Moment) {
        let due = self.at(heard.toolbox_id, |entry| {
            entry.host.called(heard.topic, heard.print, By::Toolhost, now.steady)
        });
        self.is_due(due.flatten());
    }

    /// A toolhost forwarded a call, that somebody made on the other topic, to this one.
    pub fn forwarded(&mut self, heard: &Heard<'_>, mark: Mark, now: Moment) {
        self.at(heard.toolbox_id, |entry| {
            entry.host.forwarded_to(heard.topic, heard.print, mark, now.steady);
        });
    }

    /// A call was answered.
    pub fn answered(&mut self, heard: &Heard<'_>, said: Said, now: Moment) {
        self.at(heard.toolbox_id, |entry| match heard.mark {
            Some(mark) => entry.host.answered_marked(heard.topic, mark, now.steady),
            None => entry.host.answered(heard.topic, heard.print, said, now.steady),
        });
    }

    /// A toolhost, of which `by` is a digest, told everything that it forwards.
    pub fn announced<'w>(&mut self, by: u64, ways: impl Iterator<Item = (&'w str, Way)> + Clone) {
        let known = self.toolboxes.iter().filter(|(_, entry)| entry.host.forwards(by));
        let known: Vec<String> = known.map(|(id, _)| id.clone()).collect();
        for id in &known {
            let way = ways.clone().find(|(other, _)| other == id).map(|(_, way)| way);
            self.at(id, |entry| entry.host.announced(by, way));
        }
        for (id, way) in ways {
            self.at(id, |entry| entry.host.announced(by, Some(way)));
        }
    }

    /// Every host was asked what it has.
    pub fn asked(&mut self, now: Moment) {
        self.due = None;
        let ids: Vec<String> = self.toolboxes.keys().cloned().collect();
        for id in &ids {
            let due = self.at(id, |entry| entry.host.asked(now.steady));
            self.is_due(due.flatten());
        }
    }

    /// The bus was gone for a while: what was asked before may have been answered unheard.
    pub fn gap(&mut self) {
        self.due = None;
        for entry in self.toolboxes.values_mut() {
            entry.host.gap();
        }
    }

    /// When the hosts should be asked again at the latest: a call waits, and a sign of life would say what that means.
    pub fn due(&self) -> Option<u64> {
        self.due
    }

    /// Whether there were more toolboxes than there is room for.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The topics of which there is something new: another answer, one that forwards, another caller.
    pub fn news(&mut self, now: Moment) -> Vec<Watched> {
        let mut news = Vec::new();
        for id in std::mem::take(&mut self.changed) {
            let Some(entry) = self.toolboxes.get_mut(&id) else {
                continue;
            };
            let face = entry.face();
            // It may have changed back.
            if entry.told.replace(face) != Some(face) {
                news.push(watched(&id, entry, now));
            }
        }
        news
    }

    /// Every topic, by toolbox_id.
    pub fn all(&mut self, now: Moment) -> Vec<Watched> {
        let toolboxes = self.toolboxes.iter_mut();
        toolboxes.map(|(id, entry)| watched(id, entry, now)).collect()
    }

    fn is_due(&mut self, due: Option<u64>) {
        self.due = [self.due, due].into_iter().flatten().min();
    }

    /// Does `change` to what is known of a toolbox; `None` where there is no room for it.
    fn at<T>(&mut self, toolbox_id: &str, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        if !self.toolboxes.contains_key(toolbox_id) {
            if self.toolboxes.len() >= MOST_TOOLBOXES {
                self.full = true;
                return None;
            }
            self.toolboxes.insert(toolbox_id.to_owned(), Entry::default());
        }
        let entry = self.toolboxes.get_mut(toolbox_id)?;
        let done = change(entry);
        if entry.told != Some(entry.face()) {
            self.changed.insert(toolbox_id.to_owned());
        }
        Some(done)
    }
}

fn watched(toolbox_id: &str, entry: &mut Entry, now: Moment) -> Watched {
    let counted = entry.usage.told(now).pop().map(|(_, counted)| counted);
    let calls = counted.as_ref().map(|counted| counted.calls).unwrap_or_default();
    Watched {
        topic: predecessor(toolbox_id),
        toolbox_id: toolbox_id.to_owned(),
        host: entry.host.answers(),
        forwarded: entry.host.forwarded().ways(),
        predecessor_calls: calls.predecessor_calls,
        replacement_calls: calls.replacement_calls,
        callers: counted.map(|counted| counted.callers).unwrap_or_default(),
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
