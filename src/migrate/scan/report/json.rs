//! One JSON object for machines.

use serde_json::{Value, json};

use super::{Located, Region, Report};

/// The report as JSON.
pub fn write(report: &Report) -> String {
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|skipped| json!({"path": skipped.path, "why": skipped.why, "fault": skipped.is_fault}))
        .collect();
    let found: Vec<_> = report.found.iter().map(one).collect();
    json!({"version": 1, "files": report.files, "findings": found, "skipped": skipped}).to_string()
}

fn one(located: &Located) -> Value {
    let finding = &located.finding;
    let Region {
        line,
        column,
        end_line,
        end_column,
    } = located.region;
    json!({
        "path": located.path,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "kind": finding.kind.name(),
        "certain": finding.certain,
        "topic": finding.topic(),
        "toolbox_id": finding.toolbox_id,
        "message": finding.title(),
        "replacement": {"topic": finding.replacement_topic(), "payload": finding.replacement_payload()},
        "advice": finding.advice(),
        "snippet": located.snippet,
        "takes_first_answer": finding.takes_first,
        "fixable": finding.fix.is_ok(),
        "fixed": located.fixed,
        "left_because": finding.fix.as_ref().err(),
    })
}
