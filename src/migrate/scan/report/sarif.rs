//! SARIF 2.1.0, the format in which code scanners exchange what they find.

use serde_json::{Value, json};

use super::{Level, Located, RULES, Region, Report, Skipped, rule};

/// The report as a SARIF log of one run.
pub fn write(report: &Report) -> String {
    let rules: Vec<_> = RULES
        .iter()
        .map(|(id, short, level)| {
            json!({
                "id": id,
                "shortDescription": {"text": short},
                "fullDescription": {"text": format!("{short}, which OVOS-TOOLS-1 replaces or does not read.")},
                "defaultConfiguration": {"level": name(*level)},
            })
        })
        .collect();
    let results: Vec<_> = report.left().map(result).collect();
    let notifications: Vec<_> = report.skipped.iter().map(notification).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "toolhost", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.is_whole(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
    .to_string()
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn region(region: &Region) -> Value {
    json!({
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    })
}

fn result(located: &Located) -> Value {
    let finding = &located.finding;
    let rule = rule(finding.kind);
    let (id, _, level) = RULES.get(rule).copied().unwrap_or(("", "", Level::Note));
    let at = region(&located.region);
    let line = located.region.line;
    let mut place = json!({"artifactLocation": {"uri": uri(&located.path)}, "region": at});
    // The line that holds the region. Of one that is cut, or of several, there is no telling which columns these are.
    let is_whole = located.left_out.is_none() && located.region.end_line == line;
    if let Value::Object(place) = &mut place
        && is_whole
    {
        let context = json!({"startLine": line, "snippet": {"text": located.snippet}});
        place.insert("contextRegion".to_owned(), context);
    }
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": rule,
        "level": name(level),
        "message": {"text": format!("{}: {}", finding.title(), finding.advice())},
        "locations": [{"physicalLocation": place}],
        "properties": {
            "toolbox_id": finding.toolbox_id,
            "topic": finding.topic(),
            "replacement": {"topic": finding.replacement_topic(), "payload": finding.replacement_payload()},
        },
    });
    if !located.changes.is_empty()
        && let Value::Object(result) = &mut result
    {
        result.insert("fixes".to_owned(), json!([fix(located)]));
    }
    result
}

fn fix(located: &Located) -> Value {
    let replacements: Vec<_> = located
        .changes
        .iter()
        .map(|(at, text)| json!({"deletedRegion": region(at), "insertedContent": {"text": text}}))
        .collect();
    json!({
        "description": {"text": located.finding.advice()},
        "artifactChanges": [{"artifactLocation": {"uri": uri(&located.path)}, "replacements": replacements}],
    })
}

fn notification(skipped: &Skipped) -> Value {
    json!({
        "level": if skipped.is_fault { "error" } else { "note" },
        "message": {"text": format!("{}: {}", skipped.path, skipped.why)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&skipped.path)}}}],
    })
}

/// A path as a reference (RFC 3986): relative as it is, absolute as `file://`.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    // A name such as `./a` is kept short; one with a colon would look like a scheme.
    for byte in path.strip_prefix("./").unwrap_or(path).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
