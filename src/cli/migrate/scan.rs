//! `toolhost migrate scan`: files in, findings out, and the exit code they come to.

use std::path::PathBuf;

use super::args::{ScanArgs, ScanFormat};
use super::files::shown;
use super::{files, git};
use crate::cli::output::Output;
use crate::cli::replace::replace;
use crate::error::Error;
use crate::migrate::scan::report::{Located, Report, github, json, sarif, text};
use crate::migrate::scan::rewrite::{Rewritten, rewrite};
use crate::migrate::scan::{self, Finding, Kind, Language};

/// A file in which something was found.
struct Found {
    path: PathBuf,
    text: String,
    language: Language,
    /// Its findings in the report.
    findings: std::ops::Range<usize>,
}

/// `toolhost migrate scan`
pub(super) fn run(args: &ScanArgs, output: Output) -> Result<(), Error> {
    let (mut report, found) = look(args)?;
    report.settle();
    if args.fix {
        fix(args, &mut report, &found, output)?;
    }
    let written = match args.format {
        ScanFormat::Text => text::write(&report, output.colors_stdout()),
        ScanFormat::Json => json::write(&report),
        ScanFormat::Sarif => sarif::write(&report),
        ScanFormat::Github => github::write(&report),
    };
    match args.format {
        ScanFormat::Json | ScanFormat::Sarif => output.json(&written)?,
        _ if written.is_empty() => {}
        _ => output.data(written.as_bytes())?,
    }
    tell(args, &report, output);
    end(&report)
}

/// Reads what there is to read.
fn look(args: &ScanArgs) -> Result<(Report, Vec<Found>), Error> {
    let mut report = Report::default();
    let mut found = Vec::new();
    let skipped = files::each(&args.paths, |source| {
        report.files += 1;
        let mut findings = scan::scan(&source.text, source.language);
        findings.retain(|finding| !(args.no_mentions && finding.kind == Kind::Mention));
        if findings.is_empty() {
            return;
        }
        let path = shown(&source.path);
        let start = report.found.len();
        report.found.extend(findings.into_iter().map(|mut finding| {
            if !source.is_exact && finding.fix.is_ok() {
                finding.fix = Err("the file is not UTF-8".to_owned());
            }
            if source.is_copy && finding.fix.is_ok() {
                finding.fix = Err("it is a copy of what is made elsewhere; change it there".to_owned());
            }
            Located::of(&path, &source.text, finding)
        }));
        found.push(Found {
            path: source.path,
            text: source.text,
            language: source.language,
            findings: start..report.found.len(),
        });
    })?;
    report.skipped = skipped;
    Ok((report, found))
}

/// Rewrites what is certain, a file after the other, and shows first what that changes.
fn fix(args: &ScanArgs, report: &mut Report, found: &[Found], output: Output) -> Result<(), Error> {
    let runtime = super::super::quiet_runtime()?;
    for file in found {
        let findings = report.found.get(file.findings.clone()).unwrap_or_default();
        let findings: Vec<Finding> = findings.iter().map(|located| located.finding.clone()).collect();
        let path = shown(&file.path);
        let outcome = match rewrite(&file.text, file.language, &findings) {
            Ok(None) => continue,
            Ok(Some(new)) => change(args, file, &new, output, &runtime)?,
            Err(why) => Err(why),
        };
        let own = report.found.get_mut(file.findings.clone()).unwrap_or_default();
        for located in own.iter_mut().filter(|located| located.finding.fix.is_ok()) {
            match &outcome {
                Ok(()) => located.fixed = !args.dry_run,
                Err(why) => located.finding.fix = Err(why.clone()),
            }
        }
        if let Err(why) = outcome {
            output.talk(&format!("{path} is not rewritten: {why}"));
        }
    }
    note(report, output);
    Ok(())
}

/// What a rewritten call needs that its text does not show: its answer topic was the toolbox's own before.
fn note(report: &Report, output: Output) {
    let is_rewritten = |located: &&Located| located.finding.fix.is_ok() && located.finding.takes_first;
    let calls = match report.found.iter().filter(is_rewritten).count() {
        0 => return,
        1 => "1 rewritten call waits".to_owned(),
        many => format!("{many} rewritten calls wait"),
    };
    output.talk(&format!(
        "note: {calls} for the first answer on a topic that all toolboxes share: compare toolbox_id, or a key of your own in \
         the context (examples/migration/README.md shows how)"
    ));
}

/// Shows what changes in a file and, unless that was all, writes it. The inner error says why the file stays as it is.
fn change(
    args: &ScanArgs,
    file: &Found,
    new: &Rewritten,
    output: Output,
    runtime: &tokio::runtime::Runtime,
) -> Result<Result<(), String>, Error> {
    if !args.force
        && let Some(obstacle) = runtime.block_on(git::obstacle(&file.path))
    {
        return Ok(Err(format!("{obstacle} (--force rewrites it all the same)")));
    }
    let path = shown(&file.path);
    let (old, name) = if path.starts_with('/') {
        (path.clone(), path.clone())
    } else {
        (format!("a/{path}"), format!("b/{path}"))
    };
    let diff = format!("--- {}\n+++ {}\n{}", quoted(&old), quoted(&name), new.hunks);
    match args.format {
        ScanFormat::Text => output.data(diff.as_bytes())?,
        // stdout belongs to the report.
        _ => output.talk(&diff),
    }
    if args.dry_run {
        return Ok(Ok(()));
    }
    Ok(replace(&file.path, &file.text, &new.text).map_err(|error| format!("it cannot be written: {error}")))
}

/// A name as git writes it in a diff: in quotes where it would break the line, or tell a terminal what to do.
fn quoted(name: &str) -> String {
    if !name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '"' | '\\' => quoted.extend(['\\', c]),
            _ if c.is_control() => {
                let mut bytes = [0; 4];
                let octal = |byte: u8| format!("\\{byte:03o}");
                quoted.extend(c.encode_utf8(&mut bytes).bytes().map(octal));
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// What a person wants to know beside the findings.
fn tell(args: &ScanArgs, report: &Report, output: Output) {
    let mut quiet = 0usize;
    for skipped in &report.skipped {
        if skipped.is_told {
            output.talk(&format!("not scanned: {}: {}", skipped.path, skipped.why));
        } else {
            quiet += 1;
        }
    }
    let fixed = report.found.iter().filter(|located| located.fixed).count();
    let files = if report.files == 1 { "file" } else { "files" };
    let mut line = format!("{} {files} scanned", report.files);
    if quiet > 0 {
        let links = if quiet == 1 { "symbolic link" } else { "symbolic links" };
        line.push_str(&format!(", {quiet} {links} not followed"));
    }
    if args.fix && !args.dry_run {
        let places = if fixed == 1 { "place" } else { "places" };
        line.push_str(&format!(", {fixed} {places} rewritten"));
    }
    output.talk(&line);
}

/// 0 for nothing, 1 for anything, also for what could not be read: it may hold a caller.
fn end(report: &Report) -> Result<(), Error> {
    let counts = report.counts();
    if !counts.is_empty() {
        return Err(Error::failed(format!("found {counts}")));
    }
    if !report.is_whole() {
        return Err(Error::failed("nothing was found, but not everything could be read"));
    }
    Ok(())
}
