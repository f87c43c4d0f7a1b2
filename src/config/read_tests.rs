//! Reading the configuration: what every key gives, and every fault of it.

use crate::confinement::{Confinement, Limits, Sandbox};
use std::time::Duration;

use super::*;
use crate::config::Carry;
use crate::config::{BusUrl, Kind, Mode, Publish, Restart, RestartWhen, Script, declared};
use crate::migrate::carry::Way;

/// Every key there is; the tests of faults read it too.
const FULL: &str = include_str!("../../tests/config_faults/full.yaml");

/// Never on the disk: what it refers to is named in `full.yaml`'s own folder.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config_faults/full.yaml")
}

fn env(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/a".into()),
        "T" => Some("5s".into()),
        "SPACED" => Some("a 'b".into()),
        "FIVE" => Some("5".into()),
        _ => None,
    }
}

fn parse(text: &str) -> Config {
    Config::parse(text, &file(), &env).unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

fn faults(text: &str) -> String {
    Config::parse(text, &file(), &env)
        .err()
        .map(|faults| faults.to_string())
        .unwrap_or_default()
}

/// The one toolbox with these keys beside its command.
fn toolbox(keys: &str) -> ToolboxConfig {
    parse(&format!("toolboxes: {{a: {{command: [x], {keys}}}}}"))
        .toolboxes
        .remove(0)
}

fn argv(command: &str) -> Vec<String> {
    let kind = parse(&format!("toolboxes:\n  a:\n    command: {command}\n"))
        .toolboxes
        .remove(0)
        .kind;
    let Kind::Command(argv) = kind else { panic!("{kind:?}") };
    argv
}

#[test]
fn every_key_reaches_its_place() {
    let config = parse(FULL);
    let folder = file().parent().unwrap().to_owned();
    let beside = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    assert_eq!(config.file, file());
    assert_eq!(config.bus.url, BusUrl::Url("wss://bus.local:8181/core".into()));
    assert_eq!(config.bus.ca_file, Some(folder.join("bus.pem")));
    assert_eq!(config.tool_service, ToolService::Yes);
    let carry = |toolbox_id: &str, way| Carry {
        toolbox_id: toolbox_id.to_owned(),
        way,
    };
    let carried = vec![
        carry("old_one", Way::ToPredecessor),
        carry("old-two", Way::ToPredecessor),
        carry("new", Way::ToStatic),
    ];
    assert_eq!(config.migrate.carried, carried);
    assert_eq!(config.migrate.timeout, Duration::from_secs(20));
    assert!(config.watch);
    let sources: Vec<_> = config.sources.0.iter().map(|source| &*source.path).collect();
    assert_eq!(
        sources,
        [file(), folder.join("full.env")],
        "what a change of makes a difference"
    );
    let [wordnet, no, disk, notes] = &config.toolboxes[..] else {
        panic!("four toolboxes")
    };

    let argv = [
        "python3",
        &beside("wordnet.py"),
        &beside("../x"),
        ".",
        "0127",
        "1.10",
        "",
        "no",
        "~",
    ];
    let mut expected = ToolboxConfig::new("wordnet", Kind::Command(argv.map(str::to_owned).to_vec()), "");
    expected.cwd = folder.join("toolboxes");
    let variables = [
        ("API_KEY", "hunter2"),
        ("D", "2024-01-01"),
        ("DEBUG", "true"),
        ("LOG", "debug"),
        ("O", "0o17"),
        ("PORT", "8080"),
        ("V", "1.10"),
        ("WNHOME", "/home/a/wn"),
    ];
    expected.env.0 = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    expected.inherit_env = vec!["HTTP_PROXY".into()];
    let json =
        r#"{"lang":"no","depth":3,"ratio":1.50,"big":9007199254740993,"port":"5s","n":null,"list":[true,"true",16]}"#;
    expected.config = json.to_owned().into();
    expected.timeout = Duration::from_secs(90);
    expected.describe_timeout = Duration::from_secs(120);
    expected.mode = Mode::Oneshot;
    expected.processes = 2;
    expected.processes_given = true;
    expected.requires = vec!["jq".into(), "wn".into()];
    expected.confinement = Confinement {
        limits: Limits {
            memory: Some(512 << 20),
            cpu_seconds: Some(60),
            open_files: Some(256),
            processes: Some(32),
            file_size: Some(1 << 30),
        },
        umask: Some(0o077),
        user: Some("nobody".into()),
        group: Some("65534".into()),
        sandbox: Some(Sandbox {
            read: vec![folder.join("words"), "/srv".into()],
            write: vec![folder.join("data")],
            network: true,
            ..Sandbox::default()
        }),
        ..Confinement::default()
    };
    expected.max_pending = 10;
    expected.restart = Restart {
        when: RestartWhen::OnFailure,
        backoff: Duration::from_secs(1),
        max_backoff: Duration::from_secs(10),
        give_up_after: 3,
        within: Duration::from_secs(3600),
    };
    expected.required = true;
    expected.max_line = 1 << 20;
    expected.max_result = 23_000_000;
    expected.coerce = true;
    expected.publish = Publish {
        namespace: Some("wn".into()),
        rename: [("define_word".to_owned(), "define".to_owned())].into(),
        allow: vec!["define_*".into()],
        deny: vec!["define_secret".into()],
    };
    expected.predecessor_topics = PredecessorTopics::Ignore;
    assert_eq!(*wordnet, expected);
    assert_eq!(wordnet.line.0, 16);
    assert!(!format!("{config:?}").contains("hunter2"));

    assert_eq!((no.id.as_str(), no.timeout), ("no", Duration::from_secs(5)));
    assert!(no.is_lazy() && !wordnet.is_lazy());
    let minutes = Duration::from_secs(600);
    assert_eq!((no.idle_timeout, wordnet.idle_timeout), (Some(minutes), None));
    assert_eq!(
        no.kind,
        Kind::Command(["python3", "-u", "my tool.py", "a 'b"].map(str::to_owned).to_vec())
    );
    assert_eq!((&no.cwd, no.predecessor_topics), (&folder, PredecessorTopics::Warn));

    assert_eq!((disk.processes, disk.processes_given), (8, false));
    let Kind::Tools(tools) = &disk.kind else {
        panic!("{:?}", disk.kind)
    };
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["free_space", "sorted"]);
    let script = Script {
        path: folder.join("notes.py"),
        python: Some(folder.join("venv")),
        concurrent: Some(8),
        output: crate::config::Output::Json,
    };
    assert_eq!((&notes.kind, notes.processes), (&Kind::Script(script), 1));
}

#[test]
fn one_toolbox_takes_back_what_the_defaults_say_of_resting() {
    let text = "
        defaults: {start: lazy, idle_timeout: 10m}
        toolboxes:
          a: {command: [x]}
          b: {command: [x], start: eager, idle_timeout: never}
          c: {command: [x], required: true}
    ";
    let config = parse(text);
    let seen: Vec<_> = config
        .toolboxes
        .iter()
        .map(|it| (it.is_lazy(), it.idle_timeout))
        .collect();
    let minutes = Some(Duration::from_secs(600));
    // Whether one that is required can be started has to show at the start.
    assert_eq!(seen, [(true, minutes), (false, None), (false, minutes)]);
}

#[test]
fn what_a_file_leaves_out_has_its_default() {
    let config = parse("toolboxes: {a: {command: [x]}}");
    assert_eq!(
        (config.bus, config.tool_service),
        (BusConfig::default(), ToolService::Auto)
    );
    let folder = file().parent().unwrap().to_owned();
    assert_eq!(
        config.toolboxes,
        [ToolboxConfig::new("a", Kind::Command(vec!["x".into()]), folder)]
    );
    assert!(parse("toolboxes:\nbus:\ndefaults:\n").toolboxes.is_empty());
    assert!(parse("{toolboxes: {}, x-anything: [1]}").toolboxes.is_empty());
    assert_eq!(
        toolbox("config: , env: , restart: , rename: , allow: , inherit_env: ~"),
        toolbox("")
    );
}

#[test]
fn texts_stay_as_typed() {
    for typed in [
        "0127",
        "-0127",
        "+0127",
        "00",
        "0x10",
        "1.10",
        "9007199254740993",
        "no",
        "y",
        "NULL",
        "~",
        ".inf",
    ] {
        assert_eq!(argv(&format!("[x, {typed}]"))[1], typed);
    }
    for typed in [
        "8080",
        "true",
        "1.10",
        "2024-01-01",
        "0o17",
        "12:30",
        "1e3",
        "1_000",
        "on",
        "pa$$word",
        "$HOME",
    ] {
        assert_eq!(toolbox(&format!("env: {{V: {typed}}}")).env.0["V"], typed);
    }
    let config = parse("toolboxes: {no: {command: [x]}, on: {command: [x]}, 007: {command: [x]}, 1_0: {command: [x]}}");
    let ids: Vec<_> = config.toolboxes.iter().map(|toolbox| toolbox.id.as_str()).collect();
    assert_eq!(ids, ["no", "on", "007", "1_0"]);
    assert_eq!(toolbox("env: {NO: \"no: 'x'\", <<: {A: b}}").env.0.len(), 2);
}

#[test]
fn a_variable_is_typed_by_its_key_and_never_read_again() {
    assert_eq!(toolbox("timeout: \"${T}\"").timeout, Duration::from_secs(5));
    assert_eq!(toolbox("timeout: \"${FIVE}\"").timeout, Duration::from_secs(5));
    assert_eq!(toolbox("processes: \"${FIVE}\"").processes, 5);
    assert_eq!(
        parse("toolboxes:\n  a:\n    command: [x]\n    config: {a: \"${FIVE}\", b: [1]}\n").toolboxes[0]
            .config
            .as_str(),
        r#"{"a":"5","b":[1]}"#
    );
    let plain = "toolboxes:\n  a:\n    command: [x]\n    config:\n      a: ${FIVE}\n      b: ${FIVE}0\n      c: ${T}\n";
    assert_eq!(parse(plain).toolboxes[0].config.as_str(), r#"{"a":5,"b":50,"c":"5s"}"#);
    assert_eq!(
        argv("x ${SPACED} '${SPACED}' ${NONE:-a b}"),
        ["x", "a 'b", "a 'b", "a b"]
    );
}

#[test]
fn commands_are_split_and_rooted_beside_the_file() {
    let folder = file().parent().unwrap().to_str().unwrap().to_owned();
    assert_eq!(argv("./tool.sh"), [format!("{folder}/tool.sh")]);
    assert_eq!(
        argv("[.//./tool.sh, ./, --x=./y]"),
        [format!("{folder}/tool.sh"), format!("{folder}/"), "--x=./y".into()]
    );
    assert_eq!(argv("../tools/x.py a"), [format!("{folder}/../tools/x.py"), "a".into()]);
    assert_eq!(argv("[/opt/my app/run]"), ["/opt/my app/run"]);
    assert_eq!(argv("[my app, x]"), ["my app", "x"]);
    assert_eq!(toolbox("cwd: .").cwd, Path::new(&format!("{folder}/")));
    assert_eq!(toolbox("cwd: /srv").cwd, Path::new("/srv"));
}

#[test]
fn defaults_stand_below_a_toolbox_and_its_kind() {
    let config = parse(
        "defaults: {command: [d], env: {A: d, B: d}, allow: [d], env_file: full.env}
toolboxes: {a: {env: {B: a}, allow: [a]}, b: {command: [b]}}",
    );
    let [a, b] = &config.toolboxes[..] else {
        panic!("two toolboxes")
    };
    let values = |names: [&str; 4]| names.map(|name| a.env.0.get(name).map(String::as_str));
    assert_eq!(
        values(["A", "B", "API_KEY", "LOG"]),
        [Some("d"), Some("a"), Some("hunter2"), Some("from_file")]
    );
    assert_eq!(
        (&a.kind, &a.publish.allow),
        (&Kind::Command(vec!["d".into()]), &vec!["a".to_owned()])
    );
    assert_eq!(
        (&b.kind, &b.publish.allow),
        (&Kind::Command(vec!["b".into()]), &vec!["d".to_owned()])
    );
}

#[test]
fn keys_of_one_kind_may_stand_in_the_defaults_of_all() {
    let config = parse(
        "defaults: {python: python3.12, concurrent: 4, mode: oneshot, processes: 3, requires: [jq]}
toolboxes: {a: {command: [x]}, b: {script: ./b.py}, c: {tools: {t: {run: [x]}}, requires: []}, d: {script: b.sh, concurrent: false, python: ./v/}}",
    );
    let [a, b, c, d] = &config.toolboxes[..] else {
        panic!("four toolboxes")
    };
    assert_eq!((a.mode, a.processes), (Mode::Oneshot, 3));
    let modes = [b, c, d].map(|toolbox| (toolbox.mode, toolbox.processes, toolbox.processes_given));
    assert_eq!(modes, [(Mode::Persistent, 3, true); 3]);
    assert_eq!((a.requires.len(), b.requires.len(), c.requires.len()), (1, 1, 0));
    let scripts = [b, d].map(|toolbox| match &toolbox.kind {
        Kind::Script(script) => script.clone(),
        kind => panic!("{kind:?}"),
    });
    let folder = file().parent().unwrap().to_owned();
    let expected = [
        ("b.py", "python3.12".into(), Some(4)),
        ("b.sh", folder.join("v"), Some(1)),
    ];
    assert_eq!(
        scripts,
        expected.map(|(path, python, concurrent)| Script {
            path: folder.join(path),
            python: Some(python),
            concurrent,
            output: crate::config::Output::Text,
        })
    );
}

#[test]
fn a_toolbox_that_only_moved_is_the_same() {
    assert_eq!(
        parse("toolboxes: {a: {command: [x]}}"),
        parse("# moved\n\ntoolboxes:\n  a: {command: x}\n")
    );
}

#[test]
fn every_fault_is_told_once_and_in_the_order_of_the_lines() {
    let text = "defaults: {timeout: soon}\ntoolboxes:\n  b: {comand: x}\n  a: {command: [x]}\n";
    let told = faults(text);
    let lines: Vec<_> = told.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(
        lines[0].starts_with("full.yaml:1:21: defaults.timeout: expected a time"),
        "{told}"
    );
    assert_eq!(
        lines[1],
        "full.yaml:3:7: toolboxes.b.comand: unknown key; did you mean 'command'?"
    );
}

#[test]
fn every_key_of_the_lists_is_read() {
    let keys = |place: &str, known: &[&str]| {
        for key in known {
            let told = faults(&place.replace('@', &format!("{key}: [[[]]]")));
            assert!(!told.contains("unknown key"), "{key}: {told}");
        }
        assert!(faults(&place.replace('@', "nothing: 1")).contains("unknown key"));
    };
    keys("@", TOP_KEYS);
    keys("bus: {@}", crate::config::bus::BUS_KEYS);
    keys("toolboxes: {a: {@}}", toolbox::KEYS);
    keys("toolboxes: {a: {restart: {@}}}", toolbox::RESTART_KEYS);
    let tool = |keys: &str| format!("toolboxes: {{a: {{tools: {{t: {{{keys}}}}}}}}}");
    keys(&tool("@"), declared::TOOL_KEYS);
    keys(&tool("parameters: {p: {@}}"), declared::PARAMETER_KEYS);
    keys(&tool("hints: {@}"), declared::HINT_KEYS);
}

/// A few thousand broken files; what broke one is in the message of its panic.
#[test]
fn no_text_at_all_makes_the_reader_panic() {
    let mut random = fastrand::Rng::with_seed(97);
    let pieces = [
        "\t", "\n", "  ", ": ", "- ", "[", "]", "{", "}", "'", "\"", "&a ", "*a", "<<: ", "${", "}", "!x ", "---\n",
        "|", ">", "? ", "#", "\\", "\u{feff}", "é", "\0", "%", ",",
    ];
    for _ in 0..3_000 {
        let mut chars: Vec<char> = FULL.chars().collect();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(0..chars.len().max(1)).min(chars.len());
            match random.u8(0..4) {
                0 => drop(chars.drain(at..(at + random.usize(1..20)).min(chars.len()))),
                1 if random.u8(0..4) == 0 => chars.truncate(at),
                2 => {
                    let piece = pieces[random.usize(0..pieces.len())];
                    drop(chars.splice(at..at, piece.chars()));
                }
                _ => {
                    let from = random.usize(0..=chars.len());
                    let copy: Vec<char> = chars[from..(from + random.usize(1..60)).min(chars.len())].to_vec();
                    drop(chars.splice(at..at, copy));
                }
            }
        }
        let text: String = chars.into_iter().collect();
        let told = std::panic::catch_unwind(|| faults(&text)).unwrap_or_else(|_| panic!("{text:?}"));
        assert!(!told.contains("hunter2"), "{told}");
    }
}
