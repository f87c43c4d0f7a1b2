//! To come: table.
