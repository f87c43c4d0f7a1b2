//! Other toolhosts on the bus that forward, and what. Pure.
//!
//! Each tells with every discover of its own who it is and what it forwards, and each forwarded call shows it too. What
//! one has told holds until it tells something else or is found to be gone: an idle toolhost says nothing for hours.

use std::collections::BTreeMap;

use super::carry::Way;

/// Toolhosts that are remembered: anybody can invent one.
const MOST: usize = 64;
/// Toolboxes of one of them.
const MOST_TOOLBOXES: usize = 512;
/// Turns that are told apart: what anybody can invent must not hold up a call for long.
const LAST_TURN: usize = 5;
/// Bytes of the id of one.
const LONGEST_ID: usize = 256;

/// What is known of the others, by instance id.
#[derive(Debug, Default)]
pub struct Others {
    known: BTreeMap<String, Other>,
}

#[derive(Debug, Default)]
struct Other {
    /// When it was last heard, in milliseconds.
    heard: u64,
    ways: BTreeMap<String, Way>,
    turn: usize,
}

impl Others {
    /// The toolhost `by` has told everything it forwards, and its [turn](Self::turn); whether the first is news.
    pub fn announced(&mut self, by: &str, ways: BTreeMap<String, Way>, turn: usize, now: u64) -> bool {
        if ways.is_empty() {
            return self.known.remove(by).is_some();
        }
        let fit = ways.into_iter().filter(|(id, _)| id.len() <= LONGEST_ID);
        let ways: BTreeMap<_, _> = fit.take(MOST_TOOLBOXES).collect();
        let is_news = self.known.get(by).is_none_or(|other| other.ways != ways);
        let other = Other { heard: now, ways, turn };
        self.known.insert(by.to_owned(), other);
        self.forget_excess();
        is_news
    }

    /// The toolhost `by` has forwarded a call to `toolbox_id`.
    pub fn forwarded(&mut self, by: &str, toolbox_id: &str, way: Way, now: u64) {
        let other = self.known.entry(by.to_owned()).or_default();
        other.heard = now;
        if other.ways.len() < MOST_TOOLBOXES {
            other.ways.insert(toolbox_id.to_owned(), way);
        }
        self.forget_excess();
    }

    /// The toolboxes that any forwards this way, perhaps more than once.
    pub fn toolboxes(&self, way: Way) -> impl Iterator<Item = &str> {
        let ways = self.known.values().flat_map(|other| &other.ways);
        ways.filter(move |(_, its)| **its == way).map(|(id, _)| id.as_str())
    }

    /// Whether any forwards calls to `toolbox_id` this way.
    pub fn any(&self, toolbox_id: &str, way: Way) -> bool {
        self.known
            .values()
            .any(|other| other.ways.get(toolbox_id) == Some(&way))
    }

    /// Whose turn it is to forward a call to `toolbox_id`: 0 where no toolhost with an id lower than `instance` does, else
    /// one more than the latest of theirs. Not their number: who has come after one was killed does not know of that one, and
    /// would have the same as who still waits for it.
    pub fn turn(&self, instance: &str, toolbox_id: &str, way: Way) -> usize {
        self.turn_after(instance, |other| other.ways.get(toolbox_id) == Some(&way))
    }

    /// The latest turn that `instance` has for any toolbox, which it tells the others.
    pub fn latest_turn(&self, instance: &str) -> usize {
        self.turn_after(instance, |_| true)
    }

    fn turn_after(&self, instance: &str, counts: impl Fn(&Other) -> bool) -> usize {
        let lower = self.known.iter().take_while(|(by, _)| by.as_str() < instance);
        let turns = lower
            .filter(|(_, other)| counts(other))
            .map(|(_, other)| other.turn.saturating_add(1));
        turns.max().unwrap_or_default().min(LAST_TURN)
    }

    /// Those with an id lower than `instance` have let a call to `toolbox_id` pass that came at `since`: they forward there
    /// no more. Who was heard later may never have got it.
    pub fn lower_gone(&mut self, instance: &str, toolbox_id: &str, since: u64) {
        self.known.retain(|by, other| {
            if by.as_str() < instance && other.heard < since {
                other.ways.remove(toolbox_id);
            }
            !other.ways.is_empty()
        });
    }

    fn forget_excess(&mut self) {
        if self.known.len() <= MOST {
            return;
        }
        let oldest = self.known.iter().min_by_key(|(_, other)| other.heard);
        if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Way::{ToPredecessor, ToStatic};
    use super::*;

    fn ways(of: &[(&str, Way)]) -> BTreeMap<String, Way> {
        of.iter().map(|(id, way)| ((*id).to_owned(), *way)).collect()
    }

    #[test]
    fn what_a_toolhost_tells_holds_until_it_tells_something_else() {
        let mut others = Others::default();
        let first = ways(&[("wn", ToPredecessor), ("x", ToStatic)]);
        assert!(others.announced("b", first.clone(), 0, 0) && !others.announced("b", first, 0, 0));
        let lower = |others: &Others, than| others.turn(than, "wn", ToPredecessor);
        assert_eq!(["a", "b", "c"].map(|than| lower(&others, than)), [0, 0, 1]);
        assert!(others.any("wn", ToPredecessor) && !others.any("wn", ToStatic));
        others.announced("b", ways(&[("x", ToStatic)]), 0, 1);
        assert!(!others.any("wn", ToPredecessor) && others.any("x", ToStatic));
        others.forwarded("b", "wn", ToPredecessor, 2);
        assert!(others.any("wn", ToPredecessor) && others.any("x", ToStatic));
        others.announced("b", ways(&[]), 0, 3);
        assert!(!others.any("wn", ToPredecessor) && !others.any("x", ToStatic));
    }

    #[test]
    fn who_came_after_one_was_killed_has_another_turn_than_who_still_waits_for_it() {
        let forwards = || ways(&[("wn", ToStatic)]);
        let turn = |others: &Others, of| others.turn(of, "wn", ToStatic);
        // `a` was killed, `b` has not noticed, `c` never heard of `a`.
        let (mut at_b, mut at_c) = (Others::default(), Others::default());
        at_b.announced("a", forwards(), 0, 0);
        at_b.announced("c", forwards(), 0, 1);
        at_c.announced("b", forwards(), at_b.latest_turn("b"), 1);
        assert_eq!([turn(&at_b, "b"), turn(&at_c, "c")], [1, 2]);
        // Those that were killed do not add up, and what is invented is bounded.
        for n in 0..9 {
            at_b.announced(&format!("a{n}"), forwards(), 0, 2);
        }
        assert_eq!(turn(&at_b, "b"), 1);
        at_b.announced("a", forwards(), usize::MAX - 1, 3);
        assert_eq!([turn(&at_b, "b"), at_b.turn("b", "x", ToStatic)], [LAST_TURN, 0]);
    }

    #[test]
    fn one_that_lets_a_call_pass_is_forgotten_for_that_toolbox() {
        let mut others = Others::default();
        for by in ["a", "d"] {
            others.announced(by, ways(&[("wn", ToStatic), ("x", ToStatic)]), 0, 0);
        }
        others.lower_gone("c", "wn", 0);
        assert_eq!(others.turn("c", "wn", ToStatic), 1, "it has come since");
        others.lower_gone("c", "wn", 1);
        assert_eq!(["wn", "x"].map(|id| others.turn("c", id, ToStatic)), [0, 1]);
        assert!(others.any("wn", ToStatic), "a higher one is not meant");
    }

    #[test]
    fn invented_toolhosts_are_bounded_and_push_out_the_oldest() {
        let mut others = Others::default();
        for n in 0..1000_u64 {
            others.forwarded(&format!("{n:04}"), "wn", ToStatic, n);
        }
        assert_eq!(others.known.len(), MOST);
        assert!(others.known.contains_key("0999") && !others.known.contains_key("0000"));
        for n in 0..1000 {
            others.forwarded("z", &n.to_string(), ToStatic, 2000);
        }
        assert_eq!(others.known["z"].ways.len(), MOST_TOOLBOXES);
    }
}
