//! What frames say.
