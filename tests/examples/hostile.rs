//! No value of an argument makes a shipped toolbox do more than its tool does: start a program, write a file, read one,
//! or show what an option of the wrapped program shows.

use std::path::Path;

use serde_json::{Value, json};

use crate::host::Host;
use crate::root;
use crate::scratch::Scratch;

const SECRET: &str = "canary-4711";

/// Every parameter that is a text, with what else its call needs.
const PARAMETERS: &[(&str, &str, &str, &str)] = &[
    ("calc", "evaluate", "expression", "{}"),
    ("calc", "convert_units", "from", r#"{"amount": 1, "to": "m"}"#),
    ("calc", "convert_units", "to", r#"{"amount": 1, "from": "m"}"#),
    ("calc", "convert_base", "number", r#"{"to": 2}"#),
    ("text", "query_json", "json", r#"{"filter": "."}"#),
    ("text", "query_json", "filter", r#"{"json": "1"}"#),
    (
        "text",
        "convert_markup",
        "text",
        r#"{"from": "markdown", "to": "plain"}"#,
    ),
    ("text", "compare_texts", "before", r#"{"after": ""}"#),
    ("text", "compare_texts", "after", r#"{"before": ""}"#),
    ("text", "count_words", "text", "{}"),
    ("text", "sort_lines", "text", "{}"),
    (
        "text",
        "replace_text",
        "pattern",
        r#"{"text": "a", "replacement": "b"}"#,
    ),
    (
        "text",
        "replace_text",
        "replacement",
        r#"{"text": "a", "pattern": "a"}"#,
    ),
    ("text", "find_matches", "pattern", r#"{"text": "a"}"#),
    ("notes", "add_note", "text", "{}"),
    ("notes", "search_notes", "query", "{}"),
    ("files", "list_folder", "folder", "{}"),
    ("files", "find_files", "name", "{}"),
    ("files", "search_files", "pattern", "{}"),
    ("files", "search_files", "glob", r#"{"pattern": "a"}"#),
    ("files", "read_file", "path", "{}"),
];

/// What options show that a value could be taken for.
const BANNERS: &[&str] = &[
    "Free Software",
    "Usage:",
    "USAGE:",
    "ripgrep 1",
    "uid=",
    "invalid option",
    "unrecognized option",
];

fn values(marker: &Path) -> Vec<String> {
    let marker = marker.display();
    vec![
        format!("$(touch {marker}) `touch {marker}`"),
        format!("x'; touch {marker}; \"; touch {marker}\ntouch {marker}\n"),
        "--version".to_owned(),
        "--help".to_owned(),
        format!("-o{marker}"),
        format!("--pre=touch {marker}"),
        "-".to_owned(),
        format!("a[$(touch {marker})]"),
        format!("{{}} -exec touch {marker} ;"),
    ]
}

/// Calls the tools of `boxes` with every value in every place.
fn try_all(boxes: [&str; 2]) {
    let scratch = Scratch::new();
    let marker = scratch.path().join("touched");
    let host = Host::start(&root().join("examples/toolhost.yaml"));
    for (toolbox, tool, parameter, others) in PARAMETERS {
        if !boxes.contains(toolbox) {
            continue;
        }
        for value in values(&marker) {
            let mut kwargs: Value = serde_json::from_str(others).expect("arguments");
            kwargs[parameter] = if *parameter == "glob" {
                json!([value])
            } else {
                json!(value)
            };
            let (Ok(told) | Err(told)) = host.call(toolbox, tool, &kwargs).map(|result| result.to_string());
            let shown = BANNERS.iter().find(|banner| told.contains(*banner));
            assert_eq!(shown, None, "{tool} {kwargs}: {told}");
            assert!(!told.contains("TimeoutError"), "{tool} {kwargs}: {told}");
            assert!(!marker.exists(), "{tool} {kwargs} started a program: {told}");
        }
    }
}

#[test]
fn no_value_becomes_a_command_or_an_option_of_calc_and_text() {
    try_all(["calc", "text"]);
}

#[test]
fn no_value_becomes_a_command_or_an_option_of_notes_and_files() {
    try_all(["notes", "files"]);
}

#[test]
fn the_languages_of_calc_and_text_open_no_file_and_start_no_program() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name).display().to_string();
    for name in ["secret", "secret.jq", "secret.json", "secret.tex", "secret.csv"] {
        let text = if name == "secret.jq" {
            format!("def secret: \"{SECRET}\";")
        } else {
            format!("\"{SECRET}\"")
        };
        std::fs::write(at(name), text).expect("a file");
    }
    let (marker, secret, folder) = (at("touched"), at("secret"), at(""));
    let host = Host::start(&root().join("examples/toolhost.yaml"));
    let evaluate = |expression: String| ("calc", "evaluate", json!({ "expression": expression }));
    let query = |filter: String| ("text", "query_json", json!({"json": "1", "filter": filter}));
    let convert = |from: &str, text: String| {
        (
            "text",
            "convert_markup",
            json!({"text": text, "from": from, "to": "html"}),
        )
    };
    let tries = [
        evaluate(format!("load({secret})")),
        evaluate(format!("LOAD({secret}.csv)")),
        evaluate(format!("export(1, {marker})")),
        evaluate(format!("export 1 {marker}")),
        evaluate(format!("command(\"touch {marker}\")")),
        evaluate(format!("command(touch {marker})")),
        evaluate(format!("function(concatenate(\"ex\", \"port\"), {marker})")),
        evaluate("save(1, x)".to_owned()),
        evaluate("plot(x)".to_owned()),
        evaluate(format!("1 # -f {secret}")),
        query(format!("import \"secret\" as $s {{search: \"{folder}\"}}; $s")),
        query(format!("include \"secret\" {{search: \"{folder}\"}}; secret")),
        query(format!(
            "1]}}; import \"secret\" as $s {{search: \"{folder}\"}}; {{a: [$s"
        )),
        query("$ENV.HOME, env.USER, input_filename".to_owned()),
        convert(
            "rst",
            format!(".. include:: {secret}\n\n.. csv-table:: t\n   :file: {secret}.csv\n"),
        ),
        convert("rst", format!(".. raw:: html\n   :file: {secret}\n")),
        convert(
            "latex",
            format!("\\input{{{secret}}} \\include{{{secret}}} \\lstinputlisting{{{secret}}}"),
        ),
        convert("org", format!("#+INCLUDE: \"{secret}\"\n")),
        convert(
            "markdown",
            format!("![x]({secret})\n\n---\nbibliography: {secret}\n---\n"),
        ),
        convert(
            "html",
            format!("<iframe src=\"file://{secret}\"></iframe><img src=\"{secret}\">"),
        ),
        convert(
            "docbook",
            format!("<!DOCTYPE a [<!ENTITY x SYSTEM \"file://{secret}\">]><a>&x;</a>"),
        ),
        convert("man", format!(".so {secret}\n")),
    ];
    for (toolbox, tool, kwargs) in tries {
        let answer = host.call(toolbox, tool, &kwargs);
        if toolbox == "calc" {
            assert!(answer.is_err(), "{kwargs}: {answer:?}");
        }
        let (Ok(told) | Err(told)) = answer.map(|result| result.to_string());
        assert!(!told.contains(SECRET), "{tool} {kwargs}: {told}");
        assert!(!Path::new(&marker).exists(), "{tool} {kwargs}: {told}");
    }
    let seen = host.call("text", "query_json", &json!({"json": "1", "filter": "$ENV | keys"}));
    assert_eq!(seen, Ok(json!({"results": [["PATH"]]})));
}
