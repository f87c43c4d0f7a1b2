//! A call of a tool as one would type it, from its definition. Pure.

use serde_json::Value;

/// `toolhost call wordnet define_word word=…` for a tool of a toolbox, its required arguments filled in as far as
/// the schema says what they may be.
pub(crate) fn call_line(toolbox_id: &str, tool: &Value) -> Option<String> {
    let name = tool.get("name")?.as_str()?;
    let mut line = format!("toolhost call {} {}", quoted(toolbox_id), quoted(name));
    for argument in required(tool) {
        let schema = tool
            .get("argument_schema")
            .and_then(|schema| schema.get("properties")?.get(argument));
        line.push(' ');
        line.push_str(&quoted(&filled_in(argument, schema)));
    }
    Some(line)
}

/// The names of the arguments of a tool: those it needs, then in brackets those it takes.
pub(crate) fn arguments(tool: &Value) -> String {
    let required: Vec<&str> = required(tool).collect();
    let optional = tool
        .get("argument_schema")
        .and_then(|schema| schema.get("properties")?.as_object())
        .into_iter()
        .flat_map(|properties| properties.keys())
        .filter(|name| !required.contains(&name.as_str()))
        .map(|name| format!("[{name}]"));
    let all: Vec<String> = required.iter().map(|&name| name.to_owned()).chain(optional).collect();
    all.join(" ")
}

fn required(tool: &Value) -> impl Iterator<Item = &str> {
    tool.get("argument_schema")
        .and_then(|schema| schema.get("required")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// One argument with a value its schema allows, or an ellipsis for one to be thought of.
fn filled_in(name: &str, schema: Option<&Value>) -> String {
    let known = schema.and_then(|schema| {
        let first = |key: &str| schema.get(key)?.as_array()?.first();
        first("examples")
            .or_else(|| first("enum"))
            .or_else(|| schema.get("default"))
    });
    match known {
        Some(Value::String(text)) => return format!("{name}={text}"),
        Some(value) => return format!("{name}:={value}"),
        None => {}
    }
    match schema.and_then(|schema| schema.get("type")?.as_str()) {
        Some("integer" | "number") => format!("{name}:=1"),
        Some("boolean") => format!("{name}:=true"),
        Some("array") => format!("{name}:=[]"),
        Some("object") => format!("{name}:={{}}"),
        _ => format!("{name}=…"),
    }
}

/// `word` as a shell takes it: in quotes where it would read more than a word.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_.,:=/@%+…".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_required_arguments_are_filled_in() {
        let table = [
            (json!({"name": "now"}), "toolhost call box now"),
            (
                json!({"name": "define", "argument_schema": {"required": ["word"], "properties": {"word": {"type": "string"}, "lang": {}}}}),
                "toolhost call box define word=…",
            ),
            (
                json!({"name": "add", "argument_schema": {"required": ["a", "b", "c", "d"], "properties": {
                    "a": {"type": "integer"}, "b": {"enum": ["x y"]}, "c": {"type": "array"}, "d": {"default": 2.5}}}}),
                "toolhost call box add a:=1 'b=x y' 'c:=[]' d:=2.5",
            ),
            (
                json!({"name": "it's", "argument_schema": {"required": ["q"], "properties": {"q": {"examples": ["tea"]}}}}),
                "toolhost call box 'it'\\''s' q=tea",
            ),
        ];
        for (tool, expected) in table {
            assert_eq!(call_line("box", &tool).as_deref(), Some(expected));
        }
        assert_eq!(call_line("box", &json!({})), None);
    }

    #[test]
    fn optional_arguments_stand_in_brackets() {
        let tool =
            json!({"name": "d", "argument_schema": {"required": ["word"], "properties": {"lang": {}, "word": {}}}});
        assert_eq!(arguments(&tool), "word [lang]");
        assert_eq!(arguments(&json!({"name": "d", "argument_schema": true})), "");
    }
}
