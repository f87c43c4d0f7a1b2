//! The laws of `tests/properties/laws/`, for the fuzz targets: what is claimed stands in one place.

#[path = "../properties/laws/mod.rs"]
pub mod laws;
