//! To come: bus.
