//! Tests of `config::yaml`.

use super::*;

/// The tree in one line: `plain`, `"quoted"`, `[...]`, `{key@line:column=...}`.
fn show(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) if scalar.plain => scalar.typed.clone(),
        Value::Scalar(scalar) => format!("{:?}", scalar.typed),
        Value::Sequence(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        Value::Mapping(entries) => {
            let shown = entries.iter().map(|entry| {
                format!(
                    "{}@{}:{}={}",
                    entry.key,
                    entry.at.line,
                    entry.at.column,
                    show(&entry.value)
                )
            });
            format!("{{{}}}", shown.collect::<Vec<_>>().join(" "))
        }
        Value::Broken => "!".into(),
    }
}

fn tree(text: &str) -> String {
    let (root, mistakes) = parse(text);
    assert!(mistakes.is_empty(), "{text}: {mistakes:?}");
    root.map(|node| show(&node)).unwrap_or_default()
}

#[test]
fn scalars_stay_as_typed_and_keys_know_their_place() {
    for (text, expected) in [
        ("a: 1.10", "{a@1:1=1.10}"),
        (
            "\u{feff}a:\r\n  no: 0o17\r\n  'y': \"NULL\"\r\n",
            "{a@1:1={no@2:3=0o17 y@3:3=\"NULL\"}}",
        ),
        (
            "[12:30, 1_000, ~, 'ü x', +0127, 2024-01-01]",
            "[12:30 1_000 ~ \"ü x\" +0127 2024-01-01]",
        ),
        ("ü: {a: , b: ''}", "{ü@1:1={a@1:5= b@1:10=\"\"}}"),
        (
            "a: |\n  x\n  y\nb: >-\n  x\n  y\n",
            "{a@1:1=\"x\\ny\\n\" b@4:1=\"x y\"}",
        ),
        ("a: !!str 5", "{a@1:1=\"5\"}"),
        ("--- \na: 1\n...\n", "{a@2:1=1}"),
        ("", ""),
        ("# only words\n", ""),
    ] {
        assert_eq!(tree(text), expected, "{text:?}");
    }
}

#[test]
fn aliases_and_merge_keys_bring_what_a_mapping_lacks() {
    assert_eq!(tree("a: &x [1]\nb: *x"), "{a@1:1=[1] b@2:1=[1]}");
    assert_eq!(
        tree("a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}\nc: {l: 4, <<: [*x, {m: 5, k: 6}]}"),
        "{a@1:1={k@1:8=1 l@1:14=2} b@2:1={l@2:13=3 k@1:8=1} c@3:1={l@3:5=4 k@1:8=1 m@3:21=5}}"
    );
    assert_eq!(tree("{'<<': x}"), "{<<@1:2=x}");
}

#[test]
fn mistakes_say_where_and_what() {
    for (text, at, path, part) in [
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", (4, 3), "a.b", "first is on line 2"),
        ("a:\n\tb: 1\n", (2, 2), "", "tab"),
        ("a: 1\n---\nb: 2\n", (2, 1), "", "second document"),
        ("a: b: c", (1, 5), "", "second ':'"),
        ("a: *x", (1, 4), "", "alias"),
        ("a: &x [*x]", (1, 8), "a[0]", "alias"),
        ("a: [1, !env X]", (1, 8), "a[1]", "tags such as !env"),
        ("? [a]\n: b", (1, 3), "", "a key is a text"),
        ("<<: 5", (1, 5), "", "'<<' takes"),
        ("a: 'x", (1, 4), "", "ends inside"),
        ("a: [1,\n", (2, 1), "", "expected a value"),
        ("a:\n  b: {", (2, 7), "", "expected a value"),
    ] {
        let (_, mistakes) = parse(text);
        let mistake = mistakes.first().unwrap_or_else(|| panic!("{text}: nothing found"));
        assert!(mistake.what.contains(part), "{text}: {}", mistake.what);
        assert_eq!(mistake.path, path, "{text}");
        assert_eq!((mistake.at.line, mistake.at.column), at, "{text}: {}", mistake.what);
    }
}

#[test]
fn no_file_exhausts_memory_or_stack() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol]\n");
    for n in 1..40 {
        let before = format!("*a{}", n - 1);
        laughs += &format!("a{n}: &a{n} [{}]\n", [before.as_str(); 9].join(", "));
    }
    let mut tower = String::from("a0: &a0 [x]\n");
    for n in 1..200 {
        tower += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
    }
    for (text, part) in [
        (laughs, "too large"),
        (tower, "nested deeper"),
        ("[".repeat(100_000), "nested far"),
        ("- ".repeat(100_000), "nested deeper"),
        ("{a: ".repeat(100_000), "nested far"),
        ("? ".repeat(100_000), "nested deeper"),
    ] {
        let (root, mistakes) = parse(&text);
        assert!(root.is_none());
        assert!(mistakes[0].what.contains(part), "{:.20}: {}", text, mistakes[0].what);
    }
}
