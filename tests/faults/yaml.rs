//! To come: yaml.
