//! Annotations and what becomes of them, as tables.

use serde_json::{Value, json};

use super::{Annotated, read};
use crate::protocol::describe::Description;
use crate::tools::arguments::Arguments;

mod values;

const EVAL: &str = "\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n";

/// A script of one tool, `run`, with these annotations.
fn script(annotations: &str) -> String {
    format!("# @describe A script\n{annotations}\nmain() {{ :; }}{EVAL}")
}

fn annotated(annotations: &str) -> Annotated {
    read(&script(annotations), "run").unwrap()
}

fn described(annotated: &Annotated) -> Value {
    serde_json::from_str(&annotated.describe()).unwrap()
}

fn args(annotated: &Annotated, tool: &str, kwargs: &Value) -> Result<Vec<String>, String> {
    let invocation = annotated.invocation(tool, &kwargs.to_string())?;
    assert_eq!(invocation.env, []);
    Ok(invocation.args)
}

#[test]
fn a_script_with_a_nul_is_refused_before_a_call_of_it_fails() {
    let why = read("# @cmd x\nev\0ery() { :; }\n", "run").unwrap_err();
    assert!(why.contains("NUL character in line 2"), "{why}");
}

#[test]
fn each_annotation_becomes_the_property_it_means() {
    let cases = [
        (
            "@option --foo-bar Text",
            "foo_bar",
            json!({"type": "string", "description": "Text"}),
        ),
        ("@option -c", "c", json!({"type": "string"})),
        ("@option --n <INT>", "n", json!({"type": "integer"})),
        ("@option --n <NUM>", "n", json!({"type": "number"})),
        ("@option --n <FLOAT>", "n", json!({"type": "number"})),
        ("@option --n <FILE>", "n", json!({"type": "string"})),
        ("@option --num", "num", json!({"type": "string"})),
        ("@option --n=5 <INT>", "n", json!({"type": "integer", "default": 5})),
        ("@option --n=5", "n", json!({"type": "string", "default": "5"})),
        ("@option --n=05 <INT>", "n", json!({"type": "integer"})),
        ("@option --n=`_f`", "n", json!({"type": "string"})),
        ("@option --n=5 $PORT", "n", json!({"type": "string"})),
        ("@option --c[a|b]", "c", json!({"type": "string", "enum": ["a", "b"]})),
        (
            "@option --c[=a|b]",
            "c",
            json!({"type": "string", "enum": ["a", "b"], "default": "a"}),
        ),
        (
            "@option --c[1|2] <INT>",
            "c",
            json!({"type": "integer", "enum": [1, 2]}),
        ),
        (
            "@option --c[01|2] <INT>",
            "c",
            json!({"type": "string", "enum": ["01", "2"]}),
        ),
        ("@option --c[`_f`]", "c", json!({"type": "string"})),
        (
            "@option --m*",
            "m",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (
            "@option --m+ <INT>",
            "m",
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 1}),
        ),
        (
            "@option --m*,[a|b]",
            "m",
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        ),
        (
            "@option --two <A> <B>",
            "two",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
        ),
        (
            "@option --two <INT> <B>",
            "two",
            json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
        ),
        (
            "@option --two <A> <B+>",
            "two",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
        ),
        (
            "@option --two* <A> <B>",
            "two",
            json!({"type": "array", "items":
                {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}}),
        ),
        (
            "@option --rest~",
            "rest",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        ("@option --set:", "set", json!({"type": "string"})),
        (
            "@option -D-*",
            "D",
            json!({"type": "object", "additionalProperties": {"type": "string"},
                "propertyNames": {"pattern": "^[A-Za-z0-9_.-]+$"}}),
        ),
        ("@flag --dry-run", "dry_run", json!({"type": "boolean"})),
        (
            "@flag -v --verbose*",
            "verbose",
            json!({"type": "integer", "minimum": 0, "maximum": 100}),
        ),
        (
            "@arg path Where",
            "path",
            json!({"type": "string", "description": "Where"}),
        ),
        ("@arg n=3 <INT>", "n", json!({"type": "integer", "default": 3})),
        (
            "@arg all*",
            "all",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (
            "@arg all~",
            "all",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (
            "@arg all+[=a|b]",
            "all",
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]}),
        ),
    ];
    for (annotation, key, expected) in cases {
        let annotated = annotated(&format!("# {annotation}\n_f() {{ :; }}"));
        let schema = &described(&annotated)["tools"][0]["argument_schema"];
        assert_eq!(schema["properties"], json!({ key: expected }), "{annotation}");
        Arguments::compile(Some(&schema.to_string()), false).expect(annotation);
    }
}

#[test]
fn what_is_required_says_so_and_nothing_else_may_be_given() {
    let annotated = annotated("# @option --a!\n# @option --b\n# @option --c! $KEY\n# @arg d!\n# @arg e+[=x|y]");
    let schema = &described(&annotated)["tools"][0]["argument_schema"];
    assert_eq!(schema["required"], json!(["a", "d"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["$schema"], json!("https://json-schema.org/draft/2020-12/schema"));
}

const NESTED: &str = "\
# @describe Keeps notes
# @meta version 1.2.0
# @meta require-tools git,jq
# @env NOTES_KEY! The key
# @env NOTES_MODE[fast|slow]
# @option --root=. Where the notes are

# @cmd Adds a note
# and says where it is.
# @alias a
# @meta require-tools awk
# @arg text! What to note
add() { :; }

# @cmd Labels
label() { :; }
# @cmd Makes a label
# @flag --force
label::make_new() { :; }
# @cmd
drop-all() { :; }
";

#[test]
fn commands_are_tools_under_the_names_argc_gives_them() {
    let notes = read(&format!("{NESTED}{EVAL}"), "notes").unwrap();
    let result = described(&notes);
    let names: Vec<_> = result["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["add", "label_make_new", "drop-all"]);
    assert_eq!(
        result["tools"][0]["description"],
        json!("Adds a note\nand says where it is.")
    );
    assert_eq!(result["version"], json!("1.2.0"));
    assert_eq!(result["description"], json!("Keeps notes"));
    assert_eq!(result["protocol"], json!(1));
    assert_eq!(notes.requires(), ["git", "jq", "awk"]);
    assert_eq!(notes.env_required(), ["NOTES_KEY"]);
    let calls = [
        ("add", json!({"text": "-x"}), vec!["add", "--", "-x"]),
        (
            "add",
            json!({"root": "/r", "text": "t"}),
            vec!["--root=/r", "add", "--", "t"],
        ),
        (
            "label_make_new",
            json!({"force": true}),
            vec!["label", "make_new", "--force"],
        ),
        ("drop-all", json!({}), vec!["drop-all"]),
    ];
    for (tool, kwargs, expected) in calls {
        assert_eq!(args(&notes, tool, &kwargs).unwrap(), expected);
    }
}

#[test]
fn a_script_without_commands_is_a_tool_named_after_its_file() {
    let cases = [
        ("disk free", "disk_free"),
        ("web.search", "web_search"),
        ("a-b_c", "a-b_c"),
    ];
    for (stem, name) in cases {
        let read = read(&script("# @arg x"), stem).unwrap();
        assert_eq!(described(&read)["tools"][0]["name"], json!(name));
        assert_eq!(args(&read, name, &json!({"x": "1"})).unwrap(), ["--", "1"]);
    }
    // Its body may stand behind the eval line instead of in main.
    let read = read(
        &format!("# @describe Says hello\n# @option --name{EVAL}echo $argc_name\n"),
        "hi",
    )
    .unwrap();
    assert_eq!(args(&read, "hi", &json!({"name": "Ada"})).unwrap(), ["--name=Ada"]);
}

#[test]
fn options_of_the_script_reach_its_commands() {
    let source = format!(
        "# @meta inherit-flag-options\n# @option --key!\n# @option --port=80\n# @cmd Goes\n# @flag --port-scan\ngo() {{ :; }}{EVAL}"
    );
    let read = read(&source, "x").unwrap();
    // argc wants it before the command and after it.
    let expected = ["--key=k", "--port=1", "go", "--key=k", "--port=1"];
    assert_eq!(args(&read, "go", &json!({"key": "k", "port": "1"})).unwrap(), expected);
}

#[test]
fn the_host_takes_the_description_and_its_defaults_reach_the_script() {
    let source = format!(
        "{NESTED}# @cmd\n_own() {{ :; }}\n# @cmd Waits\n# @option --for=5 <INT>\n# @option --unit*[=s|min]\n# @arg who[=me|you]\nwait() {{ :; }}{EVAL}"
    );
    let annotated = read(&source, "notes").unwrap();
    let description = Description::parse(&annotated.describe()).unwrap();
    assert_eq!(description.tools.len(), 4);
    assert_eq!(description.version.as_deref(), Some("1.2.0"));
    let schema = described(&annotated)["tools"][3]["argument_schema"].to_string();
    let prepared = Arguments::compile(Some(&schema), false).unwrap().prepare(None).unwrap();
    let invocation = annotated.invocation("wait", &prepared).unwrap();
    assert_eq!(invocation.args, ["--root=.", "wait", "--for=5", "--unit=s", "--", "me"]);
}

#[test]
fn a_script_that_cannot_be_read_says_why() {
    let cases = [
        ("echo hi\n", "has no annotations; above each function"),
        ("main() { echo hi; }\n", "has no annotations"),
        (
            "# @describe x\n# @optoin --a\n",
            "annotations argc cannot read: @optoin(line 2) is unknown tag",
        ),
        (
            "# @option --a[\nmain() { :; }\n",
            "annotations argc cannot read: syntax error at line 1",
        ),
        ("# @option --a=`_none`\nmain() { :; }\n", "_none(line 1) is missing"),
        (
            "# @option --a-b\n# @arg a_b\nmain() { :; }\n",
            "--a-b and A-B, which are both $argc_a_b in the script",
        ),
        (
            "# @cmd\na_b() { :; }\n# @cmd\na() { :; }\n# @cmd\na::b() { :; }\n",
            "both the tool 'a_b'",
        ),
    ];
    for (source, expected) in cases {
        let error = read(source, "x").map(|_| ()).unwrap_err();
        assert!(error.contains(expected), "{source:?}: {error}");
    }
    let long = format!("# @arg x <{}", "y".repeat(100_000));
    assert_eq!(
        read(&long, "x").map(|_| ()).unwrap_err(),
        "has a comment of more than 1000 characters in line 1"
    );
}

#[test]
fn its_owner_is_told_what_to_mend() {
    let source = "# @cmd\n# @meta symbol +chain\n# @option --a\n# @option --b Known\ngo() { :; }\n";
    let warnings = read(source, "x").unwrap().warnings();
    let expected = [
        "does not hand its arguments to argc",
        "@meta symbol",
        "no description for 'go'",
        "for 'a' of 'go'",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{warning}");
    }
    assert_eq!(annotated("# @option --a Known").warnings(), [""; 0]);
}

#[test]
fn values_stand_where_argc_takes_them_for_nothing_else() {
    let cases = [
        ("# @option --a", json!({"a": "-x"}), vec!["--a=-x"]),
        ("# @option --a", json!({"a": null}), vec![]),
        ("# @option -c", json!({"c": "v"}), vec!["-c=v"]),
        ("# @option --n <INT>", json!({"n": 5.0}), vec!["--n=5"]),
        (
            "# @option --n <INT>",
            json!({"n": 12345678901234567890_u64}),
            vec!["--n=12345678901234567890"],
        ),
        ("# @option --n <NUM>", json!({"n": -0.5}), vec!["--n=-0.5"]),
        ("# @option --m*", json!({"m": ["a", "-b"]}), vec!["--m=a", "--m=-b"]),
        ("# @option --m*", json!({"m": []}), vec![]),
        (
            "# @option --two <A> <B>",
            json!({"two": ["a", "b c"]}),
            vec!["--two", "a", "b c"],
        ),
        (
            "# @option --two* <A> <B>",
            json!({"two": [["a", "b"], ["c", "d"]]}),
            vec!["--two", "a", "b", "--two", "c", "d"],
        ),
        ("# @option --any <F*>", json!({"any": []}), vec!["--any"]),
        ("# @option --any <F*>", json!({"any": ["-a"]}), vec!["--any=-a"]),
        (
            "# @option --rest~\n# @arg p",
            json!({"rest": ["-a", "--"], "p": "x"}),
            vec!["x", "--rest", "-a", "--"],
        ),
        ("# @option --rest~", json!({"rest": ["-a"]}), vec!["--rest=-a"]),
        ("# @option --set:", json!({"set": "-a"}), vec!["--set=-a"]),
        (
            "# @option -D-*",
            json!({"D": {"a": "1", "b.c": "x=y"}}),
            vec!["-Da=1", "-Db.c=x=y"],
        ),
        ("# @flag --f", json!({"f": true}), vec!["--f"]),
        ("# @flag --f", json!({"f": false}), vec![]),
        (
            "# @flag -v --verbose*",
            json!({"verbose": 2}),
            vec!["--verbose", "--verbose"],
        ),
        (
            "# @arg a\n# @arg b*",
            json!({"a": "-1", "b": ["--", "-2"]}),
            vec!["--", "-1", "--", "-2"],
        ),
        (
            "# @arg a*\n# @arg b*",
            json!({"a": ["1", "2"], "b": ["-3", "4"]}),
            vec!["1", "2", "--", "-3", "4"],
        ),
        (
            "# @arg all~",
            json!({"all": ["--version", "--"]}),
            vec!["--version", "--"],
        ),
        (
            "# @flag --f\n# @arg all~",
            json!({"all": ["--help", "--f"]}),
            vec!["--", "--help", "--f"],
        ),
        ("# @option --key! $KEY\n# @env OTHER![a|b]", json!({}), vec![]),
    ];
    for (annotations, kwargs, expected) in cases {
        assert_eq!(
            args(&annotated(annotations), "run", &kwargs),
            Ok(expected.into_iter().map(str::to_owned).collect()),
            "{annotations}"
        );
    }
}

#[test]
fn what_argc_would_change_is_refused_with_the_parameter_and_the_reason() {
    let cases = [
        ("# @option --a", json!({"a": "x\0y"}), "a: has a NUL character"),
        (
            "# @option --a",
            json!({"a": "x".repeat(131_072)}),
            "a: 131076 bytes are too long for an argument of a program, which may have 131071",
        ),
        (
            "# @option --m*",
            json!({"m": vec!["x".repeat(100_000); 11]}),
            "arguments: 1100143 bytes are too many",
        ),
        (
            "# @option --m*,",
            json!({"m": ["a", "b,c"]}),
            "m: a value with ',' in it",
        ),
        (
            "# @option --two <A> <B>",
            json!({"two": ["a", "-b"]}),
            "two: argc would take a value that begins with '-'",
        ),
        (
            "# @option --two <A> <B>",
            json!({"two": ["a", "--help"]}),
            "two: argc would take a value that begins with '-'",
        ),
        (
            "# @option --two <A> <B>\n# @flag --f",
            json!({"two": ["a", "--f"]}),
            "two: argc would take a value that begins with '-'",
        ),
        (
            "# @arg a\n# @arg b",
            json!({"b": "x"}),
            "b: cannot be given without 'a', which stands before it",
        ),
        (
            "# @arg a*\n# @arg b",
            json!({"a": ["1", "2"]}),
            "a: argc would hand a value of it to another argument",
        ),
        (
            "# @arg a",
            json!({"a": "help"}),
            "a: argc keeps 'help' in this place to itself",
        ),
        (
            "# @arg all~",
            json!({"all": ["___internal___", "id"]}),
            "all: argc keeps '___internal___' in this place to itself",
        ),
        (
            "# @arg a[x|y]",
            json!({"a": "z"}),
            "a: invalid value `z` for `[A]` [possible values: x, y]",
        ),
        (
            "# @option --a!",
            json!({}),
            "a: the following required arguments were not provided: --a <A>",
        ),
        (
            "# @option -D-*",
            json!({"D": {"$(id)": "1"}}),
            "D: the key \"$(id)\" may hold",
        ),
        (
            "# @option -D-",
            json!({"D": {"a": "1", "b": "2"}}),
            "D: the argument `-D` cannot be used multiple times",
        ),
        (
            "# @option -D-*,",
            json!({"D": {"a": "x,y"}}),
            "D: a value with ',' in it",
        ),
        ("# @flag -v*", json!({"v": 101}), "v: 101 is no count from 0 to 100"),
        ("# @option --n <INT>", json!({"n": 1.5}), "n: 1.5 is no integer"),
        ("# @option --a", json!({"b": "1"}), "b: 'run' has no such parameter"),
        ("# @option --a", json!({"a": {}}), "a: expected a string, got {}"),
    ];
    for (annotations, kwargs, expected) in cases {
        let error = args(&annotated(annotations), "run", &kwargs).unwrap_err();
        assert!(error.starts_with(expected), "{annotations}: {error}");
    }
}

#[test]
fn what_argc_built_loses_no_equals_sign() {
    let source = format!("{}\n# ARGC-BUILD {{\n# ARGC-BUILD }}\n", script("# @option --a"));
    let error = args(&read(&source, "run").unwrap(), "run", &json!({"a": "x=y"})).unwrap_err();
    assert!(error.starts_with("a: a value with '='"), "{error}");
}
