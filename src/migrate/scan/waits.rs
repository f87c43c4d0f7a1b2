//! Calls that send and wait in one: `bus.wait_for_response(Message(...))`.
//!
//! On its predecessor topic a toolbox has an answer topic of its own. That of the replacement is everybody's, and such a call
//! takes the first answer there for its own.

use super::code::Code;
use super::finding::{Finding, What};
use super::place::{self, Kind};

/// Brackets around a topic that are looked at: those of the Message, of parentheses, and of the wait.
const AROUND: usize = 4;

/// Whether the bracket at `open` is that of a call that sends and waits for the answer.
pub(super) fn is_wait(code: &Code<'_>, open: usize) -> bool {
    place::callee(code, open).is_some_and(|callee| {
        callee.to_ascii_lowercase().starts_with("waitforresponse") || callee.starts_with("wait_for_response")
    })
}

/// Marks the callers that wait so.
pub(super) fn mark(code: &Code<'_>, found: &mut [Finding]) {
    let callers = found.iter_mut().filter(|finding| finding.kind == Kind::Caller);
    for caller in callers.filter(|caller| caller.what != What::Flag) {
        let token = code
            .tokens
            .binary_search_by_key(&caller.span.start, |token| token.span.start);
        // What stands in a string was marked by the look into it.
        caller.takes_first |= token.is_ok_and(|token| waits(code, token));
    }
}

/// Whether what is sent at `token` is waited for: in the same call, or by the name it is given.
fn waits(code: &Code<'_>, token: usize) -> bool {
    let around: Vec<usize> = std::iter::successors(code.around(token), |open| code.around(*open))
        .take(AROUND)
        .collect();
    around.iter().any(|open| is_wait(code, *open)) || around.iter().any(|open| is_waited_for_by_name(code, *open))
}

/// Whether the Message that is made with the bracket at `open` has a name, and a wait is given that.
fn is_waited_for_by_name(code: &Code<'_>, open: usize) -> bool {
    let Some(named) = code.name_of_made(open) else {
        return false;
    };
    let defined = named.tokens.start;
    let is_given = |at: &usize| {
        let is_this = code
            .definition(&named.name, *at)
            .is_some_and(|definition| definition.tokens.start == defined);
        is_this && code.around(*at).is_some_and(|open| is_wait(code, open))
    };
    code.named(&named.name).iter().any(is_given)
}
