//! To come: reload.
