//! Which of several tool services answers `ovos.tools.*`, decided without a clock or a bus of its own.
//!
//! OVOS-TOOLS-1 §5 has no rule of silence for the flat names: two services on one bus answer every
//! request twice, and a caller that takes the first answer gets "unknown tool" from the wrong one. So
//! with `tool_service: auto` toolhost answers only while it is alone. The protocol:
//!
//! - On each connect it answers at once, and asks: a *probe*, an ordinary `ovos.tools.list` whose
//!   context carries its instance id under [`PROBE`](super::mark::PROBE). Replies carry the context of their request
//!   (OVOS-MSG-1 §5.4), so an answer to the probe is known by the id. One from elsewhere: silence.
//! - The probe of another toolhost is a request like any other to an instance with `yes`, and to one
//!   that has been answering unchallenged for [`SETTLE`]: it answers, the newcomer falls silent. Two
//!   that have both just asked compare ids: the lower answers, the higher falls silent instead of
//!   answering. Each sees the other's probe on the same bus, so exactly one goes on.
//! - An answer of somebody else to a request of somebody else is no proof of a service that stays, and
//!   two toolhosts that both believed it would both fall silent: it makes toolhost ask again.
//! - A silent one that sees a request asks again, at most once in [`ASK_AGAIN`]. Nobody's answer within
//!   [`SETTLE`], to it or to any caller: the other has gone, and the next request is answered. Of
//!   several that wait so, those who see the probe of a lower id leave it the place.

use std::time::{Duration, Instant};

use crate::config::ToolService;

/// How long a probe may stay unanswered until toolhost takes itself for alone.
pub const SETTLE: Duration = Duration::from_secs(3);

/// How often a silent toolhost asks whether it still has to be.
pub const ASK_AGAIN: Duration = Duration::from_secs(60);

/// Who answers instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// A tool service that answered the probe.
    ToolService,
    /// A toolhost that asked at the same time and has the lower instance id.
    Toolhost,
}

/// What there is to tell about a [`Step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It no longer answers.
    FellSilent(Other),
    /// It answers again.
    Resumed,
}

/// What to do now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Answer the request that led here.
    pub answer: bool,
    /// Send a probe.
    pub probe: bool,
    /// What to log.
    pub news: Option<News>,
}

impl Step {
    const SILENCE: Self = Self {
        answer: false,
        probe: false,
        news: None,
    };
    const ANSWER: Self = Self {
        answer: true,
        ..Self::SILENCE
    };
    const ASK: Self = Self {
        probe: true,
        ..Self::SILENCE
    };
}

/// The state of one toolhost as a tool service.
#[derive(Debug)]
pub struct Service {
    instance: String,
    mode: ToolService,
    /// Who made it fall silent.
    silent: Option<Other>,
    /// When it last asked.
    asked: Option<Instant>,
    /// Silent, asked at `asked`, and unanswered so far.
    waiting: bool,
}

impl Service {
    /// Answering, as far as `mode` lets it.
    pub fn new(instance: String, mode: ToolService) -> Self {
        Self {
            instance,
            mode,
            silent: None,
            asked: None,
            waiting: false,
        }
    }

    /// Its instance id.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The mode of the configuration.
    pub fn mode(&self) -> ToolService {
        self.mode
    }

    /// Who answers instead of it, if it is silent.
    pub fn silent(&self) -> Option<Other> {
        self.silent
    }

    /// Whether requests are answered.
    pub fn serves(&self) -> bool {
        self.mode != ToolService::No && self.silent.is_none()
    }

    /// The configuration was read again: another mode starts afresh.
    pub fn set_mode(&mut self, mode: ToolService, now: Instant) -> Step {
        if mode == self.mode {
            return Step::SILENCE;
        }
        self.mode = mode;
        self.connected(now)
    }

    /// The bus is there: whoever was on it before may not be.
    pub fn connected(&mut self, now: Instant) -> Step {
        self.silent = None;
        self.waiting = false;
        if self.mode != ToolService::Auto {
            return Step::SILENCE;
        }
        self.asked = Some(now);
        Step::ASK
    }

    /// A request on `ovos.tools.*` that is no probe.
    pub fn request(&mut self, now: Instant) -> Step {
        if self.mode == ToolService::No {
            return Step::SILENCE;
        }
        if self.silent.is_none() {
            return Step::ANSWER;
        }
        if self.waiting && self.asked_before(SETTLE, now) {
            self.silent = None;
            self.waiting = false;
            return Step {
                news: Some(News::Resumed),
                ..Step::ANSWER
            };
        }
        if !self.waiting && self.asked_before(ASK_AGAIN, now) {
            self.waiting = true;
            self.asked = Some(now);
            return Step::ASK;
        }
        Step::SILENCE
    }

    /// Somebody else's answer on `ovos.tools.*`; `to_probe` where it answers a probe of ours.
    pub fn answer_overheard(&mut self, to_probe: bool, now: Instant) -> Step {
        self.waiting = false;
        if self.mode != ToolService::Auto || self.silent.is_some() {
            return Step::SILENCE;
        }
        if to_probe {
            return self.fall_silent(Other::ToolService);
        }
        if self.asked_before(SETTLE, now) {
            self.asked = Some(now);
            return Step::ASK;
        }
        Step::SILENCE
    }

    /// The probe of the toolhost `other`.
    pub fn probe_overheard(&mut self, other: &str, now: Instant) -> Step {
        let other_is_first = other < self.instance.as_str();
        match (self.mode, self.silent) {
            (ToolService::Yes, _) => Step::ANSWER,
            (ToolService::No, _) => Step::SILENCE,
            (ToolService::Auto, Some(_)) => {
                self.waiting &= !other_is_first;
                Step::SILENCE
            }
            (ToolService::Auto, None) if other_is_first && !self.asked_before(SETTLE, now) => {
                self.fall_silent(Other::Toolhost)
            }
            (ToolService::Auto, None) => Step::ANSWER,
        }
    }

    fn fall_silent(&mut self, other: Other) -> Step {
        self.silent = Some(other);
        Step {
            news: Some(News::FellSilent(other)),
            ..Step::SILENCE
        }
    }

    /// Whether its last probe is at least `age` old.
    fn asked_before(&self, age: Duration, now: Instant) -> bool {
        self.asked
            .is_none_or(|asked| now.saturating_duration_since(asked) >= age)
    }
}

#[cfg(test)]
mod tests;
