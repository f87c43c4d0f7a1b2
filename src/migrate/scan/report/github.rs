//! Workflow commands: GitHub shows them beside the lines of a change.

use super::{Level, Located, RULES, Report, rule};

/// The report, a command a line.
pub fn write(report: &Report) -> String {
    let mut out = String::new();
    for located in report.left() {
        out.push_str(&one(located));
    }
    for skipped in report.skipped.iter().filter(|skipped| skipped.is_told) {
        let level = if skipped.is_fault { "error" } else { "notice" };
        out.push_str(&format!(
            "::{level} file={},title=not scanned::{}\n",
            property(&skipped.path),
            message(&skipped.why)
        ));
    }
    out
}

fn one(located: &Located) -> String {
    let finding = &located.finding;
    let (id, _, level) = RULES.get(rule(finding.kind)).copied().unwrap_or(("", "", Level::Note));
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let region = &located.region;
    // GitHub knows the end of a column only on one line.
    let end = if region.line == region.end_line {
        format!(",endColumn={}", region.end_column)
    } else {
        String::new()
    };
    format!(
        "::{level} file={},line={},endLine={},col={}{end},title={}::{}\n",
        property(&located.path),
        region.line,
        region.end_line,
        region.column,
        property(id),
        message(&format!("{}: {}", finding.title(), finding.advice()))
    )
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
