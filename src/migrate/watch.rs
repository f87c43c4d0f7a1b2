//! What somebody who only listens can say of the call topics on a bus: who calls, and what the host behind answers. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::owner::Sign;
use super::usage::{Caller, Moment, Topic, Usage, Who};

/// Toolboxes that are told apart: anybody can invent topics.
const MOST_TOOLBOXES: usize = 512;
/// Seconds without an answer after which a call counts as one that nobody answers.
const PATIENCE: u64 = 5;

/// What the host of a toolbox answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Both topics.
    Both,
    /// The predecessor only.
    OldOnly,
    /// The replacement only.
    NewOnly,
    /// The replacement; nobody has called on the predecessor yet.
    New,
    /// Nothing that was seen.
    Nothing,
}

/// One predecessor topic on the bus.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watched {
    /// `ovos.persona.tools.<toolbox_id>.call`
    pub topic: String,
    /// The toolbox it is of.
    pub toolbox_id: String,
    /// What its host answers.
    pub host: Answers,
    /// Calls on the predecessor topic.
    pub predecessor_calls: u64,
    /// Calls on the replacement.
    pub replacement_calls: u64,
    /// Who called, the last to use the predecessor first.
    pub callers: Vec<Caller>,
}

/// What is known of one call topic of one toolbox.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    answered: bool,
    /// Since when a call waits for its answer.
    waiting: Option<u64>,
}

impl Seen {
    fn called(&mut self, now: u64) {
        self.waiting.get_or_insert(now);
    }

    fn answered(&mut self) {
        *self = Self {
            answered: true,
            waiting: None,
        };
    }

    fn ignored(&self, now: u64) -> bool {
        !self.answered && self.waiting.is_some_and(|since| now.saturating_sub(since) >= PATIENCE)
    }
}

#[derive(Debug, Clone, Default)]
struct Host {
    sign: Option<Sign>,
    old: Seen,
    new: Seen,
}

impl Host {
    fn answers(&self, now: u64) -> Answers {
        let new = self.new.answered || self.sign == Some(Sign::New);
        match (self.old.answered, new) {
            // An old host's static calls may be answered for it, by one that forwards them.
            (true, true) => Answers::Both,
            (true, false) => Answers::OldOnly,
            (false, true) if self.old.ignored(now) => Answers::NewOnly,
            (false, true) => Answers::New,
            (false, false) if self.sign == Some(Sign::Old) => Answers::OldOnly,
            (false, false) => Answers::Nothing,
        }
    }
}

/// Everything that was heard.
#[derive(Debug, Default)]
pub struct Watch {
    hosts: BTreeMap<String, Host>,
    usage: Usage,
    /// What was told of each topic: its answer, its callers.
    told: BTreeMap<String, (Answers, usize)>,
}

impl Watch {
    /// A host answered discover for `toolbox_id`.
    pub fn discovered(&mut self, toolbox_id: &str, sign: Option<Sign>) {
        if let Some(host) = self.host(toolbox_id) {
            if host.sign == Some(Sign::Old) && sign == Some(Sign::New) {
                // Another host than before: what that one answered says nothing of it.
                *host = Host::default();
            }
            host.sign = sign.or(host.sign);
        }
    }

    /// Somebody called `toolbox_id`.
    pub fn called<'k, I: Iterator<Item = &'k str>>(
        &mut self,
        toolbox_id: &str,
        topic: Topic,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
        now: Moment,
    ) {
        let Some(host) = self.host(toolbox_id) else { return };
        match topic {
            Topic::Predecessor => host.old.called(now.steady),
            Topic::Replacement => host.new.called(now.steady),
        }
        self.usage.count(toolbox_id, topic, who, keys, now);
    }

    /// A call to `toolbox_id` was answered.
    pub fn answered(&mut self, toolbox_id: &str, topic: Topic) {
        if let Some(host) = self.host(toolbox_id) {
            match topic {
                Topic::Predecessor => host.old.answered(),
                Topic::Replacement => host.new.answered(),
            }
        }
    }

    /// The topics of which there is something new: another answer, another caller.
    pub fn news(&mut self, now: Moment) -> Vec<Watched> {
        let all = self.all(now);
        let told = &mut self.told;
        let is_new = |watched: &Watched| {
            let now = (watched.host, watched.callers.len());
            told.insert(watched.toolbox_id.clone(), now) != Some(now)
        };
        all.into_iter().filter(is_new).collect()
    }

    /// Every topic, by toolbox_id.
    pub fn all(&mut self, now: Moment) -> Vec<Watched> {
        let mut counted: BTreeMap<_, _> = self.usage.told(now).into_iter().collect();
        let watched = |(toolbox_id, host): (&String, &Host)| {
            let counted = counted.remove(toolbox_id);
            let calls = counted.as_ref().map(|counted| counted.calls).unwrap_or_default();
            Watched {
                topic: format!("ovos.persona.tools.{toolbox_id}.call"),
                toolbox_id: toolbox_id.clone(),
                host: host.answers(now.steady),
                predecessor_calls: calls.predecessor_calls,
                replacement_calls: calls.replacement_calls,
                callers: counted.map(|counted| counted.callers).unwrap_or_default(),
            }
        };
        self.hosts.iter().map(watched).collect()
    }

    fn host(&mut self, toolbox_id: &str) -> Option<&mut Host> {
        if !self.hosts.contains_key(toolbox_id) {
            if self.hosts.len() >= MOST_TOOLBOXES {
                return None;
            }
            self.hosts.insert(toolbox_id.to_owned(), Host::default());
        }
        self.hosts.get_mut(toolbox_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(steady: u64) -> Moment {
        Moment { wall: steady, steady }
    }

    /// One thing that happens.
    #[derive(Debug, Clone, Copy)]
    enum E {
        Discover(Option<Sign>),
        Call(Topic),
        Answer(Topic),
    }
    use E::{Answer, Call, Discover};
    use Topic::{Predecessor as Old, Replacement as New};

    #[test]
    fn what_a_host_answers_is_told_by_what_was_seen() {
        // What happens at second 0, when it is asked, what is said then.
        let table: [(&[E], u64, Answers); 13] = [
            (&[Discover(Some(Sign::Old))], 0, Answers::OldOnly),
            (&[Discover(Some(Sign::New))], 0, Answers::New),
            (&[Discover(None)], 0, Answers::Nothing),
            (&[Call(Old)], 0, Answers::Nothing),
            (&[Call(Old), Answer(Old)], 0, Answers::OldOnly),
            (&[Call(New), Answer(New)], 0, Answers::New),
            (&[Call(Old), Answer(Old), Answer(New)], 0, Answers::Both),
            (&[Discover(Some(Sign::New)), Call(Old)], PATIENCE - 1, Answers::New),
            (&[Discover(Some(Sign::New)), Call(Old)], PATIENCE, Answers::NewOnly),
            (
                &[Discover(Some(Sign::New)), Call(Old), Answer(Old)],
                PATIENCE,
                Answers::Both,
            ),
            (
                &[Answer(Old), Discover(Some(Sign::Old)), Call(New)],
                PATIENCE,
                Answers::OldOnly,
            ),
            (
                &[Answer(Old), Discover(Some(Sign::Old)), Discover(Some(Sign::New))],
                0,
                Answers::New,
            ),
            (
                &[
                    Answer(Old),
                    Discover(Some(Sign::Old)),
                    Discover(Some(Sign::New)),
                    Answer(Old),
                ],
                0,
                Answers::Both,
            ),
        ];
        for (events, asked, expected) in table {
            let mut watch = Watch::default();
            for event in events {
                match *event {
                    Discover(sign) => watch.discovered("wn", sign),
                    Call(topic) => watch.called("wn", topic, &Who::default(), std::iter::empty, at(0)),
                    Answer(topic) => watch.answered("wn", topic),
                }
            }
            assert_eq!(watch.all(at(asked))[0].host, expected, "{events:?}");
        }
    }

    #[test]
    fn only_news_are_told_and_a_flood_of_topics_is_bounded() {
        let mut watch = Watch::default();
        let call = |watch: &mut Watch, source| {
            let who = Who {
                source: Some(source),
                ..Who::default()
            };
            watch.called("wn", Topic::Predecessor, &who, std::iter::empty, at(0));
        };
        call(&mut watch, "a");
        assert_eq!(watch.news(at(0)).len(), 1);
        call(&mut watch, "a");
        assert_eq!(watch.news(at(0)), []);
        call(&mut watch, "b");
        let news = watch.news(at(0));
        assert_eq!(
            (news.len(), news[0].callers.len(), news[0].predecessor_calls),
            (1, 2, 3)
        );
        for n in 0..5000 {
            watch.discovered(&n.to_string(), None);
        }
        assert_eq!(watch.all(at(0)).len(), MOST_TOOLBOXES);
    }
}
