//! What a toolbox's caller and its neighbours get, whatever the toolbox does: real child processes,
//! the supervisor alone, no bus.

mod calls;
mod faults;
mod harness;
mod life;
mod lines;
