//! What the formats look like: text for people, JSON, SARIF and workflow commands for machines.

use serde_json::Value;

use crate::corpus::folder;
use crate::scan::{Tree, scan_in};

const FILE: &str = "def call(bus, toolbox_id):\n    bus.emit(Message(f\"ovos.persona.tools.{toolbox_id}.call\", {\"name\": \"x\"}))\n    bus.on(\"ovos.persona.tools.clock.call\", print)\n    bus.on(\"ovos.persona.tools.call\", print)\n";

#[test]
fn a_person_sees_the_line_where_in_it_and_what_replaces_it() {
    let tree = Tree::new(&[("a.py", FILE)]);
    let expected = "\
a.py:2:22: caller: a call of the toolbox that toolbox_id names on its predecessor topic
  |
2 |     bus.emit(Message(f\"ovos.persona.tools.{toolbox_id}.call\", {\"name\": \"x\"}))
  |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = send ovos.persona.tools.call with {\"toolbox_id\": toolbox_id, \"name\": ..., \"kwargs\": {...}}
  = --fix rewrites it

a.py:3:12: host: a host of toolbox 'clock' on its predecessor topic
  |
3 |     bus.on(\"ovos.persona.tools.clock.call\", print)
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = ovos.persona.tools.call is answered here as well; leave the predecessor out after one stable cycle
  = left to you: what answers it has to compare data.toolbox_id

";
    let found = tree.scan(&["a.py"]);
    assert_eq!(found.stdout, expected);
    assert_eq!(found.stderr, "1 file scanned\nerror: found 1 caller, 1 host\n");
    tree.write("b.py", b"bus.on(\"ovos.persona.tools.clock.call\", print)\n");
    let advice = "  = answer ovos.persona.tools.call where data.toolbox_id is \"clock\", and stay silent on any other; keep the predecessor for one stable cycle\n";
    let found = tree.scan(&["b.py"]);
    assert!(found.stdout.contains(advice), "{}", found.stdout);
}

#[test]
fn a_long_line_is_cut_around_the_finding_and_no_terminal_is_commanded() {
    let pad = "x".repeat(500);
    let text = format!("a = '{pad}\x1b[31m'; Message('ovos.persona.tools.w.call', {{}}); b = '{pad}'\n");
    let tree = Tree::new(&[("a.py", &text)]);
    let found = tree.scan(&["a.py"]).stdout;
    assert!(found.lines().all(|line| line.chars().count() < 200), "{found}");
    assert!(!found.contains('\x1b'));
    let lines: Vec<&str> = found.lines().collect();
    let caret = lines[3].find('^').unwrap();
    let shown: String = lines[2].chars().skip(caret).take(27).collect();
    assert_eq!(shown, "'ovos.persona.tools.w.call'");
}

#[test]
fn json_has_every_field_a_program_needs() {
    let tree = Tree::new(&[("a.py", FILE)]);
    tree.write("b.py", b"\0");
    let json = tree.scan(&[".", "--format", "json"]).json();
    let expected = serde_json::json!({
        "path": "a.py", "line": 2, "column": 22, "end_line": 2, "end_column": 61, "kind": "caller", "certain": true,
        "topic": "ovos.persona.tools.<toolbox_id>.call", "toolbox_id": null,
        "message": "a call of the toolbox that toolbox_id names on its predecessor topic",
        "replacement": {
            "topic": "ovos.persona.tools.call",
            "payload": {"toolbox_id": "<toolbox_id>", "name": "<tool>", "kwargs": {}},
        },
        "advice": "send ovos.persona.tools.call with {\"toolbox_id\": toolbox_id, \"name\": ..., \"kwargs\": {...}}",
        "snippet": FILE.lines().nth(1).unwrap(), "takes_first_answer": false, "fixable": true, "fixed": false, "left_because": null,
    });
    assert_eq!(json["findings"][0], expected);
    assert_eq!(json["findings"][1]["toolbox_id"], "clock");
    assert_eq!(json["skipped"][0]["path"], "b.py");
    assert_eq!((json["version"].as_u64(), json["files"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn sarif_follows_its_published_schema() {
    let schema = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/migrate_scan/sarif-schema-2.1.0.json"
    ))
    .unwrap();
    let mut schema: Value = serde_json::from_slice(&schema).unwrap();
    // As published it has a bracket too many, which is no regular expression of ECMA 262.
    for part in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][part]["properties"]["language"]["pattern"];
        assert_eq!(*pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        *pattern = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let tree = Tree::new(&[("ä b/a:b.py", FILE), ("binary.py", "\0")]);
    let own = tree.scan(&[".", "--format", "sarif"]).json();
    let corpus = scan_in(&folder(), &[".", "--format", "sarif"]).json();
    let empty = scan_in(&folder(), &["python/nothing.py", "--format", "sarif"]).json();
    for log in [&own, &corpus, &empty] {
        let faults: Vec<_> = validator.iter_errors(log).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
    let run = &own["runs"][0];
    let result = &run["results"][0];
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "%C3%A4%20b/a%3Ab.py");
    assert_eq!(location["region"]["startColumn"], 22);
    let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    assert_eq!(
        run["invocations"][0]["toolExecutionNotifications"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(corpus["runs"][0]["results"].as_array().unwrap().len() > 100);
    assert_eq!(empty["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn the_fixes_of_sarif_are_those_of_fix() {
    let tree = Tree::new(&[("a.py", FILE)]);
    let log = tree.scan(&["a.py", "--format", "sarif"]).json();
    let changes = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"];
    let mut line: Vec<char> = FILE.lines().nth(1).unwrap().chars().collect();
    for change in changes.as_array().unwrap().iter().rev() {
        let column = |name: &str| usize::try_from(change["deletedRegion"][name].as_u64().unwrap()).unwrap() - 1;
        let text = change["insertedContent"]["text"].as_str().unwrap();
        line.splice(column("startColumn")..column("endColumn"), text.chars());
    }
    tree.scan(&["a.py", "--fix", "--force"]);
    assert_eq!(
        line.into_iter().collect::<String>(),
        tree.read("a.py").lines().nth(1).unwrap()
    );
}

#[test]
fn github_gets_one_escaped_command_a_finding() {
    let tree = Tree::new(&[("a,b.py", FILE)]);
    let found = tree.scan(&["a,b.py", "--format", "github"]);
    let lines: Vec<&str> = found.stdout.lines().collect();
    let start =
        "::warning file=a%2Cb.py,line=2,endLine=2,col=22,endColumn=61,title=predecessor-caller::a call of the toolbox";
    assert!(lines[0].starts_with(start), "{}", lines[0]);
    assert!(lines[1].starts_with("::warning file=a%2Cb.py,line=3,"), "{}", lines[1]);
    assert_eq!(lines.len(), 2);
    assert_eq!(found.code, Some(1));
}

#[test]
fn a_bundle_of_one_line_is_not_repeated_for_each_of_its_findings() {
    let statement = "bus.emit('ovos.persona.tools.w.call',{name:'ü'});";
    let tree = Tree::new(&[("app.min.js", &statement.repeat(400))]);
    tree.write("short.js", statement.as_bytes());
    let json = tree.scan(&["app.min.js", "--format", "json"]);
    assert_eq!(json.json()["findings"].as_array().unwrap().len(), 400);
    assert!(json.stdout.len() < 2_000_000, "{}", json.stdout.len());
    for finding in json.json()["findings"].as_array().unwrap() {
        assert!(
            finding["snippet"]
                .as_str()
                .unwrap()
                .contains("'ovos.persona.tools.w.call'")
        );
    }
    let text = tree.scan(&["app.min.js"]).stdout;
    for block in text.split("\n\n").filter(|block| !block.is_empty()) {
        let lines: Vec<&str> = block.lines().collect();
        let at = lines[3].find('^').unwrap();
        let shown: String = lines[2].chars().skip(at).take(28).collect();
        assert_eq!(shown, "'ovos.persona.tools.w.call',");
    }
    let place = |name: &str| {
        let log = tree.scan(&[name, "--format", "sarif"]).json();
        log["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone()
    };
    let context = serde_json::json!({"startLine": 1, "snippet": {"text": statement}});
    assert_eq!(
        place("short.js")["contextRegion"],
        context,
        "the line around the region"
    );
    assert_eq!(place("app.min.js").get("contextRegion"), None);
}
