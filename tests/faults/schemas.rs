//! To come: schemas.
