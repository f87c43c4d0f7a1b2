//! Rewrites texts.
