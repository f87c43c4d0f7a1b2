//! Off the predecessor topics (OVOS-TOOLS-1 §6): who still uses them, and since when nobody does.
//!
//! [`usage`] does the accounts, [`ledger`] is where the bridge enters calls and what keeps them over restarts,
//! [`verdict`] answers the question. [`sign`] tells what a host knows from how it answers discover, and [`watch`] puts
//! together what somebody who only listens can say of a bus. [`carry`] decides which calls are forwarded from one call
//! topic to the other, beside [`others`] that do it too. [`scan`] finds what uses them in source code.

pub mod carry;
pub mod ledger;
pub mod others;
pub mod scan;
pub mod sign;
pub mod usage;
pub mod verdict;
pub mod watch;
