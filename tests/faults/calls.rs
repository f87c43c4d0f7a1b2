//! To come: calls.
