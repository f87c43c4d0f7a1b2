//! The calls of a toolbox that wait for a process. Pure.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::json::Text;
use crate::tools::outcome::Call;
use crate::tools::tool::Tool;

/// A call whose tool is known and whose arguments are checked.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) id: u64,
    pub(super) tool: Arc<Tool>,
    /// What the tool gets; the call's own, unchecked ones are dropped.
    pub(super) kwargs: String,
    pub(super) call: Call,
    pub(super) timeout: Duration,
}

impl Ready {
    pub(super) fn due(&self) -> Instant {
        self.call.arrived + self.timeout
    }

    fn into_call(mut self) -> Call {
        self.call.kwargs = Some(Text::from(self.kwargs));
        self.call
    }
}

/// A call that came before the toolbox described itself: nothing about it is checked yet.
#[derive(Debug)]
pub(super) struct Early {
    pub(super) id: u64,
    pub(super) call: Call,
    pub(super) timeout: Duration,
}

impl Early {
    pub(super) fn due(&self) -> Instant {
        self.call.arrived + self.timeout
    }
}

/// The calls that wait, in the order they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    early: VecDeque<Early>,
    ready: VecDeque<Ready>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.early.len() + self.ready.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(super) fn push_early(&mut self, early: Early) {
        self.early.push_back(early);
    }

    pub(super) fn push(&mut self, ready: Ready) {
        self.ready.push_back(ready);
    }

    /// The next call that can be sent.
    pub(super) fn pop(&mut self) -> Option<Ready> {
        self.ready.pop_front()
    }

    /// The calls that can be checked once the tools are known.
    pub(super) fn take_early(&mut self) -> VecDeque<Early> {
        std::mem::take(&mut self.early)
    }

    /// Takes out the call with this request id, and the time it had.
    pub(super) fn remove(&mut self, id: u64) -> Option<(Call, Duration)> {
        if let Some(place) = self.early.iter().position(|early| early.id == id) {
            return self.early.remove(place).map(|early| (early.call, early.timeout));
        }
        let place = self.ready.iter().position(|ready| ready.id == id)?;
        self.ready.remove(place).map(|ready| (ready.call, ready.timeout))
    }

    /// Every call, as it came, and the key of its deadline.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (Call, (Instant, u64))> {
        let early = std::mem::take(&mut self.early).into_iter();
        let ready = std::mem::take(&mut self.ready).into_iter();
        let ready = ready
            .map(|ready| ((ready.due(), ready.id), ready))
            .map(|(key, ready)| (ready.into_call(), key));
        ready.chain(early.map(|early| {
            let key = (early.due(), early.id);
            (early.call, key)
        }))
    }
}
