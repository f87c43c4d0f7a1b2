//! To come: tools.
