//! Lists of tools for people. Pure.

use serde_json::Value;

use super::example;
use super::table::{Cell, Tint, render};

/// The longest text a column shows; what is longer ends in an ellipsis.
const WIDEST: usize = 60;

/// A table of the tools in `groups`: each a toolbox_id and an array of definitions.
pub(crate) fn tools_table(groups: &[(String, Vec<Value>)], color: bool) -> String {
    let heading = ["TOOLBOX", "TOOL", "ARGUMENTS", "DESCRIPTION"];
    let mut rows = vec![heading.map(|text| Cell::left(text).tinted(Tint::Dim)).to_vec()];
    for (toolbox_id, tools) in groups {
        for tool in tools {
            rows.push(vec![
                Cell::left(toolbox_id),
                Cell::left(text_of(tool, "name")),
                Cell::left(shortened(&example::arguments(tool))),
                Cell::left(shortened(text_of(tool, "description"))),
            ]);
        }
        if tools.is_empty() {
            rows.push(vec![
                Cell::left(toolbox_id),
                Cell::left("(no tools)").tinted(Tint::Waiting),
            ]);
        }
    }
    render(&rows, color)
}

/// A flat list of definitions, grouped by the toolbox_id each carries, in the order they come.
pub(crate) fn by_toolbox(tools: Vec<Value>) -> Vec<(String, Vec<Value>)> {
    let mut groups: Vec<(String, Vec<Value>)> = Vec::new();
    for tool in tools {
        let toolbox_id = text_of(&tool, "toolbox_id");
        match groups.iter_mut().find(|(id, _)| id == toolbox_id) {
            Some((_, group)) => group.push(tool),
            None => groups.push((toolbox_id.to_owned(), vec![tool])),
        }
    }
    groups
}

/// How to call the first tool there is.
pub(crate) fn first_call(groups: &[(String, Vec<Value>)]) -> Option<String> {
    groups
        .iter()
        .find_map(|(toolbox_id, tools)| example::call_line(toolbox_id, tools.first()?))
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `'a', 'b'`, or `none`.
pub(crate) fn quoted(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    names.join(", ")
}

fn text_of<'a>(tool: &'a Value, key: &str) -> &'a str {
    tool.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The first line of `text`, not too much of it.
fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= WIDEST {
        return line.to_owned();
    }
    let kept: String = line.chars().take(WIDEST - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_stand_under_their_toolbox() {
        let long = "x".repeat(70);
        let groups = by_toolbox(vec![
            json!({"name": "define_word", "toolbox_id": "wordnet", "description": "Define a word.\nAt length.",
                "argument_schema": {"required": ["word"], "properties": {"word": {}, "lang": {}}}}),
            json!({"name": "now", "toolbox_id": "clock", "description": long}),
            json!({"name": "relations", "toolbox_id": "wordnet"}),
        ]);
        let mut groups = groups;
        groups.push(("empty".to_owned(), Vec::new()));
        let expected = format!(
            "TOOLBOX  TOOL         ARGUMENTS    DESCRIPTION\n\
             wordnet  define_word  word [lang]  Define a word.\n\
             wordnet  relations\n\
             clock    now                       {}…\n\
             empty    (no tools)\n",
            "x".repeat(59)
        );
        assert_eq!(tools_table(&groups, false), expected);
        assert_eq!(
            first_call(&groups).as_deref(),
            Some("toolhost call wordnet define_word word=…")
        );
        assert_eq!(counted(1, "tool") + &counted(0, "tool"), "1 tool0 tools");
    }
}
