//! For people: the line, where in it, and what to do.

use std::fmt::Write as _;

use super::{Located, Report, visible};

/// Characters of a line that are shown.
const WIDTH: usize = 160;
/// Of these, before the finding.
const BEFORE: usize = 60;

/// What is left, and in `color` where a terminal shows it.
pub fn write(report: &Report, color: bool) -> String {
    let mut out = String::new();
    for located in report.left() {
        one(&mut out, located, color).unwrap_or_default();
    }
    out
}

fn one(out: &mut String, located: &Located, color: bool) -> std::fmt::Result {
    let (bold, red, off) = if color {
        ("\x1b[1m", "\x1b[31m", "\x1b[0m")
    } else {
        ("", "", "")
    };
    let finding = &located.finding;
    let region = &located.region;
    let path = visible(&located.path);
    let likely = if finding.certain { "" } else { "probably " };
    writeln!(
        out,
        "{bold}{path}:{}:{}: {}: {likely}{}{off}",
        region.line,
        region.column,
        finding.kind.name(),
        visible(&finding.title())
    )?;
    let (snippet, at, length) = cut(located);
    let number = region.line.to_string();
    let margin = " ".repeat(number.len());
    writeln!(out, "{margin} |")?;
    writeln!(out, "{number} | {snippet}")?;
    writeln!(out, "{margin} | {}{red}{}{off}", " ".repeat(at), "^".repeat(length))?;
    writeln!(out, "{margin} = {}", visible(&finding.advice()))?;
    if finding.takes_first {
        writeln!(
            out,
            "{margin} = it waits for the first answer on a topic that all toolboxes share: compare toolbox_id, or a key of your own in the context"
        )?;
    }
    match &finding.fix {
        Ok(_) => writeln!(out, "{margin} = --fix rewrites it\n"),
        Err(why) => writeln!(out, "{margin} = left to you: {}\n", visible(why)),
    }
}

/// The part of the line that is shown, where the finding begins in it, and how long it is there.
fn cut(located: &Located) -> (String, usize, usize) {
    let region = &located.region;
    let characters: Vec<char> = visible(&located.snippet).chars().collect();
    let left_out = located.left_out.unwrap_or_default();
    let start = region.column - 1 - left_out;
    let end = if region.end_line == region.line {
        region.end_column - 1 - left_out
    } else {
        characters.len()
    };
    let from = if characters.len() > WIDTH {
        start.saturating_sub(BEFORE)
    } else {
        0
    };
    let to = (from + WIDTH).min(characters.len());
    let shown: String = characters.get(from..to).unwrap_or_default().iter().collect();
    let (ahead, behind) = (
        if from > 0 { "..." } else { "" },
        if to < characters.len() { "..." } else { "" },
    );
    let length = end.min(to).saturating_sub(start).max(1);
    (
        format!("{ahead}{}{behind}", shown.trim_end()),
        start - from + ahead.len(),
        length,
    )
}
