//! To come: late.
