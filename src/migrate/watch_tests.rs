//! The verdict on hosts, by table.
