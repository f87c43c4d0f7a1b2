//! To come: pipes.
