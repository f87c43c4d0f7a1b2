//! Values of every kind in every style of parameter: each arrives as it is, or is refused.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::parameter::Given;
use super::super::{check, read};
use super::{EVAL, annotated, args, script};

/// Texts that mean something to a shell, to argc, or to nobody.
fn hostile() -> Vec<String> {
    let texts = [
        "$(touch /tmp/p)",
        "`touch /tmp/p`",
        ";id",
        "a\nb",
        "a\n",
        "'",
        "\"",
        "a'b\"c",
        "*",
        "$HOME",
        "",
        " ",
        "  x  ",
        "\t",
        "--version",
        "-V",
        "--help",
        "-h",
        "help",
        "-oFile",
        "-",
        "--",
        "---",
        "+",
        "+x",
        "@x",
        "a=b",
        "=",
        "--x=y",
        "-D",
        "--other",
        "a,b",
        "ü€𝄞",
        "\u{202e}abc",
        "\\",
        "\\n",
        "!",
        "~",
        "#",
        "___internal___",
        "___parallel___",
        "sub",
        "EOF",
        "x\nEOF\nid\n",
        "\r\n",
    ];
    let long = "x".repeat(100_000);
    texts.iter().map(|text| (*text).to_owned()).chain([long]).collect()
}

/// Each style of parameter, and how a text is given for it and comes out of argc.
type Style = (&'static str, fn(&str) -> Value, fn(&str) -> Given);

fn styles() -> Vec<Style> {
    let one = |text: &str| json!(text);
    let one_out = |text: &str| Given::Texts(vec![text.to_owned()]);
    let list = |text: &str| json!([text]);
    let pair = |text: &str| json!([text, "z"]);
    let pair_out = |text: &str| Given::Texts(vec![text.to_owned(), "z".to_owned()]);
    let pair_last = |text: &str| json!(["z", text]);
    let pair_last_out = |text: &str| Given::Texts(vec!["z".to_owned(), text.to_owned()]);
    let pairs = |text: &str| json!([["z", text], ["y", "x"]]);
    let pairs_out = |text: &str| Given::Texts(["z", text, "y", "x"].map(str::to_owned).to_vec());
    let entry = |text: &str| json!({"k": text});
    let entry_out = |text: &str| Given::Entries(vec![("k".to_owned(), text.to_owned())]);
    vec![
        ("@option --p", one, one_out),
        ("@option -p", one, one_out),
        ("@option --p:", one, one_out),
        ("@option +p", one, one_out),
        ("@option --p! $P", one, one_out),
        ("@option --p*", list, one_out),
        ("@option --p+", pair, pair_out),
        ("@option --p*,", pair, pair_out),
        ("@option --p <A> <B>", pair, pair_out),
        ("@option --p <A> <B>", pair_last, pair_last_out),
        ("@option --p <A> <B+>", pair_last, pair_last_out),
        ("@option --p <A> <B?>", pair_last, pair_last_out),
        ("@option --p <A*>", list, one_out),
        ("@option --p <A*>", pair_last, pair_last_out),
        ("@option --p* <A> <B>", pairs, pairs_out),
        ("@option --p~", list, one_out),
        ("@option --p~", pair, pair_out),
        ("@option -p-*", entry, entry_out),
        ("@option --p-", entry, entry_out),
        ("@arg p", one, one_out),
        ("@arg p!", one, one_out),
        ("@arg p*", pair_last, pair_last_out),
        ("@arg p+", pair, pair_out),
        ("@arg p*,", pair, pair_out),
        ("@arg p~", pair, pair_out),
        ("@arg p~", pair_last, pair_last_out),
    ]
}

/// Surroundings in which a value could be taken for something else.
const SURROUNDINGS: [&str; 4] = [
    "# {}\nmain() { :; }",
    "# @flag --other\n# @option -x --ox* <A>\n# {}\nmain() { :; }",
    "# @meta combine-shorts\n# @meta symbol +chain\n# @meta symbol @file\n# @flag -D\n# @flag -o\n# {}\nmain() { :; }",
    "# @option --first\n# @meta version 1\n# @cmd\n# @alias run\n# {}\n# @flag --other\nsub() { :; }\n# @cmd\nhelpme() { :; }",
];

#[test]
fn a_value_arrives_byte_for_byte_or_is_refused() {
    let (mut arrived, mut refused) = (0, 0);
    for surrounding in SURROUNDINGS {
        for (annotation, give, expect) in styles() {
            let source = format!("{}{EVAL}", surrounding.replace("{}", annotation));
            let annotated = read(&source, "run").unwrap();
            let tool = if surrounding.contains("sub()") { "sub" } else { "run" };
            let key = if annotation.contains("+p") && annotation.starts_with("@option +") {
                "plus_p"
            } else {
                "p"
            };
            for text in hostile() {
                match args(&annotated, tool, &json!({ key: give(&text) })) {
                    Err(why) => {
                        assert!(why.starts_with(&format!("{key}: ")), "{annotation} {text:.40?}: {why}");
                        assert!(may_refuse(annotation, &text), "{annotation} {text:.40?}: {why}");
                        refused += 1;
                    }
                    Ok(args) => {
                        let line: Vec<_> = std::iter::once("run".to_owned()).chain(args.clone()).collect();
                        let seen = check::parse(&source, &line, &HashMap::new()).unwrap();
                        assert!(
                            seen.holds(key, &expect(&text)),
                            "{annotation} {text:.40?}: {args:.200?}"
                        );
                        assert_eq!(seen.ids().count(), 1, "{annotation} {text:.40?}: {args:.200?}");
                        arrived += 1;
                    }
                }
            }
        }
    }
    assert!(arrived > 10 * refused, "{arrived} arrived, {refused} refused");
}

/// What argc has no way for. Everything else must arrive.
fn may_refuse(annotation: &str, text: &str) -> bool {
    let looks_like_option = text.starts_with(['-', '+']) && text.len() > 1;
    let by_words = annotation.contains("<A> <B") || annotation.contains("<A*>");
    let first = annotation.starts_with("@arg") && ["help", "___internal___", "___parallel___"].contains(&text);
    (looks_like_option && by_words) || (annotation.contains("*,") && text.contains(',')) || first
}

#[test]
fn a_list_of_ten_thousand_arrives() {
    let texts: Vec<_> = (0..10_000).map(|number| format!("-{number}")).collect();
    for annotation in ["# @option --p*", "# @arg p*", "# @option --p~", "# @option --p*,"] {
        let annotated = annotated(annotation);
        let args = args(&annotated, "run", &json!({ "p": texts })).unwrap();
        let line: Vec<_> = std::iter::once("run".to_owned()).chain(args).collect();
        let seen = check::parse(&script(annotation), &line, &HashMap::new()).unwrap();
        assert!(seen.holds("p", &Given::Texts(texts.clone())), "{annotation}");
    }
}
