//! What a description itself shows, without a call: members of other protocols, names, dialects, examples. Pure.

mod dialect;
mod examples;
mod later;
mod members;
mod walk;

use serde_json::Value;

use crate::protocol::describe::Description;

pub(super) use later::{Regret, regrets};

/// The longest piece of a description that is shown.
const LONGEST: usize = 300;

/// One thing to mend in a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) is_fault: bool,
    pub(super) what: String,
}

impl Remark {
    fn fault(what: String) -> Self {
        Self { is_fault: true, what }
    }

    fn warning(what: String) -> Self {
        Self { is_fault: false, what }
    }
}

/// Looks a describe result over, and reads it where it can be read. `is_own`: the toolbox wrote it, rather than toolhost
/// for it, so that showing it helps.
pub(super) fn look_over(raw: &str, is_own: bool) -> (Option<Description>, Vec<Remark>) {
    let result: Value = serde_json::from_str(raw).unwrap_or_default();
    let mut remarks = members::of_result(&result);
    let read = Description::read(raw);
    match &read {
        Ok(description) => remarks.extend(
            description
                .warnings
                .iter()
                .map(|what| shown(&result, what, is_own, false)),
        ),
        Err(faults) => remarks.extend(faults.iter().map(|what| shown(&result, what, is_own, true))),
    }
    let tools = result.get("tools").and_then(Value::as_array);
    for (index, tool) in tools.into_iter().flatten().enumerate() {
        remarks.extend(members::of_tool(index + 1, tool));
    }
    let description = read.ok();
    for tool in description.iter().flat_map(|description| &description.tools) {
        let own = tools.and_then(|tools| tools.get(tool.number - 1));
        let listed = own.is_some_and(|own| own.get("parameters").is_some_and(|given| !given.is_null()));
        let schemas = [
            (
                if listed { "parameters" } else { "argument_schema" },
                &tool.argument_schema,
            ),
            ("output_schema", &tool.output_schema),
        ];
        for (place, raw) in schemas {
            let Some(schema) = raw.as_deref().and_then(|raw| serde_json::from_str(raw).ok()) else {
                continue;
            };
            let place = format!("tool {} ('{}'): {place}", tool.number, tool.name);
            remarks.extend(dialect::of(&place, &schema));
            remarks.extend(examples::of(&place, &schema));
        }
    }
    (description, remarks)
}

/// A remark of the host's own reading, with the tool it is about as it is and as it should be.
fn shown(result: &Value, what: &str, is_own: bool, is_fault: bool) -> Remark {
    let mut text = what.to_owned();
    let number = what
        .strip_prefix("tool ")
        .and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    // `'a' is listed twice, as tool 1 and as tool 2`: the second is the one to rename.
    let number = number.or_else(|| {
        what.contains(" listed twice")
            .then(|| what.rsplit(' ').next()?.parse().ok())
            .flatten()
    });
    let tool = number
        .filter(|_| is_own)
        .and_then(|number| result.get("tools")?.get(number.checked_sub(1)?));
    if let (Some(number), Some(tool)) = (number, tool) {
        text.push_str(&pair(tool, &members::mended(number, tool, what)));
    }
    Remark { is_fault, what: text }
}

/// The two lines that show a piece as it is and as it should be.
fn pair(wrote: &Value, should: &Value) -> String {
    let shown = crate::protocol::answer::sample(clipped(wrote).as_bytes());
    let mut text = format!("\nwrote:  {shown}");
    if should != wrote {
        text.push_str(&format!("\nshould: {}", clipped(should)));
    }
    text
}

fn clipped(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
