//! Templates: what each form gives, what is left out, what is refused.

use std::collections::BTreeSet;

use super::*;

mod guard;

/// Items as a YAML file has them: a list in it is a group.
fn elements(run: &str) -> Result<Vec<Element>, String> {
    let items: Vec<serde_json::Value> = serde_json::from_str(run).unwrap();
    let template = |item: &serde_json::Value| Template::parse(item.as_str().unwrap());
    let element = |item: &serde_json::Value| match item.as_array() {
        Some(group) => group.iter().map(template).collect::<Result<_, _>>().map(Element::Group),
        None => template(item).map(Element::One),
    };
    items.iter().map(element).collect()
}

fn argv(run: &str) -> Argv {
    elements(run)
        .and_then(Argv::new)
        .unwrap_or_else(|fault| panic!("{run}: {fault}"))
}

fn unfit(run: &str) -> String {
    match elements(run).and_then(Argv::new) {
        Ok(argv) => panic!("{run}: {argv:?}"),
        Err(fault) => fault,
    }
}

fn filled(run: &str, kwargs: &str) -> Result<Vec<String>, String> {
    argv(run).fill(&Values::parse(kwargs, &BTreeSet::new()).unwrap(), &BTreeSet::new())
}

/// Each row: the items behind the program, the arguments, and what the program gets.
fn table(rows: &[(&str, &str, &[&str])]) {
    for (items, kwargs, expected) in rows {
        let run = format!(r#"["p",{items}]"#);
        let got = filled(&run, kwargs).unwrap_or_else(|fault| panic!("{items} {kwargs}: {fault}"));
        assert_eq!(got[0], "p");
        assert_eq!(got[1..], **expected, "{items} {kwargs}");
    }
}

#[test]
fn a_placeholder_is_the_argument_as_text() {
    table(&[
        (r#""{a}""#, r#"{"a":"x y"}"#, &["x y"]),
        (r#""{a}""#, r#"{"a":""}"#, &[""]),
        (r#""{a}""#, r#"{"a":5}"#, &["5"]),
        (r#""{a}""#, r#"{"a":1.50}"#, &["1.50"]),
        (r#""{a}""#, r#"{"a":1e3}"#, &["1e3"]),
        (
            r#""{a}""#,
            r#"{"a":123456789012345678901234567890}"#,
            &["123456789012345678901234567890"],
        ),
        (r#""{a}""#, r#"{"a":true}"#, &["true"]),
        (r#""{a}""#, r#"{"a":[ 1, "b c" ]}"#, &[r#"[1,"b c"]"#]),
        (
            r#""{a}""#,
            "{\"a\":{ \"k\" :\n \"q\\\" , \\\\\" }}",
            &[r#"{"k":"q\" , \\"}"#],
        ),
        (r#""--x={a}/{b}!""#, r#"{"a":"1","b":2}"#, &["--x=1/2!"]),
        (r#""{{{a}}}""#, r#"{"a":"x"}"#, &["{x}"]),
        (r#""{{print $1}}""#, "{}", &["{print $1}"]),
        (r#""{größe}""#, r#"{"größe":"ü"}"#, &["ü"]),
        (r#""{a.b-c}""#, r#"{"a.b-c":"x"}"#, &["x"]),
        (r#""{a}""#, r#"{"a":"1","a":"2"}"#, &["2"]),
        (r#""""#, "{}", &[""]),
    ]);
}

#[test]
fn a_value_stays_one_argument_whatever_it_holds() {
    for value in [
        "$(touch /tmp/p)",
        "`id`",
        ";id",
        "\n id",
        "' \"",
        "*",
        "$HOME",
        "",
        "a b",
        "{a}",
        "{{",
        "}",
        "\\",
        "~",
        "a\0",
    ] {
        let kwargs = serde_json::json!({ "a": value, "list": [value, value] }).to_string();
        let got = filled(r#"["p","{a}","x{a}","{list...}"]"#, &kwargs);
        if value.contains('\0') {
            assert!(got.unwrap_err().contains("NUL"));
            continue;
        }
        assert_eq!(got.unwrap(), ["p", value, &format!("x{value}"), value, value]);
    }
}

#[test]
fn an_element_or_group_without_a_value_is_left_out_whole() {
    table(&[
        (r#""a","{x}","b""#, "{}", &["a", "b"]),
        (r#""a","{x}","b""#, r#"{"x":null}"#, &["a", "b"]),
        (r#""--x={x}""#, "{}", &[]),
        (r#""{y}{x}""#, r#"{"y":"1"}"#, &[]),
        (r#"["--x","{x}"],"b""#, "{}", &["b"]),
        (r#"["--x","{x}"],"b""#, r#"{"x":""}"#, &["--x", "", "b"]),
        (r#"["--x","{x}","{y}"]"#, r#"{"x":"1"}"#, &[]),
        (r#"["--x","{x...}"]"#, r#"{"x":[]}"#, &[]),
        (r#"["--a","b"]"#, "{}", &["--a", "b"]),
        (r#""{x}""#, r#"{"x":false}"#, &["false"]),
        (r#""{x}""#, r#"{"x":0}"#, &["0"]),
    ]);
}

#[test]
fn a_spread_is_an_argument_an_item() {
    table(&[
        (
            r#""{x...}""#,
            r#"{"x":["a b","",1.0,true]}"#,
            &["a b", "", "1.0", "true"],
        ),
        (
            r#""{x...}""#,
            r#"{"x":[null,[1, 2],{"a": 1}]}"#,
            &["null", "[1,2]", r#"{"a":1}"#],
        ),
        (r#""{x...}""#, r#"{"x":[]}"#, &[]),
        (r#""{x...}""#, "{}", &[]),
        (r#""{x...}""#, r#"{"x":"[1]"}"#, &["[1]"]),
        (r#""{x...}""#, r#"{"x":7}"#, &["7"]),
        (r#"["-e","{x...}"]"#, r#"{"x":["a","b"]}"#, &["-e", "a", "b"]),
    ]);
}

#[test]
fn a_flag_keeps_its_element_where_it_is_true() {
    table(&[
        (r#""--hidden{h?}""#, r#"{"h":true}"#, &["--hidden"]),
        (r#""--hidden{h?}""#, r#"{"h":false}"#, &[]),
        (r#""--hidden{h?}""#, r#"{"h":null}"#, &[]),
        (r#""--hidden{h?}""#, "{}", &[]),
        (r#"["--sort{h?}","{by}"]"#, r#"{"h":true,"by":"x"}"#, &["--sort", "x"]),
        (r#"["--sort{h?}","{by}"]"#, r#"{"h":false,"by":"x"}"#, &[]),
    ]);
    assert_eq!(
        filled(r#"["p","--hidden{h?}"]"#, r#"{"h":"true"}"#).unwrap_err(),
        "h: expected true or false, for it switches an option"
    );
}

#[test]
fn a_value_that_begins_with_a_dash_is_refused() {
    for (items, kwargs, place) in [
        (r#""{a}""#, r#"{"a":"--version"}"#, "a"),
        (r#""{a}""#, r#"{"a":"-oFile"}"#, "a"),
        (r#""{a}""#, r#"{"a":"-"}"#, "a"),
        (r#""{a}""#, r#"{"a":"--"}"#, "a"),
        (r#""{a}""#, r#"{"a":-5}"#, "a"),
        (r#""{a}x""#, r#"{"a":"-"}"#, "a"),
        (r#""{b}{a}""#, r#"{"b":"","a":"-x"}"#, "a"),
        (r#""{h?}{a}""#, r#"{"h":true,"a":"-x"}"#, "a"),
        (r#"["-o","{a}"]"#, r#"{"a":"-x"}"#, "a"),
        (r#""{a...}""#, r#"{"a":["x","-y"]}"#, "a[1]"),
        (r#""{a...}""#, r#"{"a":[-1]}"#, "a[0]"),
        (r#""{a...}""#, r#"{"a":"-x"}"#, "a"),
        // What comes after does not help, nor what was left out, nor a value that is `--`.
        (r#""{a}","--""#, r#"{"a":"-x"}"#, "a"),
        (r#"["--","{n}"],"{a}""#, r#"{"a":"-x"}"#, "a"),
        (r#""--{h?}","{a}""#, r#"{"a":"-x","h":true}"#, "a"),
    ] {
        let fault = filled(&format!(r#"["p",{items}]"#), kwargs).unwrap_err();
        let why = format!("{place}: starts with '-', which the program could take for an option: ");
        assert!(fault.starts_with(&why), "{items} {kwargs}: {fault}");
        assert!(!fault.contains("--version") && !fault.contains("-oFile"), "{fault}");
    }
    // Neither may an empty value uncover a dash of the owner's.
    for (items, kwargs) in [
        (r#""{a}-{b}""#, r#"{"a":"","b":"output=/tmp/x"}"#),
        (r#""{a}--{b}""#, r#"{"a":"","b":"exec=id"}"#),
        (r#"["-o","{a}-x"]"#, r#"{"a":""}"#),
    ] {
        let fault = filled(&format!(r#"["p",{items}]"#), kwargs).unwrap_err();
        let why = "a: is empty, so that the argument starts with '-', which the program could take for an option: ";
        assert!(fault.starts_with(why), "{items} {kwargs}: {fault}");
    }
    let both = filled(r#"["p","{a}","{b...}"]"#, r#"{"a":"-x","b":["-y","z"]}"#).unwrap_err();
    assert_eq!(both.matches("; ").count(), 1, "{both}");
    let many = format!(r#"{{"b":[{}]}}"#, vec!["-1"; 1000].join(","));
    let fault = filled(r#"["p","{b...}"]"#, &many).unwrap_err();
    assert!(fault.ends_with("; and 990 more") && fault.len() < 5_000, "{fault}");
}

#[test]
fn a_dash_is_fine_behind_an_end_of_options_a_text_or_the_word_of_the_owner() {
    table(&[
        (r#""--","{a}""#, r#"{"a":"-x"}"#, &["--", "-x"]),
        (r#""--","f","{a...}""#, r#"{"a":["-x","--"]}"#, &["--", "f", "-x", "--"]),
        (r#"["--","{a}"]"#, r#"{"a":"-x"}"#, &["--", "-x"]),
        (r#""--x={a}""#, r#"{"a":"-5"}"#, &["--x=-5"]),
        (r#""-o{a}""#, r#"{"a":"-5"}"#, &["-o-5"]),
        (r#""{b}{a}""#, r#"{"b":"0","a":"-x"}"#, &["0-x"]),
    ]);
    let values = Values::parse(r#"{"a":"-5","b":["-1"],"c":"-x"}"#, &BTreeSet::new()).unwrap();
    let allowed: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
    assert_eq!(
        argv(r#"["p","{a}","{b...}"]"#).fill(&values, &allowed).unwrap(),
        ["p", "-5", "-1"]
    );
    assert!(argv(r#"["p","{c}"]"#).fill(&values, &allowed).is_err());
    let dashes = Values::parse(r#"{"a":"--","c":"-x"}"#, &BTreeSet::new()).unwrap();
    let fault = argv(r#"["p","{a}","{c}"]"#).fill(&dashes, &allowed).unwrap_err();
    assert!(fault.starts_with("c: "), "{fault}");
}

#[test]
fn an_argument_linux_would_refuse_is_told_with_its_size() {
    let kwargs = |length: usize| format!(r#"{{"a":"{}","b":"x"}}"#, "y".repeat(length));
    let fits = filled(r#"["p","{b}{a}"]"#, &kwargs(131_070)).unwrap();
    assert_eq!(fits[1].len(), 131_071);
    let fault = filled(r#"["p","{b}{a}"]"#, &kwargs(131_071)).unwrap_err();
    assert!(fault.starts_with("a: makes an argument of 131072 bytes"), "{fault}");
    assert!(fault.contains("stdin") && fault.len() < 300, "{fault}");
}

#[test]
fn what_is_no_template_is_told_in_words() {
    for (text, part) in [
        ("{", "'{' without a '}' after it"),
        ("a{b", "'{' without a '}' after it"),
        ("}", "'}' without a '{' before it"),
        ("{a}}", "'}' without a '{' before it"),
        ("{}", "'{}' names no argument"),
        ("{...}", "'{...}' names no argument"),
        ("{?}", "'{?}' names no argument"),
        ("{a b}", "'{a b}' is no placeholder: write {{ and }} for braces"),
        ("{\"k\": 1}", "is no placeholder"),
        ("{-a}", "is no placeholder"),
        ("{a?...}", "is no placeholder"),
        ("{{a {b}}", "'}' without a '{'"),
        ("x{a...}", "'{a...}' in the middle of a text"),
        ("{a...}{b}", "'{a...}' in the middle of a text"),
    ] {
        let fault = Template::parse(text).unwrap_err();
        assert!(fault.contains(part), "{text}: {fault}");
    }
}

#[test]
fn the_program_is_fixed() {
    for (run, part) in [
        ("[]", "is empty"),
        (r#"[["a"]]"#, "the first item is the program"),
        (r#"["{a}"]"#, "the program is fixed: "),
        (r#"["/bin/{a}"]"#, "the program is fixed: "),
        (r#"[""]"#, "the program has no name"),
        (r#"["p",[]]"#, "an empty group"),
    ] {
        assert!(unfit(run).contains(part), "{run}: {}", unfit(run));
    }
    assert_eq!(argv(r#"["{{a}}"]"#).program(), "{a}");
}

#[test]
fn a_text_is_filled_whole_or_not_at_all() {
    let values = Values::parse(r#"{"a":"x\u0000","b":null,"h":true}"#, &BTreeSet::new()).unwrap();
    let fill = |text: &str| Template::parse(text).unwrap().fill(&values);
    assert_eq!(fill("{{\"q\": {a}}}{h?}\n"), Ok(Some("{\"q\": x\0}\n".to_owned())));
    assert_eq!(fill("-{a}{b}"), Ok(None));
    assert_eq!(fill("{c}"), Ok(None));
    assert_eq!(fill(""), Ok(Some(String::new())));
    assert!(fill("{a...}").unwrap_err().starts_with("a: "));
    assert_eq!(Template::literal("{a}").as_literal(), Some("{a}"));
    assert_eq!(Template::parse("{{a}}"), Ok(Template::literal("{a}")));
}

#[test]
fn arguments_that_are_no_object_or_no_text_are_refused() {
    for (kwargs, part) in [
        ("[]", "arguments: expected an object"),
        ("x", "arguments: expected an object"),
        (r#"{"a":"\ud800"}"#, "a: holds half a surrogate pair"),
    ] {
        assert!(
            Values::parse(kwargs, &BTreeSet::new()).unwrap_err().contains(part),
            "{kwargs}"
        );
    }
    let values = Values::parse(r#"{"b":[1, 2],"a":"x","n":null}"#, &BTreeSet::new()).unwrap();
    assert_eq!(values.iter().collect::<Vec<_>>(), [("a", "x"), ("b", "[1,2]")]);
}

#[test]
fn a_variable_has_a_name_every_shell_takes() {
    for (name, expected) in [
        ("path", "ARG_PATH"),
        ("max-depth", "ARG_MAX_DEPTH"),
        ("a.bÜ", "ARG_A_B_"),
    ] {
        assert_eq!(variable(name), expected);
    }
}

#[test]
fn a_number_is_written_as_an_integer_where_one_is_asked_for() {
    let integers = BTreeSet::from(["n".to_owned()]);
    let huge = format!("1{}", "0".repeat(999));
    for (number, expected) in [
        ("1", "1"),
        ("1.0", "1"),
        ("-1.00", "-1"),
        ("1e2", "100"),
        ("1E+2", "100"),
        ("100e-2", "1"),
        ("1.50e1", "15"),
        ("0.05e2", "5"),
        ("-0.0", "0"),
        ("0e9", "0"),
        ("9007199254740993.0", "9007199254740993"),
        ("123456789012345678901234567890.0", "123456789012345678901234567890"),
        ("1e999", &huge),
        ("1e1000", "1e1000"),
        ("1e99999999999999999999", "1e99999999999999999999"),
        ("1.5", "1.5"),
        ("1e-1", "1e-1"),
        ("10.05e1", "10.05e1"),
        ("[1.0, 2e0, 2.5]", "[1,2,2.5]"),
        ("[[1.0], \"1.0\"]", "[[1],\"1.0\"]"),
        ("true", "true"),
        ("{\"a\": 1.0}", "{\"a\":1.0}"),
    ] {
        let values = Values::parse(&format!(r#"{{"n":{number},"x":{number}}}"#), &integers).unwrap();
        assert_eq!(values.text("n"), Some(expected), "{number}");
        let elsewhere = number.replace(", ", ",").replace(": ", ":");
        assert_eq!(values.text("x"), Some(elsewhere.as_str()), "{number}");
    }
    let values = Values::parse(r#"{"n":[1.0,2e0]}"#, &integers).unwrap();
    let head = argv(r#"["head","{n...}"]"#).fill(&values, &BTreeSet::new());
    assert_eq!(head.unwrap(), ["head", "1", "2"]);
}
