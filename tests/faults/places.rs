//! To come: places.
