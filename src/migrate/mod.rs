//! What a move off the predecessor topics of OVOS-TOOLS-1 §6 needs beside a running host.

pub mod scan;
