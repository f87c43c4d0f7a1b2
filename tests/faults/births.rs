//! To come: births.
