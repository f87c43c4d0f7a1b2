//! `--fix`: what is shown, what is written, what is left alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use toolhost::migrate::scan::rewrite::rewrite;
use toolhost::migrate::scan::{Language, scan};

use crate::corpus::{all_snippets, folder};
use crate::scan::Tree;

const CALLER: &str = "bus.emit(Message(\"ovos.persona.tools.wordnet.call\", {\"name\": \"x\"}))\n";
const NEW: &str = "bus.emit(Message(\"ovos.persona.tools.call\", {\"toolbox_id\": \"wordnet\", \"name\": \"x\"}))\n";

#[test]
fn the_change_is_shown_as_a_diff_and_then_made() {
    let tree = Tree::new(&[("a.py", CALLER)]);
    tree.commit();
    let diff = format!("--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-{CALLER}+{NEW}");
    let dry = tree.scan(&["a.py", "--fix", "--dry-run"]);
    assert_eq!(dry.code, Some(1), "{}", dry.stderr);
    assert!(dry.stdout.starts_with(&diff), "{}", dry.stdout);
    assert_eq!(tree.read("a.py"), CALLER);
    let done = tree.scan(&["a.py", "--fix"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), diff.as_str()),
        "{}",
        done.stderr
    );
    assert_eq!(done.stderr, "1 file scanned, 1 place rewritten\n");
    assert_eq!(tree.read("a.py"), NEW);
    let again = tree.scan(&["a.py", "--fix", "--force"]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (Some(0), ""),
        "nothing is left to do"
    );
}

#[test]
fn patch_understands_the_diff() {
    let tree = Tree::new(&[]);
    let names = [
        "constants.py",
        "format.py",
        "join.py",
        "raw_frame.py",
        "reply_type.py",
        "windows.py",
    ];
    for name in names {
        let text = std::fs::read(folder().join("python").join(name)).unwrap();
        tree.write(&format!("one/{name}"), &text);
        tree.write(&format!("two/{name}"), &text);
    }
    let said = tree
        .scan(&["one", "--fix", "--dry-run", "--force", "--format", "json"])
        .stderr;
    assert_eq!(said.matches("--- a/one/").count(), names.len(), "{said}");
    tree.write("change.diff", said.replace("one/", "two/").as_bytes());
    tree.run(&["git", "apply", "--unsafe-paths", "--directory=.", "change.diff"]);
    tree.scan(&["one", "--fix", "--force"]);
    tree.run(&["diff", "-r", "one", "two"]);
    assert!(tree.read("one/windows.py").contains("\"toolbox_id\": \"wordnet\",\r\n"));
}

#[test]
fn what_git_could_not_bring_back_is_left_alone_without_force() {
    let tree = Tree::new(&[
        ("changed.py", CALLER),
        ("clean.py", CALLER),
        (".gitignore", "ignored/\n"),
    ]);
    tree.commit();
    tree.write("changed.py", format!("{CALLER}# mine\n").as_bytes());
    tree.write("new.py", CALLER.as_bytes());
    tree.write("ignored/a.py", CALLER.as_bytes());
    let fixed = tree.scan(&[".", "ignored", "--fix"]);
    assert_eq!(fixed.code, Some(1));
    assert_eq!(tree.read("clean.py"), NEW);
    for (name, why) in [
        ("changed.py", "it has changes that are not committed"),
        ("new.py", "git does not have it, so nothing could bring it back"),
        ("ignored/a.py", "git does not have it, so nothing could bring it back"),
    ] {
        let line = format!("{name} is not rewritten: {why} (--force rewrites it all the same)\n");
        assert!(fixed.stderr.contains(&line), "{}", fixed.stderr);
        assert!(tree.read(name).contains("wordnet.call"), "{name}");
    }
    assert!(
        !fixed.stdout.contains("+++ b/changed.py"),
        "what is not made is not shown"
    );
    tree.scan(&[".", "ignored", "--fix", "--force"]);
    assert_eq!(tree.read("changed.py"), format!("{NEW}# mine\n"));
    assert_eq!(tree.read("new.py"), NEW);
    let alone = Tree::new(&[("a.py", CALLER)]);
    let refused = alone.scan(&["a.py", "--fix"]);
    assert!(
        refused.stderr.contains("it is in no git repository"),
        "{}",
        refused.stderr
    );
    assert_eq!(alone.read("a.py"), CALLER);
}

#[test]
fn mode_line_ends_mark_and_links_are_kept() {
    let text = format!("\u{feff}# -*- coding: utf-8 -*-\r\n{}", CALLER.replace('\n', "\r\n"));
    let tree = Tree::new(&[("real.py", &text)]);
    std::fs::set_permissions(tree.path("real.py"), std::fs::Permissions::from_mode(0o751)).unwrap();
    std::os::unix::fs::symlink("real.py", tree.path("link.py")).unwrap();
    let fixed = tree.scan(&["link.py", "--fix", "--force"]);
    assert_eq!(fixed.code, Some(0), "{}", fixed.stderr);
    let expected = format!("\u{feff}# -*- coding: utf-8 -*-\r\n{}", NEW.replace('\n', "\r\n"));
    assert_eq!(tree.read("real.py"), expected);
    let mode = std::fs::metadata(tree.path("real.py")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o751);
    assert!(tree.path("link.py").is_symlink());
    let names = std::fs::read_dir(tree.path(".")).unwrap().count();
    assert_eq!(names, 2, "no draft is left behind");
}

#[test]
fn a_call_whose_answer_is_awaited_elsewhere_is_left_to_a_person() {
    let listener = "bus.on(\"ovos.persona.tools.wordnet.call.response\", answer)\n";
    let tree = Tree::new(&[("caller.py", CALLER), ("listener.py", listener)]);
    let fixed = tree.scan(&[".", "--fix", "--force"]);
    assert_eq!(tree.read("caller.py"), CALLER);
    assert!(
        fixed.stdout.contains("its answer may be awaited in listener.py:1"),
        "{}",
        fixed.stdout
    );
    let other = listener.replace("wordnet", "clock");
    tree.write("listener.py", other.as_bytes());
    tree.scan(&[".", "--fix", "--force"]);
    assert_eq!(tree.read("caller.py"), NEW, "another toolbox's answers are no reason");
}

#[test]
fn a_rewritten_call_that_takes_the_first_answer_is_told_of_once() {
    let message = "Message(\"ovos.persona.tools.wordnet.call\", {\"name\": \"x\"})";
    let at_once = format!("answer = bus.wait_for_response({message}, timeout=5)\n");
    let paired =
        format!("answer = bus.wait_for_response({message}, reply_type=\"ovos.persona.tools.wordnet.call.response\")\n");
    let by_name = format!("asked = {message}\nanswer = bus.wait_for_response(asked)\n");
    let script = "const a = await bus.waitForResponse(new Message('ovos.persona.tools.wordnet.call', {name: 'x'}));\n";
    // Nothing of these waits for the call itself.
    let other = format!("bus.emit({message})\nasked = Message(\"a.b\")\nbus.wait_for_response(asked)\n");
    let tree = Tree::new(&[
        ("at_once.py", &at_once),
        ("paired.py", &paired),
        ("by_name.py", &by_name),
        ("script.js", script),
        ("other.py", &other),
    ]);
    let document: Value = serde_json::from_str(&tree.scan(&[".", "--format", "json"]).stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let callers = findings.iter().filter(|finding| finding["kind"] == "caller");
    let mut told: Vec<_> = callers
        .map(|finding| {
            let path = finding["path"].as_str().unwrap().trim_start_matches("./");
            (path, finding["takes_first_answer"].as_bool().unwrap())
        })
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("at_once.py", true),
            ("by_name.py", true),
            ("other.py", false),
            ("paired.py", true),
            ("script.js", true)
        ]
    );
    let line = "= it waits for the first answer on a topic that all toolboxes share: compare toolbox_id";
    assert_eq!(tree.scan(&["."]).stdout.matches(line).count(), 4);
    let note = "note: 4 rewritten calls wait for the first answer on a topic that all toolboxes share: compare toolbox_id, or \
                a key of your own in the context (examples/migration/README.md shows how)\n";
    for arguments in [&[".", "--fix", "--dry-run", "--force"][..], &[".", "--fix", "--force"]] {
        let fixed = tree.scan(arguments);
        assert_eq!(fixed.stderr.matches("note: ").count(), 1, "{}", fixed.stderr);
        assert!(fixed.stderr.contains(note), "{}", fixed.stderr);
    }
    for name in ["at_once.py", "paired.py", "by_name.py", "script.js", "other.py"] {
        assert!(!tree.read(name).contains("wordnet.call"), "{name} is rewritten");
    }
    assert!(
        !tree.scan(&[".", "--fix", "--force"]).stderr.contains("note: "),
        "nothing was rewritten"
    );
    let alone = Tree::new(&[("other.py", &other)]);
    assert!(!alone.scan(&[".", "--fix", "--force"]).stderr.contains("note: "));
}

#[test]
fn rewritten_snippets_still_parse_in_every_interpreter() {
    let tree = Tree::new(&[]);
    let mut changed = 0;
    for (name, before) in all_snippets() {
        let language = Language::of_name(Path::new(&name)).unwrap();
        let Some(new) = rewrite(&before, language, &scan(&before, language)).unwrap() else {
            continue;
        };
        let path = format!("all/{name}");
        tree.write(&path, new.text.as_bytes());
        changed += 1;
        let parse = |argv: &[&str]| tree.run(&[argv, &[path.as_str()]].concat());
        match path.rsplit('.').next().unwrap() {
            "py" => parse(&[
                "python3",
                "-c",
                "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())",
            ]),
            "js" | "mjs" => parse(&["node", "--check"]),
            "sh" => parse(&["bash", "-n"]),
            "json" => parse(&["jq", "empty"]),
            _ => String::new(),
        };
    }
    assert!(changed >= 50, "{changed}");
}

#[test]
fn a_rewritten_call_sends_just_what_the_host_reads() {
    // The real interpreters run the calls before and after; only the topic moves into the payload.
    let python = r#"
import enum, json
class Message:
    def __init__(self, msg_type, data=None, context=None): print(json.dumps([msg_type, data]))
class bus: emit = staticmethod(lambda message: None)
class Box(str, enum.Enum): WORDS = "wordnet"
PREFIX = "ovos.persona.tools."
BOX = "wordnet"
for toolbox in ("wordnet", 'a"b', 7, Box.WORDS):
    bus.emit(Message(f"ovos.persona.tools.{toolbox}.call", {"name": "x", "kwargs": {}}))
    bus.emit(Message("ovos.persona.tools.{}.call".format(toolbox), {"name": "x"}))
    bus.emit(Message("ovos.persona.tools.%s.call" % toolbox, dict(name="x")))
    bus.emit(Message("ovos.persona.tools." + str(toolbox) + ".call", {"name": "x"}))
    bus.emit(Message(".".join(["ovos.persona.tools", format(toolbox, ""), "call"]), data={"name": "x"}))
    bus.emit(Message(f"ovos.persona.tools.{ {'k': toolbox}['k'] }.call", {}))
    bus.emit(Message(f"{PREFIX}{toolbox!s:>3}.call", {"name": "x"}))
bus.emit(Message(PREFIX + BOX + ".call", {"name": "x"}))
"#;
    let javascript = r#"
class Message { constructor(type, data) { console.log(JSON.stringify([type, data])); } }
for (const id of ["wordnet", 'a"b', 7]) {
  new Message(`ovos.persona.tools.${id}.call`, { name: "x" });
  new Message("ovos.persona.tools." + id + ".call", {"name": "x"});
  new Message(["ovos.persona.tools", [id][0], "call"].join("."), {});
}
"#;
    let shell = "TB=wordnet\n\
        echo \"{\\\"type\\\":\\\"ovos.persona.tools.$TB.call\\\",\\\"data\\\":{\\\"name\\\":\\\"x\\\"}}\" | jq -c '[.type, .data]'\n\
        cat <<EOF | jq -c '[.type, .data]'\n{\"type\": \"ovos.persona.tools.${TB}.call\", \"data\": {\"name\": \"x\"}}\nEOF\n\
        jq -cn --arg id \"$TB\" '{type: (\"ovos.persona.tools.\" + $id + \".call\"), data: {name: \"x\"}} | [.type, .data]'\n";
    let tree = Tree::new(&[("a.py", python), ("a.js", javascript), ("a.sh", shell)]);
    for (program, file, calls, left) in [
        ("python3", "a.py", 29, 4),
        ("node", "a.js", 9, 0),
        ("bash", "a.sh", 3, 0),
    ] {
        let before = tree.run(&[program, file]);
        assert_eq!(before.lines().count(), calls, "{before}");
        let fixed = tree.scan(&[file, "--fix", "--force"]);
        let after = tree.run(&[program, file]);
        for (old, new) in before.lines().zip(after.lines()) {
            let (topic, mut data): (String, Value) = serde_json::from_str(old).unwrap();
            let id = topic
                .strip_prefix("ovos.persona.tools.")
                .unwrap()
                .strip_suffix(".call")
                .unwrap();
            data["toolbox_id"] = id.into();
            let expected = serde_json::json!(["ovos.persona.tools.call", data]);
            let [old, new]: [Value; 2] = [old, new].map(|line| serde_json::from_str(line).unwrap());
            assert!(new == expected || new == old, "{old} became {new}");
        }
        // A topic that is padded is not rewritten, and that is told.
        let old = after.lines().filter(|line| !line.contains("toolbox_id")).count();
        assert_eq!(old, left, "{file}: {}\n{}", fixed.stdout, tree.read(file));
    }
}

#[test]
fn a_call_of_a_host_that_has_only_the_old_topic_is_left_until_that_has_moved() {
    let old = "bus.on(\"ovos.persona.tools.wordnet.call\", handle)\n";
    let tree = Tree::new(&[("caller.py", CALLER), ("host.py", old)]);
    let fixed = tree.scan(&[".", "--fix", "--force"]);
    assert_eq!(tree.read("caller.py"), CALLER);
    let why = "it may be for the host in host.py:1, which has only the old topic; move that first";
    assert!(fixed.stdout.contains(why), "{}", fixed.stdout);
    let both = format!("{old}bus.on(\"ovos.persona.tools.call\", handle)\n");
    tree.write("host.py", both.as_bytes());
    tree.scan(&[".", "--fix", "--force"]);
    assert_eq!(tree.read("caller.py"), NEW, "one that hears both topics is no reason");
    assert_eq!(tree.read("host.py"), both);
}

#[test]
fn a_message_whose_payload_is_given_later_is_left_to_a_person() {
    // The payload with the toolbox_id would be gone before it is sent.
    let python = "m = Message(\"ovos.persona.tools.wordnet.call\")\nm.data = {\"name\": \"x\"}\nbus.emit(m)\n";
    let javascript = "const m = new Message('ovos.persona.tools.wordnet.call', {});\nm.data = { name: 'x' };\n";
    let tree = Tree::new(&[("a.py", python), ("a.js", javascript)]);
    let fixed = tree.scan(&[".", "--fix", "--force"]);
    assert_eq!(
        fixed.stdout.matches("its payload is given later").count(),
        2,
        "{}",
        fixed.stdout
    );
    assert_eq!(
        (tree.read("a.py"), tree.read("a.js")),
        (python.to_owned(), javascript.to_owned())
    );
    // One entry more is no other payload.
    let entry = python.replace("m.data = {\"name\": \"x\"}", "m.data[\"name\"] = \"x\"");
    tree.write("b.py", entry.as_bytes());
    tree.scan(&["b.py", "--fix", "--force"]);
    let head = "m = Message(\"ovos.persona.tools.call\", {\"toolbox_id\": \"wordnet\"})\n";
    assert!(tree.read("b.py").starts_with(head), "{}", tree.read("b.py"));
}

#[test]
fn what_is_made_elsewhere_is_found_and_not_rewritten() {
    let bundle = "!function(){bus.emit('ovos.persona.tools.wordnet.call',{name:'x'})}();\n";
    let files = [
        ("dist/app.min.js", bundle),
        ("node_modules/a/a.js", bundle),
        ("venv/site-packages/a.py", CALLER),
    ];
    let tree = Tree::new(&files);
    let fixed = tree.scan(&[".", "--fix", "--force"]);
    let why = "it is a copy of what is made elsewhere; change it there";
    assert_eq!(fixed.stdout.matches(why).count(), files.len(), "{}", fixed.stdout);
    for (name, text) in files {
        assert_eq!(tree.read(name), text);
    }
    // Whoever names the folder itself means it.
    tree.scan(&["venv/site-packages", "--fix", "--force"]);
    assert_eq!(tree.read("venv/site-packages/a.py"), NEW);
}

#[test]
fn no_call_that_is_hard_to_read_becomes_another_one() {
    // Names that stand for several things, payloads from several places, frames in pieces: run before and after.
    for (program, name, least) in [
        ("python3", "calls.py", 35),
        ("node", "calls.js", 25),
        ("python3", "frames.py", 0),
        ("bash", "frames.sh", 10),
    ] {
        let text = std::fs::read_to_string(folder().join("../traps").join(name)).unwrap();
        let tree = Tree::new(&[(name, &text)]);
        let before = tree.run(&[program, name]);
        tree.scan(&[name, "--fix", "--force"]);
        let after = tree.run(&[program, name]);
        assert_eq!(before.lines().count(), after.lines().count(), "{name}");
        let mut moved = 0;
        for (old, new) in before.lines().zip(after.lines()) {
            let [mut old, new]: [Value; 2] = [old, new].map(|line| serde_json::from_str(line).unwrap_or(Value::Null));
            if old == new {
                continue;
            }
            let topic = old[0].as_str().unwrap().to_owned();
            let id = topic
                .strip_prefix("ovos.persona.tools.")
                .and_then(|rest| rest.strip_suffix(".call"));
            old[1]["toolbox_id"] = id.unwrap().into();
            old[0] = "ovos.persona.tools.call".into();
            assert_eq!(new, old, "{name}: {topic}");
            moved += 1;
        }
        assert!(moved >= least, "{name}: {moved}");
        let again = tree.scan(&[name, "--fix", "--force", "--dry-run"]).stdout;
        assert!(!again.contains("\n@@ -"), "{name}: {again}");
    }
}

#[test]
fn names_that_break_lines_neither_break_the_diff_nor_command_a_terminal() {
    let names = [
        "new\nline.py",
        "tab\t.py",
        "say \"a\\b\".py",
        "red\x1b[31m.py",
        "per%0Acent, ü.py",
    ];
    let files: Vec<_> = names.iter().map(|name| (*name, CALLER)).collect();
    let tree = Tree::new(&files);
    tree.commit();
    let diff = tree.scan(&[".", "--fix", "--dry-run", "--format", "json"]).stderr;
    assert!(
        !diff.contains('\x1b') && diff.contains("--- \"a/new\\nline.py\"\n"),
        "{diff}"
    );
    tree.write("change.diff", diff.as_bytes());
    tree.run(&["git", "apply", "change.diff"]);
    for name in names {
        assert_eq!(tree.read(name), NEW, "{name:?}");
    }
    tree.run(&["git", "checkout", "-q", "."]);
    let github = tree.scan(&[".", "--format", "github"]).stdout;
    assert_eq!(github.lines().count(), names.len(), "{github}");
    for name in ["new%0Aline.py", "per%250Acent%2C ü.py"] {
        assert!(github.contains(&format!("file={name},line=1,")), "{github}");
    }
    tree.scan(&[".", "--fix"]);
    for name in names {
        assert_eq!(tree.read(name), NEW, "{name:?}");
    }
}

#[test]
fn a_file_or_folder_that_may_not_be_written_stays_and_the_rest_is_rewritten() {
    let tree = Tree::new(&[("a.py", CALLER), ("closed/b.py", CALLER), ("read_only.py", CALLER)]);
    let mode = |name: &str, mode| {
        std::fs::set_permissions(tree.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let program = tree.path("toolhost");
    std::fs::copy(env!("CARGO_BIN_EXE_toolhost"), &program).unwrap();
    mode(".", 0o777);
    mode("a.py", 0o666);
    mode("read_only.py", 0o444);
    mode("closed/b.py", 0o666);
    mode("closed", 0o555);
    // Root writes everything, so somebody else does it.
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let is_root = nix::unistd::geteuid().is_root();
    let before: &[&str] = if is_root { &nobody } else { &["env"] };
    let scan = [
        program.to_str().unwrap(),
        "migrate",
        "scan",
        "a.py",
        "closed",
        "read_only.py",
        "--fix",
        "--force",
    ];
    let ended = tree.start(&[before, &scan].concat());
    mode("closed", 0o755);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for name in ["closed/b.py", "read_only.py"] {
        let line = format!("{name} is not rewritten: it cannot be written: Permission denied");
        assert!(ended.stderr.contains(&line), "{}", ended.stderr);
        assert_eq!(tree.read(name), CALLER);
    }
    // The folder is open to all, the file is somebody else's: whoever may not give it back does not take it.
    let is_changed = tree.read("a.py") == NEW;
    assert!(is_changed != is_root, "{}", ended.stderr);
    assert_eq!(
        std::fs::read_dir(tree.path("closed")).unwrap().count(),
        1,
        "no draft is left behind"
    );
}
