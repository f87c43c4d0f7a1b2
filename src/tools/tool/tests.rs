//! Tests of `tools::tool`.

use super::*;

fn describe(tools: &str) -> Description {
    Description::parse(&format!(r#"{{"tools":{tools}}}"#)).unwrap()
}

fn publish(tools: &str, publish: &Publish) -> Result<ToolSet, String> {
    ToolSet::publish("box", &describe(tools), publish, false)
}

fn names(set: &ToolSet) -> Vec<&str> {
    set.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn definitions_have_the_five_fields_verbatim() {
    let schema = r#"{"$schema":"http://json-schema.org/draft-07/schema#","$comment":"c","x-foo":1.0,"b":{},"a":{},"$defs":{"z":{}},"additionalProperties":false}"#;
    let set = publish(
        &format!(
            r#"[{{"name":"a","description":"A \"tool\"","argument_schema":{schema},"output_schema":true,"title":"T"}},
                {{"name":"b","description":"B"}}, {{"name":"c","description":"C","argument_schema":false}}]"#
        ),
        &Publish::default(),
    )
    .unwrap();
    let a = format!(
        r#"{{"name":"a","description":"A \"tool\"","argument_schema":{schema},"output_schema":{{}},"toolbox_id":"box"}}"#
    );
    let b =
        r#"{"name":"b","description":"B","argument_schema":{"type":"object"},"output_schema":{},"toolbox_id":"box"}"#;
    let c = r#"{"name":"c","description":"C","argument_schema":{"not":{}},"output_schema":{},"toolbox_id":"box"}"#;
    assert_eq!(set.listing().as_str(), format!("[{a},{b},{c}]"));
    assert_eq!(set.get("a").unwrap().definition.as_str(), a);
    assert_eq!(publish("[]", &Publish::default()).unwrap().listing().as_str(), "[]");
}

#[test]
fn names_are_chosen_renamed_and_prefixed() {
    let tools = r#"[{"name":"define_word"},{"name":"define_all"},{"name":"find"}]"#;
    let text = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let rules = Publish {
        namespace: Some("wn".into()),
        rename: [("define_word".into(), "define".into()), ("gone".into(), "x".into())].into(),
        allow: text(&["define_*", "list_*"]),
        deny: text(&["*_all"]),
    };
    let set = publish(tools, &rules).unwrap();
    assert_eq!(names(&set), ["wn_define"]);
    assert_eq!(set.get("wn_define").unwrap().own_name, "define_word");
    assert!(set.get("define_word").is_none());
    assert_eq!(
        set.warnings(),
        [
            "rename: the toolbox has no tool 'gone'",
            "allow: the toolbox has no tool 'list_*'"
        ]
    );
    let clash = Publish {
        rename: [("find".into(), "define_all".into())].into(),
        ..Publish::default()
    };
    assert_eq!(
        publish(tools, &clash).unwrap_err(),
        "'define_all' and 'find' would both be published as 'define_all': rename one of them"
    );
}

#[test]
fn a_broken_schema_is_listed_and_never_runs() {
    let tools = r#"[{"name":"a","argument_schema":{"type":"strin"}},{"name":"b","output_schema":{"$ref":"http://x.org/"}},{"name":"c"}]"#;
    let set = publish(tools, &Publish::default()).unwrap();
    assert_eq!(names(&set), ["a", "b", "c"]);
    let why = |name: &str| set.get(name).unwrap().prepare(None).unwrap_err().to_string();
    assert!(
        why("a").starts_with("Invalid schema of 'a': argument_schema: type: "),
        "{}",
        why("a")
    );
    assert!(
        why("b").starts_with("Invalid schema of 'b': output_schema: the reference to "),
        "{}",
        why("b")
    );
    assert!(
        set.get("a")
            .unwrap()
            .definition
            .as_str()
            .contains(r#"{"type":"strin"}"#)
    );
    assert_eq!(set.get("c").unwrap().prepare(None), Ok("{}".to_owned()));
    assert_eq!(set.warnings().len(), 2);
    // Too deep for the bus: the rest of the list must stay readable.
    let deep = format!(r#"{{"items":{}true{}}}"#, r#"{"items":"#.repeat(123), "}".repeat(123));
    let set = publish(
        &format!(r#"[{{"name":"d","description":"D","argument_schema":{deep}}}]"#),
        &Publish::default(),
    )
    .unwrap();
    let tool = set.get("d").unwrap();
    assert!(
        tool.broken().unwrap().contains("nested too deeply"),
        "{:?}",
        tool.broken()
    );
    assert!(
        tool.definition
            .as_str()
            .contains(r#""description":"D","argument_schema":{"type":"object"}"#)
    );
}

#[test]
fn calls_are_checked_both_ways() {
    let tools = r#"[{"name":"a","argument_schema":{"required":["word"]},"output_schema":{"type":"object","required":["n"]}},
        {"name":"any"}]"#;
    let rules = Publish {
        namespace: Some("x".into()),
        ..Publish::default()
    };
    let set = publish(tools, &rules).unwrap();
    let tool = set.get("x_a").unwrap();
    let text = |result: Result<(), CallError>| result.unwrap_err().to_string();
    assert_eq!(
        text(tool.prepare(Some("{}")).map(drop)),
        "Invalid arguments for 'x_a': word: is required"
    );
    assert_eq!(tool.prepare(Some(r#"{ "word": 1 }"#)), Ok(r#"{"word":1}"#.to_owned()));
    assert_eq!(
        text(tool.check_output("[]")),
        "Invalid output from 'x_a': result: expected object, got array"
    );
    assert_eq!(
        text(tool.check_output("{}")),
        "Invalid output from 'x_a': n: is required"
    );
    assert_eq!(tool.check_output(r#"{"n":null}"#), Ok(()));
    assert_eq!(set.get("x_any").unwrap().check_output("anything"), Ok(()));
}
