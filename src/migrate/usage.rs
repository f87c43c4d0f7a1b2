//! Who calls tools on the predecessor topics and who on the replacement, and for how long nobody has used the former. Pure:
//! the time is handed in.
//!
//! A quiet period is shown by counting through it, not by a clock that went on while nobody looked. So each toolbox has
//! the time it was *counted*: the host ran, was on the bus, and heard calls for it. It comes from a clock that nobody sets;
//! the time of day is told beside it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Callers of one toolbox that are told apart; whoever chooses session ids at random must not fill the memory.
pub const MOST_CALLERS: usize = 64;
/// Toolboxes remembered that are no longer there.
const MOST_FORMER: usize = 64;
/// Bytes of a text that a caller chose.
const LONGEST: usize = 80;
/// Characters of a list of context keys.
const LONGEST_KEYS: usize = 200;
/// Bytes of a toolbox_id in the file; no configuration has a longer one.
const LONGEST_ID: usize = 1024;
/// A shorter quiet is kept as none, so that calls that come often end no quiet that the file knows of, and cost no
/// writing each.
const SHORTEST_QUIET: u64 = 60;

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The time of day, in seconds since 1970.
    pub wall: u64,
    /// Seconds of a clock that only goes on, of this process.
    pub steady: u64,
}

/// Which topic a call came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// `ovos.persona.tools.<toolbox_id>.call`
    Predecessor,
    /// `ovos.persona.tools.call`
    Replacement,
}

/// What tells a caller from others: nothing on the bus proves who somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Who<'a> {
    /// The `source` of its Message.
    pub source: Option<&'a str>,
    /// The `session_id` of its session.
    pub session_id: Option<&'a str>,
    /// The keys of its context, as [`Keys`] sums them up.
    pub keys: Keys,
}

/// A set of context keys, in no order and without a copy of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keys(u64);

impl Keys {
    /// Sums up `keys`.
    pub fn of<'k>(keys: impl Iterator<Item = &'k str>) -> Self {
        Self(keys.map(|key| digest(key.as_bytes())).fold(0, u64::wrapping_add))
    }
}

/// FNV-1a: the same in each run, as what is kept on disk, or names a file there, has to be.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Calls on the two topics, and when the last ones were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Calls on the predecessor topic.
    pub predecessor_calls: u64,
    /// Calls on the replacement.
    pub replacement_calls: u64,
    /// The last one on the predecessor topic, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_predecessor: Option<u64>,
    /// The last one on the replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_replacement: Option<u64>,
}

impl Counts {
    fn count(&mut self, topic: Topic, wall: u64) {
        let (calls, last) = match topic {
            Topic::Predecessor => (&mut self.predecessor_calls, &mut self.last_predecessor),
            Topic::Replacement => (&mut self.replacement_calls, &mut self.last_replacement),
        };
        *calls = calls.saturating_add(1);
        *last = Some(wall);
    }

    /// Adds the calls of another.
    pub fn add(&mut self, other: &Self) {
        self.predecessor_calls = self.predecessor_calls.saturating_add(other.predecessor_calls);
        self.replacement_calls = self.replacement_calls.saturating_add(other.replacement_calls);
        self.last_predecessor = self.last_predecessor.max(other.last_predecessor);
        self.last_replacement = self.last_replacement.max(other.last_replacement);
    }

    /// When the caller was last heard.
    pub fn last_seen(&self) -> Option<u64> {
        self.last_predecessor.max(self.last_replacement)
    }
}

/// One caller of one toolbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The `source` of its Messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The `session_id` of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The keys of its context, with blanks between.
    pub context_keys: String,
    /// The same keys, as they are compared: in the file only, see [`Usage::text`].
    #[serde(default, skip_serializing)]
    digest: u64,
    /// The how-manieth caller of the toolbox it is. One that had to make room and comes back is another one, so that the
    /// counts under a number never go down.
    #[serde(default)]
    pub number: u64,
    /// Its calls.
    #[serde(flatten)]
    pub calls: Counts,
}

impl Caller {
    fn is(&self, who: &Who<'_>) -> bool {
        self.digest == who.keys.0
            && self.source.as_deref() == who.source.map(clipped)
            && self.session_id.as_deref() == who.session_id.map(clipped)
    }
}

/// `text` up to a length, without a copy.
fn clipped(text: &str) -> &str {
    clipped_to(LONGEST, text)
}

fn clipped_to(longest: usize, text: &str) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The calls to one toolbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolbox {
    /// Since when its calls are counted, in seconds since 1970.
    pub since: u64,
    /// For how many seconds they have been counted in all.
    pub counted_seconds: u64,
    /// How many of these, the last ones, had no call on the predecessor topic.
    pub quiet_seconds: u64,
    /// All calls.
    #[serde(flatten)]
    pub calls: Counts,
    /// Those of each caller.
    pub callers: Vec<Caller>,
    /// Those of callers that had to make room.
    #[serde(default)]
    pub others: Counts,
    /// How many callers have been given a number.
    #[serde(default, skip_serializing)]
    numbered: u64,
    /// Since when it is counted now, by the steady clock.
    #[serde(skip)]
    running: Option<u64>,
    /// Whether the file says that it has been quiet, as far as is known.
    #[serde(skip)]
    quiet_in_file: bool,
    /// Whether it is there.
    #[serde(skip)]
    present: bool,
}

impl Toolbox {
    fn new(wall: u64) -> Self {
        Self {
            since: wall,
            counted_seconds: 0,
            quiet_seconds: 0,
            calls: Counts::default(),
            callers: Vec::new(),
            others: Counts::default(),
            numbered: 0,
            running: None,
            quiet_in_file: false,
            present: false,
        }
    }

    /// Adds the time since it was last done.
    fn settle(&mut self, steady: u64) {
        if let Some(from) = self.running {
            // Some events are said to be later than they were, so that no time counts which was not there.
            self.running = Some(from.max(steady));
            let passed = steady.saturating_sub(from);
            self.counted_seconds = self.counted_seconds.saturating_add(passed);
            self.quiet_seconds = self.quiet_seconds.saturating_add(passed);
        }
    }

    fn run(&mut self, runs: bool, steady: u64) {
        self.settle(steady);
        self.running = match self.running {
            Some(from) if runs => Some(from),
            _ => runs.then_some(steady),
        };
    }

    /// Counts a call. Whether that is news which the file must not be without: the end of a quiet that the file knows of,
    /// or the first call on the predecessor topic.
    fn count(&mut self, topic: Topic, who: &Who<'_>, keys: impl FnOnce() -> String, at: Moment) -> bool {
        self.settle(at.steady);
        let mut is_news = false;
        if topic == Topic::Predecessor {
            let ends_quiet = std::mem::take(&mut self.quiet_in_file);
            is_news = ends_quiet || self.calls.predecessor_calls == 0;
            self.quiet_seconds = 0;
        }
        self.calls.count(topic, at.wall);
        let index = match self.callers.iter().position(|caller| caller.is(who)) {
            Some(index) => index,
            None => self.take_in(who, keys(), at.wall),
        };
        self.callers[index].calls.count(topic, at.wall);
        // Those who call again and again are found at once.
        self.callers.swap(index, index / 2);
        is_news
    }

    /// Takes a caller in that is not known, or no more; its index.
    fn take_in(&mut self, who: &Who<'_>, context_keys: String, wall: u64) -> usize {
        self.make_room(wall);
        self.numbered = self.numbered.saturating_add(1);
        self.callers.push(Caller {
            source: who.source.map(|text| clipped(text).to_owned()),
            session_id: who.session_id.map(|text| clipped(text).to_owned()),
            context_keys,
            digest: who.keys.0,
            number: self.numbered,
            calls: Counts::default(),
        });
        self.callers.len() - 1
    }

    /// Lets go of one caller where there are too many: whoever has long not called, before all one that has moved.
    fn make_room(&mut self, wall: u64) {
        if self.callers.len() < MOST_CALLERS {
            return;
        }
        // A clock that was set back must not make those of before newer than everybody who calls now, for ever.
        for caller in &mut self.callers {
            for last in [&mut caller.calls.last_predecessor, &mut caller.calls.last_replacement] {
                *last = last.map(|last| last.min(wall));
            }
        }
        self.let_go_of_oldest();
    }

    fn let_go_of_oldest(&mut self) {
        let age = |caller: &Caller| (caller.calls.last_predecessor, caller.calls.last_seen());
        let oldest = (0..self.callers.len()).min_by_key(|&index| age(&self.callers[index]));
        if let Some(index) = oldest {
            let gone = self.callers.swap_remove(index);
            self.others.add(&gone.calls);
        }
    }

    /// Brings what was read into the bounds that hold for what is written: a file may have been edited, or be another's.
    fn mend(&mut self) {
        self.quiet_seconds = self.quiet_seconds.min(self.counted_seconds);
        self.quiet_in_file = self.quiet_seconds > 0;
        if self.callers.len() > MOST_CALLERS {
            let age = |caller: &Caller| std::cmp::Reverse((caller.calls.last_predecessor, caller.calls.last_seen()));
            self.callers.sort_by_key(age);
            for gone in self.callers.split_off(MOST_CALLERS) {
                self.others.add(&gone.calls);
            }
            self.callers.shrink_to_fit();
        }
        for caller in &mut self.callers {
            for text in [&mut caller.source, &mut caller.session_id].into_iter().flatten() {
                *text = clipped(text).to_owned();
            }
            caller.context_keys = joined(std::iter::once(caller.context_keys.as_str()));
        }
        self.number_anew();
        self.add_up();
    }

    /// Gives every caller a number where the file, perhaps of an older toolhost, has not given each its own.
    fn number_anew(&mut self) {
        let known: BTreeSet<u64> = self.callers.iter().map(|caller| caller.number).collect();
        let each_has_one = known.len() == self.callers.len() && !known.contains(&0);
        if !each_has_one || known.last().is_some_and(|last| *last > self.numbered) || self.numbered > u64::MAX / 2 {
            self.numbered = 0;
            for (number, caller) in (1..).zip(&mut self.callers) {
                caller.number = number;
                self.numbered = number;
            }
        }
    }

    /// Makes the sum of all callers the toolbox's own count, the larger one of the two where they differ.
    fn add_up(&mut self) {
        let mut named = Counts::default();
        for caller in &self.callers {
            named.add(&caller.calls);
        }
        let mut sum = named;
        sum.add(&self.others);
        let calls = &mut self.calls;
        calls.predecessor_calls = calls.predecessor_calls.max(sum.predecessor_calls);
        calls.replacement_calls = calls.replacement_calls.max(sum.replacement_calls);
        self.others.predecessor_calls = calls.predecessor_calls - named.predecessor_calls;
        self.others.replacement_calls = calls.replacement_calls - named.replacement_calls;
    }
}

/// The calls to every toolbox of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    version: u32,
    toolboxes: BTreeMap<String, Toolbox>,
    /// Whether the host is on the bus.
    #[serde(skip)]
    connected: bool,
}

/// The version of what is kept on disk.
const VERSION: u32 = 1;

impl Usage {
    /// Goes on with what was kept.
    ///
    /// # Errors
    /// In words, where the text is something else.
    pub fn restored(text: &str) -> Result<Self, String> {
        let mut usage: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if usage.version != VERSION {
            let other = usage.version;
            return Err(format!("its version is {other}, this toolhost reads {VERSION}"));
        }
        usage.toolboxes.retain(|id, _| id.len() <= LONGEST_ID);
        usage.toolboxes.values_mut().for_each(Toolbox::mend);
        Ok(usage)
    }

    /// What is to be kept, as it stands at `now`, while calls can still come: never more quiet than that.
    pub fn kept_meanwhile(&mut self, now: Moment) -> Self {
        let mut kept = self.copy(now);
        for (toolbox, kept) in self.toolboxes.values_mut().zip(kept.toolboxes.values_mut()) {
            if kept.quiet_seconds < SHORTEST_QUIET {
                kept.quiet_seconds = 0;
            }
            toolbox.quiet_in_file = kept.quiet_seconds > 0;
        }
        kept
    }

    /// What is to be kept when no call comes any more.
    pub fn kept_at_last(&mut self, now: Moment) -> Self {
        self.copy(now)
    }

    fn copy(&mut self, now: Moment) -> Self {
        self.version = VERSION;
        self.settle(now);
        self.clone()
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut kept = serde_json::to_value(self).unwrap_or_default();
        for (id, toolbox) in &self.toolboxes {
            kept["toolboxes"][id]["numbered"] = toolbox.numbered.into();
            for (index, caller) in toolbox.callers.iter().enumerate() {
                if let Some(kept) = kept["toolboxes"][id]["callers"].get_mut(index) {
                    kept["digest"] = caller.digest.into();
                }
            }
        }
        kept.to_string()
    }

    /// The file may be older than it was thought to be, so that it may know of a quiet.
    pub fn file_is_old(&mut self) {
        for toolbox in self.toolboxes.values_mut() {
            toolbox.quiet_in_file = true;
        }
    }

    /// No quiet of before counts: nobody knows how much of it is true.
    pub fn doubt(&mut self) {
        for toolbox in self.toolboxes.values_mut() {
            toolbox.quiet_seconds = 0;
        }
    }

    /// Whether time is being counted.
    pub fn is_counting(&self) -> bool {
        self.toolboxes.values().any(|toolbox| toolbox.running.is_some())
    }

    /// The toolboxes that are there from `now` on are these.
    pub fn present<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>, now: Moment) {
        for toolbox in self.toolboxes.values_mut() {
            toolbox.present = false;
        }
        for id in ids {
            let new = || Toolbox::new(now.wall);
            let toolbox = match self.toolboxes.get_mut(id) {
                Some(toolbox) => toolbox,
                None => self.toolboxes.entry(id.to_owned()).or_insert_with(new),
            };
            toolbox.present = true;
        }
        self.forget_former();
        self.runs(now);
    }

    /// The bus is there, or gone.
    pub fn connected(&mut self, connected: bool, now: Moment) {
        self.connected = connected;
        self.runs(now);
    }

    fn runs(&mut self, now: Moment) {
        for toolbox in self.toolboxes.values_mut() {
            let runs = self.connected && toolbox.present;
            toolbox.run(runs, now.steady);
        }
    }

    /// Counts one call to `toolbox_id`; `keys` writes the context keys of a caller that is new. Whether the file must have
    /// it at once: without it, it would tell of a quiet that is over.
    pub fn count<'k, I: Iterator<Item = &'k str>>(
        &mut self,
        toolbox_id: &str,
        topic: Topic,
        who: &Who<'_>,
        keys: impl FnOnce() -> I,
        now: Moment,
    ) -> bool {
        if !self.toolboxes.contains_key(toolbox_id) {
            let mut toolbox = Toolbox::new(now.wall);
            toolbox.present = true;
            toolbox.running = self.connected.then_some(now.steady);
            self.toolboxes.insert(toolbox_id.to_owned(), toolbox);
        }
        let toolbox = self.toolboxes.get_mut(toolbox_id);
        toolbox.is_some_and(|toolbox| toolbox.count(topic, who, || joined(keys()), now))
    }

    /// What there is to tell at `now` of the toolboxes that are there.
    pub fn told(&mut self, now: Moment) -> Vec<(String, Toolbox)> {
        self.settle(now);
        let present = self.toolboxes.iter().filter(|(_, toolbox)| toolbox.present);
        let mut told: Vec<_> = present.map(|(id, toolbox)| (id.clone(), toolbox.clone())).collect();
        for (_, toolbox) in &mut told {
            toolbox.callers.sort_by_key(|caller| {
                let last = (caller.calls.last_predecessor, caller.calls.last_seen());
                std::cmp::Reverse(last)
            });
        }
        told
    }

    fn settle(&mut self, now: Moment) {
        for toolbox in self.toolboxes.values_mut().filter(|toolbox| toolbox.running.is_some()) {
            toolbox.settle(now.steady);
        }
    }

    fn forget_former(&mut self) {
        let former = self.toolboxes.iter().filter(|(_, toolbox)| !toolbox.present);
        let mut former: Vec<_> = former
            .map(|(id, toolbox)| (toolbox.calls.last_seen().unwrap_or(toolbox.since), id.clone()))
            .collect();
        former.sort_unstable();
        let excess = former.len().saturating_sub(MOST_FORMER);
        for (_, id) in former.into_iter().take(excess) {
            self.toolboxes.remove(&id);
        }
    }
}

/// `keys` with blanks between, of a bounded length.
pub fn joined<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let mut text = String::new();
    for key in keys {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(
            key.chars()
                .take(LONGEST_KEYS)
                .map(|c| if c.is_control() { ' ' } else { c }),
        );
        if text.chars().count() > LONGEST_KEYS {
            return text.chars().take(LONGEST_KEYS).chain(['…']).collect();
        }
    }
    text
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
