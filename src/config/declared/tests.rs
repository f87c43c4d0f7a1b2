//! Declared tools: what each key gives, and what is told of a bad one.

use std::path::Path;

use super::*;
use crate::config::{Config, Kind};
use crate::tools::template::{Element, Values};

const FULL: &str = include_str!("../../../tests/config_faults/full.yaml");

fn env(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/a".into()),
        "T" => Some("5s".into()),
        "SPACED" => Some("a 'b".into()),
        "BRACES" => Some("{x} {{ } ./".into()),
        "SECRET" => Some("hunter2".into()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config_faults/full.yaml")
}

fn tools_of(text: &str) -> Vec<DeclaredTool> {
    let config = Config::parse(text, &file(), &env).unwrap_or_else(|faults| panic!("{text}\n{faults}"));
    let tools = config.toolboxes.into_iter().find_map(|toolbox| match toolbox.kind {
        Kind::Tools(tools) => Some(tools),
        _ => None,
    });
    tools.unwrap()
}

fn file_with(keys: &str) -> String {
    format!("toolboxes: {{a: {{tools: {{t: {{{keys}}}}}}}}}")
}

/// The one tool with these keys.
fn tool(keys: &str) -> DeclaredTool {
    tools_of(&file_with(keys)).remove(0)
}

/// What is told of the one tool with these keys, behind its path.
fn told(keys: &str) -> Vec<String> {
    let faults = match Config::parse(&file_with(keys), Path::new("/f.yaml"), &env) {
        Ok(config) => panic!("{keys}: {config:?}"),
        Err(faults) => faults.to_string(),
    };
    assert!(!faults.contains("hunter2"), "{faults}");
    let behind = |line: &str| match line.split_once("toolboxes.a.tools.t") {
        Some((_, what)) => what.trim_start_matches('.').to_owned(),
        None => line.to_owned(),
    };
    faults.lines().map(behind).collect()
}

fn argv(tool: &DeclaredTool, kwargs: &str) -> Vec<String> {
    let Run::Argv(argv) = &tool.run else {
        panic!("{:?}", tool.run)
    };
    argv.fill(&Values::parse(kwargs, &tool.integers).unwrap(), &tool.leading_dash)
        .unwrap()
}

#[test]
fn every_key_of_a_tool_reaches_its_place() {
    let tools = tools_of(FULL);
    let [free, sorted] = &tools[..] else {
        panic!("two tools")
    };
    let folder = file().parent().unwrap().to_owned();
    assert_eq!(
        free.described.as_str(),
        concat!(
            r#"{"name":"free_space","description":"Free space of the file system holding a path.","title":"Free space","#,
            r#""category":"system","version":"1.10","timeout":90,"#,
            r#""hints":{"readOnly":true,"destructive":false,"idempotent":true,"openWorld":false},"#,
            r#""parameters":{"path":{"type":"string","description":"Any path","required":false,"default":"/","pattern":"^/","#,
            r#""minLength":1,"maxLength":4096,"format":"path","examples":["/","/srv"],"metadata":{"unit":"bytes"}},"#,
            r#""unit":{"type":"string","enum":["K","M","no"]},"depth":{"type":"integer","minimum":-1,"maximum":1.5},"#,
            r#""extra":{"type":"array","items":"string"},"all":{"type":"boolean"}},"#,
            r#""output_schema":{"type":"object","properties":{"lines":{"type":"array","items":{"type":"string"}}},"#,
            r#""required":["lines"]}}"#
        )
    );
    let everything = r#"{"all":true,"unit":"K","depth":-1,"path":"-p","extra":["-e","f"]}"#;
    let beside = folder.join("x").display().to_string();
    assert_eq!(
        argv(free, everything),
        [
            "df", &beside, "--all", "-B", "1K", "-1", "a{b}5s", "--", "-p", "-e", "f"
        ]
    );
    assert_eq!(argv(free, "{}"), ["df", &beside, "a{b}5s", "--"]);
    assert_eq!(free.stdin, Some(Template::parse("{path}\n").unwrap()));
    assert_eq!((free.output, &free.accept_exit[..]), (Output::Lines, &[0, 1][..]));
    assert_eq!(free.cwd, Some(folder.join("disk")));
    assert_eq!(free.env.0["TOKEN"], "t0ken");
    assert!(!format!("{free:?}").contains("t0ken"));
    assert_eq!(free.leading_dash, ["depth".to_owned()].into());

    assert_eq!(
        sorted.described.as_str(),
        concat!(
            r#"{"name":"sorted","output_schema":{"type":"array"},"argument_schema":{"type":"object","#,
            r#""properties":{"text":{"type":"string"}},"required":["text"]}}"#
        )
    );
    assert_eq!(sorted.run, Run::Shell("printf %s \"${ARG_TEXT}\" | sort -u".to_owned()));
    assert_eq!((sorted.output, &sorted.accept_exit[..]), (Output::Json, &[0][..]));
    assert_eq!(sorted.leading_dash, ["text".to_owned()].into());
    for tool in tools {
        let description = Description::parse(&format!("{{\"tools\":[{}]}}", tool.described.as_str())).unwrap();
        assert!(description.tools[0].argument_schema.is_some());
        assert_eq!(description.tools[0].name, tool.name);
    }
}

#[test]
fn what_a_tool_leaves_out_has_its_default() {
    let tool = tool("run: [uptime]");
    let expected = DeclaredTool {
        name: "t".into(),
        described: Text::from(
            concat!(
                r#"{"name":"t","parameters":{},"output_schema":"#,
                r#"{"type":"object","properties":{"output":{"type":"string"}},"required":["output"]}}"#
            )
            .to_owned(),
        ),
        run: Run::Argv(Argv::new(vec![Element::One(Template::literal("uptime"))]).unwrap()),
        stdin: None,
        output: Output::Text,
        accept_exit: vec![0],
        cwd: None,
        env: Env::default(),
        leading_dash: BTreeSet::new(),
        integers: BTreeSet::new(),
        parameters: BTreeSet::new(),
    };
    assert_eq!(tool, expected);
    assert!(
        !tool_described("run: [x], output: json").contains("output_schema"),
        "any value"
    );
    assert!(tool_described("run: [x], timeout: 200ms").contains(r#""timeout":0.2,"#));
}

fn tool_described(keys: &str) -> String {
    tool(keys).described.as_str().to_owned()
}

#[test]
fn a_variable_is_text_in_a_template_and_the_shells_own_in_a_script() {
    let tool_of = |run: &str| tool(&format!("parameters: {{p: {{type: string}}}}, run: [x, {run}]"));
    for (run, expected) in [
        ("'${BRACES}'", "{x} {{ } ./"),
        ("'${BRACES}{p}'", "{x} {{ } ./v"),
        ("'${SPACED}'", "a 'b"),
        ("'${NONE:-{p}}'", "v"),
        ("'$${{p}}'", "${p}"),
        ("'$${p}'", "$v"),
        ("'$HOME {{$1}}'", "$HOME {$1}"),
        ("'${EMPTY}'", ""),
    ] {
        assert_eq!(argv(&tool_of(run), r#"{"p":"v"}"#), ["x", expected], "{run}");
    }
    let stdin = tool("parameters: {p: {type: string}}, run: [cat], stdin: '${BRACES}{p}'")
        .stdin
        .unwrap();
    let values = Values::parse(r#"{"p":"v"}"#, &BTreeSet::new()).unwrap();
    assert_eq!(stdin.fill(&values), Ok(Some("{x} {{ } ./v".into())));
    let script = "'echo ${ARG_X} $${HOME} ${NONE:?} {a,b}'";
    assert_eq!(
        tool(&format!("shell: {script}")).run,
        Run::Shell(script.trim_matches('\'').into())
    );
}

#[test]
fn anchors_of_tools_may_hold_what_only_a_shell_expands() {
    let tools = tools_of(
        "x-tool: &tool\n  shell: echo ${ARG_X}\n  output: lines\ndefaults:\n  tools:\n    d: {run: ['${T}']}\n\
         toolboxes:\n  a:\n    tools:\n      one: *tool\n      two: {<<: *tool, output: text}\n",
    );
    let names: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.output)).collect();
    assert_eq!(
        names,
        [("one", Output::Lines), ("two", Output::Text), ("d", Output::Text)]
    );
    assert_eq!(tools[0].run, Run::Shell("echo ${ARG_X}".into()));
    assert_eq!(argv(&tools[2], "{}"), ["5s"]);
}

#[test]
fn placeholders_of_an_open_schema_are_taken_on_trust() {
    let schema = "type: object, properties: {a: {type: array}}";
    tool(&format!(
        "argument_schema: {{{schema}, allOf: [{{}}]}}, run: [x, '{{b}}', '{{a...}}']"
    ));
    tool("argument_schema: {type: object}, run: [x, '{b}']");
    assert_eq!(
        told(&format!("argument_schema: {{{schema}}}, run: [x, '{{b}}']")),
        ["run[1]: 'b' names no parameter; the tool has 'a'"]
    );
}

#[test]
fn a_bad_template_is_told_where_it_stands() {
    let with = |keys: &str| {
        told(&format!(
            "parameters: {{path: {{type: string}}, all: {{type: boolean}}, list: {{type: array}}}}, {keys}"
        ))
    };
    for (keys, expected) in [
        (
            "run: [x, '{pth}']",
            "run[1]: 'pth' names no parameter; did you mean 'path'?",
        ),
        (
            "run: [x, [-o, '{zzz}']]",
            "run[1][1]: 'zzz' names no parameter; the tool has 'path', 'all' and 'list'",
        ),
        (
            "run: [x, '{path...}']",
            "run[1]: '{path...}' spreads an array, and 'path' has the type string: write {path}",
        ),
        (
            "run: [x, '--x{list?}']",
            "run[1]: '{list?}' asks whether a boolean is true, and 'list' has the type array: write {list}",
        ),
        (
            "run: [x, {path}]",
            "run[1]: YAML reads {path} as a mapping: put it in quotes, \"{path}\"",
        ),
        (
            "run: [x], stdin: {path}",
            "stdin: YAML reads {path} as a mapping: put it in quotes, \"{path}\"",
        ),
        (
            "run: [x, '{']",
            "run[1]: '{' without a '}' after it: a brace is written {{",
        ),
        (
            "run: [x, '{${SECRET}}']",
            "run[1]: '{${...}}' is no placeholder: write {{ and }} for braces",
        ),
        (
            "run: [x], stdin: '{list...}'",
            "stdin: '{list...}' becomes several arguments, and stdin is one text: write {list}",
        ),
        (
            "run: ['{path}', x]",
            "run: the program is fixed: a value can fill an argument, but not choose what is started",
        ),
        ("run: []", "run: is empty: the first item is the program"),
        (
            "run: [df -h, '{path}']",
            "run[0]: an item of the list is one argument, blanks and all: write [program, argument, ...]",
        ),
        (
            "run: 'df -h {path}'",
            "run: is a list, one item an argument: write [df, -h, \"{path}\"], or 'shell:' where a shell is needed",
        ),
        (
            "run: 'a | b'",
            "run: is a list, one item an argument: write [program, \"{name}\", ...], or 'shell:' where a shell is needed",
        ),
        (
            "shell: 'ls {path}'",
            "shell: '{path}' is not filled in here, a value must never become shell text: write \"$ARG_PATH\"",
        ),
    ] {
        assert_eq!(with(keys), [expected], "{keys}");
    }
    for keys in [
        "run: [sh, -c, 'ls {path}']",
        "run: [bash, -s], stdin: '{path}'",
        "run: [env, sh], stdin: '{path}'",
    ] {
        let told = with(keys);
        assert!(told[0].contains("must never become shell text"), "{told:?}");
    }
}

#[test]
fn a_tool_without_parameters_says_how_to_declare_one() {
    assert_eq!(
        told("run: [x, '{path}']"),
        ["run[1]: 'path' names no parameter; the tool has none: declare it under 'parameters'"]
    );
}

#[test]
fn a_bad_parameter_is_told_where_it_stands() {
    for (fields, expected) in [
        ("typ: string", "p.typ: unknown key; did you mean 'type'?"),
        (
            "description: x",
            "p: has no type, expected one of string, number, integer, boolean, array, object",
        ),
        (
            "type: text",
            "p.type: has the type \"text\", expected one of string, number, integer, boolean, array, object",
        ),
        (
            "type: integer, minimum: low",
            "p.minimum: has a 'minimum' that is a string, expected a number",
        ),
        (
            "type: string, items: string",
            "p.items: does not go with 'items', which only an array has",
        ),
        (
            "type: string, required: yes",
            "p.required: has a 'required' that is no boolean",
        ),
        (
            "type: string, leading_dash: maybe",
            "p.leading_dash: expected true or false, found 'maybe'",
        ),
    ] {
        let told = told(&format!("run: [x], parameters: {{p: {{{fields}}}}}"));
        assert_eq!(told[0], format!("parameters.{expected}"), "{fields}: {told:?}");
    }
    for (fields, part) in [
        (
            "type: string, enum: [a, 1]",
            "p.enum: the value 2 of 'enum' is none a call could send: ",
        ),
        (
            "type: string, default: 5",
            "p.default: 'default' does not fit the parameter: ",
        ),
        ("type: string, pattern: '('", "p.pattern: is no schema: "),
        ("type: string, default: 0777", "p.default: '0777' has a leading zero"),
    ] {
        let told = told(&format!("run: [x], parameters: {{p: {{{fields}}}}}"));
        assert!(told[0].starts_with(&format!("parameters.{part}")), "{fields}: {told:?}");
    }
    assert_eq!(
        told("shell: x, parameters: {a-b: {type: string}, a_b: {type: string}}"),
        ["parameters.a_b: becomes the variable ARG_A_B in 'shell', as 'a-b' does: rename one of them"]
    );
}

#[test]
fn a_number_reaches_an_integer_as_one() {
    let kwargs = r#"{"a":1.0,"b":[2.0,3],"c":4.0,"d":5.0}"#;
    for parameters in [
        "parameters: {a: {type: integer}, b: {type: array, items: integer}, c: {type: number}, d: {type: integer}}",
        "argument_schema: {type: object, properties: {a: {type: integer}, b: {type: array, items: {type: integer}}, \
         c: {type: [integer, number]}, d: {type: [integer, 'null']}}}",
    ] {
        let tool = tool(&format!("{parameters}, run: [x, '{{a}}', '{{b}}', '{{c}}', '{{d}}']"));
        assert_eq!(argv(&tool, kwargs), ["x", "1", "[2,3]", "4.0", "5"], "{parameters}");
        assert_eq!(tool.parameters.len(), 4);
    }
}
