//! The scripts in `owners/` are as people write them for themselves. Three lines of YAML each make them tools.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Scripts;
use crate::common::caller::{Caller, LIST};
use crate::common::embedded::Embedded;
use crate::common::host::Host;
use crate::common::scratch::Scratch;

fn owners() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/owners")
}

fn yaml() -> String {
    std::fs::read_to_string(owners().join("toolhost.yaml")).unwrap()
}

/// Every script below the folder.
pub(crate) fn scripts() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [owners(), owners().join("tools")] {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        found.extend(files.filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending != "yaml")));
    }
    found
}

/// The owner's home: the files, the configuration as it is, and what the scripts find there.
#[allow(clippy::disallowed_methods, reason = "files are copied as a user copies them")]
fn furnish(home: &Path) {
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(owners().join("."))
        .arg(home)
        .status();
    assert!(copied.unwrap().success());
    for (name, text) in [
        ("notes.txt", "one\ntwo\n"),
        ("a poem.txt", "the sea the sea\nan empty sea"),
        ("timetable.txt", "18:05 Old Mill\n06:40 Old Mill\n17:30 Harbor\n"),
        (
            "contacts.csv",
            "name,phone,mail,group\nAda Byron,1815,ada@example.org,friends\nCharles B.,1791,cb@example.org,work\n",
        ),
        ("rates.json", r#"{"EUR": 1, "SEK": 11.25}"#),
        (
            "app.log",
            "09:00 INFO up\n09:05 ERROR lost the disk\n09:06 WARN hot\n10:00 ERROR and again\n",
        ),
    ] {
        std::fs::write(home.join(name), text).unwrap();
    }
}

/// Every tool, an argument list, and what comes back.
fn calls(home: &str, port: u16) -> Vec<(&'static str, &'static str, Value, Result<Value, &'static str>)> {
    let text = |text: &str| Ok(json!({"output": text}));
    let note = format!("{home}/notes.txt");
    vec![
        ("shopping", "add", json!({"item": "milk"}), Ok(json!("1 x milk"))),
        (
            "shopping",
            "add",
            json!({"item": "milk", "count": 2}),
            Ok(json!("3 x milk")),
        ),
        (
            "shopping",
            "add",
            json!({"item": "tea", "count": 0}),
            Err("ValueError: count must be at least 1"),
        ),
        ("shopping", "show", json!({"starts_with": "m"}), Ok(json!(["3 x milk"]))),
        ("shopping", "remove", json!({"item": "milk"}), Ok(json!(true))),
        ("shopping", "remove", json!({"item": "milk"}), Ok(json!(false))),
        (
            "kitchen",
            "convert",
            json!({"amount": 2, "source": "cup"}),
            Ok(json!(473.18)),
        ),
        (
            "kitchen",
            "convert",
            json!({"amount": 3, "source": "tsp", "target": "tbsp"}),
            Ok(json!(1.0)),
        ),
        (
            "kitchen",
            "scale",
            json!({"serves": 5, "recipe": {"title": "tea", "serves": 2,
                "ingredients": [{"name": "water", "amount": 1, "unit": "cup"}]}}),
            Ok(json!({"title": "tea", "serves": 5,
                "ingredients": [{"name": "water", "amount": 2.5, "unit": "cup", "note": null}]})),
        ),
        (
            "kitchen",
            "scale",
            json!({"serves": 5, "recipe": {"title": "air", "serves": 0}}),
            Err("ZeroDivisionError: the recipe serves nobody"),
        ),
        (
            "reachable",
            "last_seen",
            json!({"host": "127.0.0.1", "port": port}),
            Ok(Value::Null),
        ),
        (
            "reachable",
            "check_port",
            json!({"host": "127.0.0.1", "port": port}),
            Ok(json!(true)),
        ),
        (
            "reachable",
            "check_many",
            json!({"hosts": ["127.0.0.1", "127.0.0.2"], "port": port}),
            Ok(json!({"127.0.0.1": true, "127.0.0.2": false})),
        ),
        (
            "wordcount",
            "top_words",
            json!({"text": "A tea, the tea", "n": 1}),
            Ok(json!([["tea", 2]])),
        ),
        (
            "wordcount",
            "top_words",
            json!({"text": "x", "n": 0}),
            Err("ValueError: n=0?"),
        ),
        (
            "wordcount",
            "top_words_of_file",
            json!({"path": "~/a poem.txt", "n": 1}),
            Ok(json!({"file": "a poem.txt", "top": [["sea", 3]]})),
        ),
        (
            "wordcount",
            "reading_time",
            json!({"text": "a b c d", "wpm": 2, "minutes": false}),
            Ok(json!(120.0)),
        ),
        (
            "backup",
            "save",
            json!({"file": note, "message": "first $(id)"}),
            text("saved as notes.txt.1\n"),
        ),
        (
            "backup",
            "save",
            json!({"file": note, "compress": "gzip", "quiet": true}),
            text(""),
        ),
        (
            "backup",
            "list",
            json!({"name": "notes"}),
            text("notes.txt.1\nnotes.txt.2.gz\n"),
        ),
        ("backup", "list", json!({"limit": 1}), text("notes.txt.1\n")),
        ("backup", "cat", json!({"copy": "notes.txt.2.gz"}), text("one\ntwo\n")),
        (
            "backup",
            "cat",
            json!({"copy": "../notes.txt"}),
            Err("CommandError: exit status 1: just the name please"),
        ),
        (
            "backup",
            "save",
            json!({"file": "gone"}),
            Err("CommandError: exit status 2: no such file: gone"),
        ),
        (
            "playlists",
            "add",
            json!({"name": "slow", "songs": ["So What", "Blue in Green"], "tag": ["jazz", "old"]}),
            Ok(json!({"songs": 2, "tags": ["jazz", "old"]})),
        ),
        (
            "playlists",
            "add",
            json!({"name": "slow", "songs": ["--arg", "*"], "tag": ["jazz"], "shuffle": true}),
            Ok(json!({"songs": 4, "tags": ["jazz", "old"]})),
        ),
        (
            "playlists",
            "list",
            json!({}),
            Ok(json!([{"name": "slow", "songs": 4}])),
        ),
        (
            "logreport",
            "logreport",
            json!({"log": format!("{home}/app.log"), "level": ["ERROR", "INFO"], "since": "09:04"}),
            Ok(json!({"lines": ["ERROR: 2", "WARN: 0", "INFO: 0"]})),
        ),
        (
            "logreport",
            "logreport",
            json!({"log": format!("{home}/app.log"), "total": true}),
            Ok(json!({"lines": ["4"]})),
        ),
        (
            "chores",
            "addChore",
            json!({"what": "dishes", "who": "Ada", "every": "daily"}),
            Ok(json!(1)),
        ),
        (
            "chores",
            "chores",
            json!({"who": "Ada"}),
            Ok(json!([{"what": "dishes", "who": "Ada", "every": "daily", "minutes": 15}])),
        ),
        ("chores", "chores", json!({"maxMinutes": 5}), Ok(json!([]))),
        (
            "moon",
            "phase",
            json!({"date": "2024-01-25T18:00:00Z"}),
            Ok(json!({"name": "full", "age": 14.4})),
        ),
        (
            "next_train",
            "next_train",
            json!({"station": "Old Mill", "after": "07:00"}),
            text("18:05\n"),
        ),
        (
            "next_train",
            "next_train",
            json!({"station": "Old Mill"}),
            text("06:40\n"),
        ),
        (
            "next_train",
            "next_train",
            json!({"station": "Moon"}),
            text("no train to Moon after 00:00\n"),
        ),
        (
            "find_contact",
            "find_contact",
            json!({"name": "ada", "field": "mail"}),
            Ok(json!("Ada Byron: ada@example.org")),
        ),
        (
            "find_contact",
            "find_contact",
            json!({"name": "b", "groups": ["work"]}),
            Ok(json!("Charles B.: 1791")),
        ),
        (
            "convert_money",
            "convert_money",
            json!({"amount": 10, "from": "EUR", "to": "SEK"}),
            Ok(json!("112.5 SEK")),
        ),
        (
            "convert_money",
            "convert_money",
            json!({"amount": 1, "from": "SEK", "to": "EUR", "rounding": "floor"}),
            Ok(json!("0.08 EUR")),
        ),
        (
            "convert_money",
            "convert_money",
            json!({"amount": 1, "from": "X", "to": "SEK"}),
            Err("Error: no rate for X"),
        ),
    ]
}

pub(crate) struct Home {
    pub(crate) host: Host,
    caller: Caller,
    bus: Embedded,
}

impl Home {
    pub(crate) async fn open() -> Self {
        let bus = Embedded::start().await;
        let mut host = Host::launch_with(&json!({}), |command| {
            furnish(command.get_current_dir().expect("its folder"));
            command.args(["--bus", &bus.url]);
        });
        host.ready().await;
        let caller = Caller::connect(&bus.url).await;
        Self { host, caller, bus }
    }

    pub(crate) async fn tools(&mut self) -> Vec<Value> {
        let listed = self.caller.ask(LIST, &json!({})).await;
        listed["tools"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn every_script_of_its_owner_answers_as_a_tool() {
    let mut home = Home::open().await;
    let folder = home.host.folder().display().to_string();
    let port = home
        .bus
        .url
        .split(':')
        .nth(2)
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let calls = calls(&folder, port);
    for (toolbox, tool, kwargs, expected) in &calls {
        let said = home.caller.call(toolbox, tool, kwargs).await;
        assert_eq!(
            said,
            expected.clone().map_err(str::to_owned),
            "{toolbox} {tool} {kwargs}"
        );
    }

    // Two whose answers hang on when they are asked.
    let seen = home
        .caller
        .call("reachable", "last_seen", &json!({"host": "127.0.0.1", "port": port}))
        .await;
    assert!(seen.as_ref().is_ok_and(Value::is_f64), "{seen:?}");
    let full = home
        .caller
        .call("moon", "nextFull", &json!({"from": "2024-01-20T00:00:00Z", "count": 2}))
        .await
        .unwrap();
    let days: Vec<&str> = full
        .as_array()
        .unwrap()
        .iter()
        .map(|day| &day.as_str().unwrap()[..10])
        .collect();
    assert_eq!(days, ["2024-01-26", "2024-02-24"]);

    let called = |tool: &Value| {
        let is_it = |(toolbox, name): (&str, &str)| tool["toolbox_id"] == toolbox && tool["name"] == name;
        is_it(("moon", "nextFull")) || calls.iter().any(|call| is_it((call.0, call.1)))
    };
    for tool in home.tools().await {
        assert!(
            called(&tool),
            "nobody has called {} of {}",
            tool["name"],
            tool["toolbox_id"]
        );
    }
    home.host.stop().await;
}

#[test]
fn a_script_takes_at_most_three_lines_of_yaml_and_no_word_of_toolhost() {
    let yaml = yaml();
    let toolboxes: Vec<&str> = yaml.split("\n\n").skip(1).collect();
    assert_eq!(toolboxes.len(), scripts().len());
    assert!(toolboxes.len() >= 10);
    for toolbox in toolboxes {
        assert!(toolbox.trim_end().lines().count() <= 3, "{toolbox}");
        assert_eq!(toolbox.matches("script: ./").count(), 1, "{toolbox}");
    }
    for script in scripts() {
        let text = std::fs::read_to_string(&script).unwrap();
        assert!(!text.to_lowercase().contains("toolhost"), "{}", script.display());
    }
}

/// A tool as the llm-functions collection has them, which asks for its surroundings.
const AROUND: [(&str, &str); 3] = [
    (
        "around_bash.sh",
        "# @cmd Around\nmain() { :; }\n# @cmd Around\naround() { echo \"$LLM_ROOT_DIR|$LLM_TOOL_CACHE_DIR|$LLM_TOOL_NAME\" > \"$LLM_OUTPUT\"; }\n\
         eval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
    ),
    (
        "around_python.py",
        "import os\nNAMES = ['LLM_ROOT_DIR', 'LLM_TOOL_CACHE_DIR', 'LLM_TOOL_NAME']\n\
         def run() -> str: return '|'.join(os.environ[name] for name in NAMES)\n",
    ),
    (
        "around_node.js",
        "/** Around. */\nexports.run = () => [process.env.LLM_ROOT_DIR, process.env.LLM_TOOL_CACHE_DIR, process.env.LLM_TOOL_NAME].join('|')\n",
    ),
];

#[tokio::test]
async fn tools_of_llm_functions_find_their_folders_in_every_language() {
    for own in [None, Some("/srv/mine")] {
        let folder = Scratch::new();
        let tools = folder.path().join("tools");
        std::fs::create_dir(&tools).unwrap();
        let mut toolboxes = json!({});
        for (file, text) in AROUND {
            std::fs::write(tools.join(file), text).unwrap();
            let (id, _) = file.split_once('.').unwrap();
            toolboxes[id] = json!({"script": tools.join(file)});
            if let Some(own) = own {
                toolboxes[id]["env"] = json!({"LLM_ROOT_DIR": own, "LLM_TOOL_NAME": "its own"});
            }
        }
        let mut scripts = Scripts::start(folder, &toolboxes).await;
        let place = scripts.path().display().to_string();
        let root = own.unwrap_or(&place);
        for (id, tool) in [
            ("around_bash", "around"),
            ("around_python", "around_python"),
            ("around_node", "around_node"),
        ] {
            let said = scripts.call(id, tool, json!({})).await.unwrap();
            let said = said["output"].as_str().or(said.as_str()).unwrap().trim_end().to_owned();
            let name = match own {
                Some(_) => "its own",
                None if id == "around_bash" => "around",
                None => id,
            };
            assert_eq!(said, format!("{root}|{place}/cache/{id}|{name}"));
        }
        scripts.host.stop().await;
    }
}
