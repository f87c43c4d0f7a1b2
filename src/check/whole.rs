//! What only the file as a whole shows: names that two toolboxes share, secrets in arguments, what models will miss.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::lint;
use super::report::{Finding, Report};
use crate::adapter::script::Language;
use crate::config::{Config, Kind, Outlook, ToolboxConfig, joined};
use crate::protocol::describe::Description;

/// Where these warnings are found.
const PLACE: &str = "configuration";

/// Adds to `reports`, one a toolbox in the order of the file, what will bite later.
pub(super) fn warn(config: &Config, outlook: &Outlook, reports: &mut Vec<Report>) {
    for (toolbox, report) in config.toolboxes.iter().zip(reports.iter_mut()) {
        miss(toolbox, outlook, report);
    }
    share(config, outlook, reports);
    let mut others = Report::new(
        &config
            .file
            .file_name()
            .map_or_else(String::new, |name| name.display().to_string()),
    );
    for warning in &outlook.warnings {
        let own = |toolbox: &&ToolboxConfig| {
            let rest = warning
                .path
                .strip_prefix("toolboxes.")
                .and_then(|path| path.strip_prefix(&toolbox.id));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let index = config.toolboxes.iter().position(|toolbox| own(&toolbox));
        let report = match index.and_then(|index| reports.get_mut(index)) {
            Some(report) => report,
            None => &mut others,
        };
        report.add(Finding::warning(PLACE, warning.to_string()));
    }
    if !others.findings.is_empty() {
        reports.push(others);
    }
}

/// What callers of one toolbox will miss.
fn miss(toolbox: &ToolboxConfig, outlook: &Outlook, report: &mut Report) {
    let described = report.described.as_deref().map(Description::parse);
    let Some(Ok(description)) = described else { return };
    let path = format!("toolboxes.{}", toolbox.id);
    let is_declared = matches!(toolbox.kind, Kind::Tools(_));
    let at = |key: String| match outlook.place(&key) {
        Some(place) => format!(" ({place})"),
        None => String::new(),
    };
    if description.tools.is_empty() {
        let what = format!("the toolbox has no tools{}", at(path.clone()));
        report.add(Finding::warning(PLACE, what));
    }
    if is_declared {
        // Said with its line, it need not be said without.
        report
            .findings
            .retain(|finding| !finding.what.contains("has no description: a model"));
        for tool in description.tools.iter().filter(|tool| tool.description.is_empty()) {
            let place = at(format!("{path}.tools.{}", tool.name));
            let what = format!(
                "tool '{}' has no description: a model cannot tell when to use it{place}",
                tool.name
            );
            report.add(Finding::warning(PLACE, what));
        }
    }
    for lint::Regret { key, tool, what } in lint::regrets(&description) {
        let place = if is_declared {
            at(format!("{path}.tools.{tool}{key}"))
        } else {
            String::new()
        };
        report.add(Finding::warning(PLACE, format!("tool '{tool}' {what}{place}")));
    }
}

/// Names that several toolboxes publish: no call by the name alone can tell them apart.
fn share(config: &Config, outlook: &Outlook, reports: &mut [Report]) {
    let mut owners: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, report) in reports.iter().enumerate() {
        for tool in &report.tools {
            owners.entry(tool.clone()).or_default().push(index);
        }
    }
    for (tool, owners) in owners.iter().filter(|(_, owners)| owners.len() > 1) {
        let named = |index: &usize| {
            let id = config.toolboxes.get(*index).map_or("", |toolbox| toolbox.id.as_str());
            match outlook.place(&format!("toolboxes.{id}")) {
                Some(place) => format!("'{id}' ({place})"),
                None => format!("'{id}'"),
            }
        };
        let all: Vec<String> = owners.iter().map(named).collect();
        let what = format!(
            "tool '{tool}' is published by {}: a call by its name alone is refused as ambiguous; give a toolbox a \
             'namespace:', or the tool another name under 'rename:'",
            joined(&all, "and")
        );
        // Where the second one comes in, something is to be done.
        if let Some(report) = owners.get(1).and_then(|index| reports.get_mut(*index)) {
            report.add(Finding::warning(PLACE, what));
        }
    }
}

/// What to do instead, where `file` is a program and no configuration.
pub(super) fn program_in_place_of_file(file: &Path) -> Option<String> {
    let mut start = [0; 2];
    let is_shebang = crate::regular_file::open(file)
        .and_then(|(mut open, _)| open.read_exact(&mut start))
        .is_ok_and(|()| &start == b"#!");
    let yaml = file
        .extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml");
    if yaml || !file.is_file() || !(is_shebang || Language::of(file).is_some()) {
        return None;
    }
    let shown = file.display();
    // A bare name would be looked for on the PATH.
    let dot = if file.to_string_lossy().contains('/') { "" } else { "./" };
    let run = match Language::of(file) {
        _ if is_shebang => "",
        Some(Language::Python) => "python3 ",
        Some(Language::Node) => "node ",
        Some(Language::Bash) | None => "bash ",
    };
    Some(format!(
        "{shown} is a program, not a configuration. To check a program: toolhost check -- {run}{dot}{shown}. A plain script \
         that does not speak the protocol stands in a configuration: toolboxes: {{NAME: {{script: {dot}{shown}}}}}"
    ))
}

#[cfg(test)]
mod tests;
