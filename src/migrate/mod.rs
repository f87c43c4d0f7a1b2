//! Off the predecessor topics (OVOS-TOOLS-1 §6): who still uses them, and since when nobody does.
//!
//! [`usage`] does the accounts, [`ledger`] is where the bridge enters calls and what keeps them over restarts,
//! [`verdict`] answers the question.

pub mod ledger;
pub mod usage;
pub mod verdict;
