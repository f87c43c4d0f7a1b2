//! What a check found, and how it is said. Pure.

use std::fmt::{self, Write as _};

use super::play::Played;

/// Findings of one kind that are shown of what may differ each time: lines of noise.
const SHOWN: usize = 3;

/// One thing to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it fails the check; else it is a warning.
    pub is_fault: bool,
    /// The transcript, or `describe`.
    pub place: String,
    /// What kind of thing it is; empty where its words alone say so.
    pub kind: &'static str,
    /// What is wrong, with what was written and what should have been.
    pub what: String,
}

impl Finding {
    /// A fault that its words alone tell from others.
    pub(super) fn fault(place: &str, what: String) -> Self {
        Self {
            is_fault: true,
            place: place.to_owned(),
            kind: "",
            what,
        }
    }

    /// A warning that its words alone tell from others.
    pub(super) fn warning(place: &str, what: String) -> Self {
        Self {
            is_fault: false,
            ..Self::fault(place, what)
        }
    }
}

/// What was found at one toolbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The toolbox, or the file where that as a whole is meant.
    pub toolbox_id: String,
    /// Its published tools.
    pub tools: Vec<String>,
    /// What is to be mended.
    pub findings: Vec<Finding>,
    /// What this system can hold it to, where it asks to be held.
    pub here: Option<String>,
    /// Its last describe result, raw.
    pub(super) described: Option<String>,
}

impl Report {
    pub(super) fn new(toolbox_id: &str) -> Self {
        Self {
            toolbox_id: toolbox_id.to_owned(),
            ..Self::default()
        }
    }

    /// Whether nothing fails the check.
    pub fn is_good(&self) -> bool {
        !self.findings.iter().any(|finding| finding.is_fault)
    }

    /// Whether a fault looks like that of a program that was not let in somewhere.
    pub(super) fn shows_a_denial(&self) -> bool {
        let is_denied = |what: &str| {
            let what = what.to_lowercase();
            [
                "permission denied",
                "not permitted",
                "no module named",
                "cannot find module",
            ]
            .iter()
            .any(|words| what.contains(words))
        };
        self.findings
            .iter()
            .any(|finding| finding.is_fault && is_denied(&finding.what))
    }

    pub(super) fn take(&mut self, played: Played) {
        self.described = played.described.or(self.described.take());
        for finding in played.findings {
            self.add(finding);
        }
    }

    pub(super) fn fault(&mut self, place: &str, what: String) {
        self.add(Finding::fault(place, what));
    }

    pub(super) fn warn_all<'a>(&mut self, place: &str, warnings: impl IntoIterator<Item = &'a String>) {
        for what in warnings {
            self.add(Finding::warning(place, what.clone()));
        }
    }

    /// The same thing is said once, whichever transcripts show it.
    pub(super) fn add(&mut self, finding: Finding) {
        let said = self.findings.iter().any(|known| known.what == finding.what);
        let alike = self.findings.iter().filter(|known| known.kind == finding.kind).count();
        let enough = match finding.kind {
            "" => false,
            "noise" => alike >= SHOWN,
            _ => alike > 0,
        };
        if !said && !enough {
            self.findings.push(finding);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_good() { "ok  " } else { "FAIL" };
        write!(f, "{verdict} {}", self.toolbox_id)?;
        match self.tools.as_slice() {
            [] => f.write_char('\n')?,
            [tool] => writeln!(f, ": 1 tool, {tool}")?,
            tools => writeln!(f, ": {} tools, {}", tools.len(), tools.join(", "))?,
        }
        if let Some(here) = &self.here {
            writeln!(f, "  limits and sandboxes here: {here}")?;
        }
        let (faults, warnings): (Vec<_>, Vec<_>) = self.findings.iter().partition(|finding| finding.is_fault);
        for finding in faults.into_iter().chain(warnings) {
            let kind = if finding.is_fault { "fault" } else { "warning" };
            writeln!(
                f,
                "  {kind} in {}: {}",
                finding.place,
                finding.what.replace('\n', "\n    ")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_each_thing_once_faults_first_and_fails_on_faults_only() {
        let mut report = Report::new("wn");
        report.warn_all("describe", [&"no description".to_owned()]);
        report.tools.push("define".to_owned());
        assert!(report.is_good());
        assert_eq!(
            report.to_string(),
            "ok   wn: 1 tool, define\n  warning in describe: no description\n"
        );
        report.fault("close", "does not exit".to_owned());
        report.fault("describe", "does not exit".to_owned());
        assert!(!report.is_good());
        assert_eq!(
            report.to_string(),
            "FAIL wn: 1 tool, define\n  fault in close: does not exit\n  warning in describe: no description\n"
        );
    }

    #[test]
    fn what_differs_only_in_its_sample_is_said_once_and_noise_three_times() {
        let mut report = Report::new("wn");
        for (kind, times) in [("no id", 5), ("noise", 5)] {
            for number in 0..times {
                report.add(Finding {
                    kind,
                    ..Finding::warning("describe", format!("{kind} {number}"))
                });
            }
        }
        assert_eq!(report.findings.len(), 4);
    }
}
