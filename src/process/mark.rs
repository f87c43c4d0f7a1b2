//! What every started process carries in its environment, so that what descends from it is known wherever it goes. Pure
//! but for the one look at this process's own.
//!
//! A process that calls `setsid`, or forks twice, leaves its group and loses its parent. It keeps its environment.

use std::ffi::OsString;

/// The variable. A host that is itself a toolbox of another adds to what it carries, so that both know what is theirs.
pub(super) const VARIABLE: &str = "TOOLHOST_PROCESS";

/// Between the marks of a host and of the hosts around it.
const SEPARATOR: char = ':';

/// The mark of one host: no other host has the same, now or before.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    host: String,
    /// What this host carries itself.
    around: Option<OsString>,
}

impl Mark {
    /// The mark of this process. Whoever copies it marks himself to be ended, so it need not be a secret.
    pub(super) fn of_this_process() -> Self {
        Self {
            host: format!("{}-{:016x}", std::process::id(), fastrand::u64(..)),
            around: std::env::var_os(VARIABLE).filter(|around| !around.is_empty()),
        }
    }

    /// What the process of that number gets.
    pub(super) fn value(&self, number: u64) -> OsString {
        let mut value = OsString::new();
        if let Some(around) = &self.around {
            value.push(around);
            value.push(SEPARATOR.to_string());
        }
        value.push(format!("{}.{number}", self.host));
        value
    }

    /// The number of the process that an environment, as in `/proc/PID/environ`, descends from.
    pub(super) fn number(&self, environment: &[u8]) -> Option<u64> {
        let values = environment.split(|byte| *byte == 0).filter_map(|variable| {
            let value = variable.strip_prefix(VARIABLE.as_bytes())?;
            value.strip_prefix(b"=")
        });
        // A process may have set the variable a second time.
        values
            .flat_map(|value| value.split(|byte| *byte == SEPARATOR as u8))
            .find_map(|mark| {
                let number = mark.strip_prefix(self.host.as_bytes())?.strip_prefix(b".")?;
                std::str::from_utf8(number).ok()?.parse().ok()
            })
    }

    /// Whether this host carries the mark of another itself.
    #[cfg(test)]
    fn within(around: &str) -> Self {
        Self {
            around: Some(around.into()),
            ..Self::of_this_process()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn environment(mark: &Mark, number: u64) -> Vec<u8> {
        let mut all = b"PATH=/bin\0TOOLHOST_PROCESS=".to_vec();
        all.extend_from_slice(mark.value(number).as_bytes());
        all.extend_from_slice(b"\0Z=1\0");
        all
    }

    #[test]
    fn a_process_is_known_by_what_it_carries() {
        let mark = Mark::of_this_process();
        assert_eq!(mark.number(&environment(&mark, 7)), Some(7));
        let other = Mark::of_this_process();
        assert_eq!(other.number(&environment(&mark, 7)), None, "of another host");
        for odd in [
            b"".as_slice(),
            b"\0\0",
            b"TOOLHOST_PROCESS",
            b"XTOOLHOST_PROCESS=1.2",
            b"TOOLHOST_PROCESS=\xff",
        ] {
            assert_eq!(mark.number(odd), None);
        }
    }

    #[test]
    fn a_host_in_a_host_leaves_the_outer_one_its_mark() {
        let outer = Mark::of_this_process();
        let inner = Mark::within(&outer.value(3).to_string_lossy());
        let carried = environment(&inner, 12);
        assert_eq!((outer.number(&carried), inner.number(&carried)), (Some(3), Some(12)));
    }
}
