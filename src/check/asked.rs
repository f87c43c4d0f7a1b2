//! What a toolbox was asked, and a line that would have answered it. Pure.

use serde_json::{Map, Value, json};

use crate::protocol::transcript::matches;

/// The longest line that is made of what the toolbox itself wrote; a longer one helps nobody to see the point.
const LONGEST: usize = 400;

/// A request whose answer is due.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Its id.
    pub(super) id: u64,
    /// The request itself.
    pub(super) request: Value,
    /// What its answer must be.
    pub(super) pattern: Value,
}

impl Asked {
    /// The request that `pattern` answers, out of those `sent`.
    pub(super) fn of(pattern: &Value, sent: &[Value]) -> Self {
        let request = sent.iter().rev().find(|request| request["id"] == pattern["id"]);
        Self {
            id: pattern["id"].as_u64().unwrap_or_default(),
            request: request.cloned().unwrap_or_default(),
            pattern: pattern.clone(),
        }
    }

    /// Whether it asks what tools there are.
    pub(super) fn is_describe(&self) -> bool {
        self.pattern.pointer("/result/tools").is_some()
    }

    /// Whether only an error answers it.
    pub(super) fn wants_error(&self) -> bool {
        self.pattern.get("error").is_some()
    }

    /// The request in words.
    pub(super) fn words(&self) -> String {
        match (self.request["op"].as_str(), self.wants_error()) {
            (Some("describe"), _) => format!("describe (id {})", self.id),
            (Some("call"), true) => format!("a call of a tool it does not have (id {})", self.id),
            (Some("call"), false) => format!("a call of '{}' (id {})", self.tool(), self.id),
            _ => format!("an op it does not know (id {})", self.id),
        }
    }

    fn tool(&self) -> &str {
        self.request["name"].as_str().unwrap_or_default()
    }

    /// A whole line that answers it: what the toolbox `wrote` put right where that can be done, else an example.
    pub(super) fn should(&self, wrote: Option<&Value>) -> String {
        let mended = wrote.into_iter().flat_map(|wrote| self.mended(wrote));
        let short = |line: &String| line.len() <= LONGEST;
        let fits = |value: &Value| matches(&self.pattern, value);
        let mut lines = mended.filter(fits).map(|value| value.to_string()).filter(short);
        lines.next().unwrap_or_else(|| {
            let example = self.example();
            let line = if fits(&example) { &example } else { &self.pattern };
            line.to_string()
        })
    }

    /// What may have been meant.
    fn mended(&self, wrote: &Value) -> Vec<Value> {
        let result = |result: &Value| json!({"id": self.id, "result": result});
        let error = |error: &Value| json!({"id": self.id, "error": error});
        let mut meant = Vec::new();
        let pick = |pointer: &str| wrote.pointer(pointer).filter(|value| !value.is_null());
        if self.wants_error() {
            meant.extend(["/error", "/result/error"].into_iter().filter_map(pick).map(error));
        } else {
            meant.extend(pick("/result").map(&result));
            let tools = ["/result", "/tools"].into_iter().filter_map(pick);
            meant.extend(tools.map(|tools| result(&json!({"tools": tools}))));
            let inside = wrote.get("result").and_then(Value::as_str);
            meant.extend(
                inside
                    .and_then(|text| serde_json::from_str(text).ok())
                    .map(|value: Value| result(&value)),
            );
        }
        meant
    }

    fn example(&self) -> Value {
        let mut line = Map::from_iter([("id".to_owned(), json!(self.id))]);
        if self.is_describe() {
            let tools = json!([{"name": "hello", "description": "Greets somebody.", "parameters": []}]);
            line.insert("result".to_owned(), json!({"tools": tools}));
        } else if self.wants_error() {
            let what = match self.request["op"].as_str() {
                Some("call") => format!("unknown tool '{}'", self.tool()),
                other => format!("unknown op '{}'", other.unwrap_or_default()),
            };
            line.insert("error".to_owned(), json!(format!("ValueError: {what}")));
        }
        Value::Object(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe() -> Asked {
        let pattern = json!({"id": 1, "result": {"tools": "<array>", "...": "<any>"}, "...": "<any>"});
        Asked::of(&pattern, &[json!({"id": 1, "op": "describe"})])
    }

    #[test]
    fn a_line_that_should_have_been_is_made_of_the_line_that_was() {
        for (wrote, should) in [
            (json!({"result": {"tools": []}}), r#"{"id":1,"result":{"tools":[]}}"#),
            (
                json!({"id": "x", "result": [{"name": "a"}]}),
                r#"{"id":1,"result":{"tools":[{"name":"a"}]}}"#,
            ),
            (json!({"id": 1, "tools": []}), r#"{"id":1,"result":{"tools":[]}}"#),
            (
                json!({"id": 1, "result": "{\"tools\": []}"}),
                r#"{"id":1,"result":{"tools":[]}}"#,
            ),
        ] {
            assert_eq!(describe().should(Some(&wrote)), should, "{wrote}");
        }
        assert!(
            describe()
                .should(None)
                .starts_with(r#"{"id":1,"result":{"tools":[{"name":"hello""#)
        );
    }

    #[test]
    fn an_error_that_should_have_been_names_what_was_asked() {
        let pattern = json!({"id": 2, "error": "<error>", "...": "<any>"});
        let call = Asked::of(&pattern, &[json!({"id": 2, "op": "call", "name": "nope"})]);
        assert_eq!(
            call.should(None),
            r#"{"id":2,"error":"ValueError: unknown tool 'nope'"}"#
        );
        let inside = json!({"id": 2, "result": {"error": "no such tool"}});
        assert_eq!(call.should(Some(&inside)), r#"{"id":2,"error":"no such tool"}"#);
        let op = Asked::of(&pattern, &[json!({"id": 2, "op": "fly"})]);
        assert_eq!(op.should(None), r#"{"id":2,"error":"ValueError: unknown op 'fly'"}"#);
        assert_eq!(op.words(), "an op it does not know (id 2)");
    }
}
