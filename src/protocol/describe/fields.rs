//! The members of an object taken one by one, faults and warnings collected on the way.

use serde_json::value::RawValue;

use super::json_kind;
use crate::json::{self, Kind, Members};

/// Faults and warnings of one object.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// An object being read; `place` opens every message about it.
pub(super) struct Fields<'m, 'a> {
    members: &'m Members<'a>,
    place: String,
    found: Found,
}

impl<'m, 'a> Fields<'m, 'a> {
    pub(super) fn new(members: &'m Members<'a>, place: impl Into<String>) -> Self {
        Self {
            members,
            place: place.into(),
            found: Found::default(),
        }
    }

    /// Once the object's name is known it is part of every message.
    pub(super) fn rename(&mut self, place: String) {
        self.place = place;
    }

    pub(super) fn fault(&mut self, text: String) {
        self.found.faults.push(text);
    }

    /// A fault that starts with the place.
    pub(super) fn fault_here(&mut self, text: &str) {
        self.found.faults.push(format!("{} {text}", self.place));
    }

    pub(super) fn warn_here(&mut self, text: &str) {
        self.found.warnings.push(format!("{} {text}", self.place));
    }

    /// A member that is there. Null is how many a language writes an absent one.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.members.get(name).filter(|raw| json::kind(raw) != Kind::Null)
    }

    /// A string; anything else is a fault.
    pub(super) fn string(&mut self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        let text = json::string(raw);
        if text.is_none() {
            let what = match json::kind(raw) {
                Kind::String => "not valid text",
                _ => json_kind(raw),
            };
            self.fault_here(&format!("has a '{name}' that is {what}, expected a string"));
        }
        text.map(|text| text.into_owned())
    }

    /// A string that only adorns; anything else is a warning.
    pub(super) fn decoration(&mut self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        let text = json::string(raw);
        if text.is_none() {
            let what = json_kind(raw);
            self.warn_here(&format!("has a '{name}' that is {what}, expected a string: ignored"));
        }
        text.map(|text| text.into_owned())
    }

    /// What was found, in order.
    pub(super) fn finish(self) -> Found {
        self.found
    }
}
