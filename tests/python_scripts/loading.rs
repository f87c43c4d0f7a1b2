//! How a script is loaded, and what is said of one that cannot be.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use crate::common::caller::Caller;
use crate::common::embedded::Embedded;
use crate::common::host::Host;
use crate::common::scratch::Scratch;
use crate::harness::Scripts;

/// Scripts that cannot be served, with what callers are told.
const BROKEN: [(&str, &str, &str); 10] = [
    (
        "syntax.py",
        "def f(:\n",
        "SyntaxError: invalid syntax (syntax.py, line 1)",
    ),
    (
        "missing.py",
        "import no_such_module\ndef f(a: int): pass\n",
        "ModuleNotFoundError: No module named 'no_such_module' (missing.py, line 1; python is /",
    ),
    (
        "zero.py",
        "x = 1\ny = 1 / 0\n",
        "ZeroDivisionError: division by zero (zero.py, line 2)",
    ),
    (
        "exits.py",
        "import sys\nsys.exit(3)\n",
        "SystemExit: 3 (exits.py, line 2; it ends while it is loaded: put what is for the command line under if __name__ == ",
    ),
    (
        "untyped.py",
        "def f(a): pass\n",
        "untyped.py has no tools: a tool is a public function with a type hint, such as `def add(a: int, b: int) -> int:`: \
         f has none; or name the functions in TOOLS = [...]",
    ),
    (
        "unknown.py",
        "def f(a: 'Nope'): pass\n",
        "unknown.py has no tools: f: the parameter 'a': Nope (NameError: name 'Nope' is not defined)",
    ),
    (
        "listed.py",
        "TOOLS = ['f', 'g']\ndef f(): pass\n",
        "listed.py: TOOLS names 'g', which is no function of the file",
    ),
    (
        "calendar.py",
        "from calendar import monthrange\n",
        "; the file has the name of Python's own module calendar, which it hides)",
    ),
    (
        "packages.py",
        "#!/usr/bin/env -S uv run --script\n# /// script\n# dependencies = ['no_such']\n# ///\nimport no_such\n",
        "): needs packages (PEP 723); make a virtual environment with them and name it under python:",
    ),
    (
        "strange.py",
        "import math\nTOOLS = [math.sqrt]\ndef f(a: int): pass\n",
        "strange.py: TOOLS holds <built-in function sqrt>, which cannot be a tool: it may hold functions and their names, \
         methods of objects, functools.partial and objects with a __call__, all of them written in Python",
    ),
];

#[tokio::test]
async fn a_script_that_cannot_be_loaded_says_why_to_whoever_calls() {
    let files: Vec<_> = BROKEN.iter().map(|(name, text, _)| (*name, *text)).collect();
    let mut scripts = Scripts::host_with(&files, &json!({"restart": {"when": "never"}})).await;
    for (name, _, wanted) in BROKEN {
        let id = name.trim_end_matches(".py");
        let error = scripts.call(id, "f", json!({})).await.unwrap_err();
        assert!(
            error.starts_with("ToolboxUnavailable: ") && error.contains(wanted),
            "{name}: {error}"
        );
    }
    scripts.host.stop().await;
}

#[tokio::test]
async fn scripts_with_names_of_pythons_own_modules_are_no_trouble() {
    let text = "import dataclasses, json, types\ndef f(a: int) -> str: return json.dumps([a, __name__])\n";
    let mut scripts = Scripts::host(&[("types.py", text), ("enum.py", text), ("my-notes.v2.py", text)]).await;
    assert_eq!(
        scripts.call("types", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"types_script\"]"))
    );
    assert_eq!(
        scripts.call("my-notes_v2", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"my-notes.v2\"]"))
    );
    assert_eq!(
        scripts.call("enum", "f", json!({"a": 1})).await,
        Ok(json!("[1, \"enum_script\"]"))
    );
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_finds_the_modules_beside_it_and_its_own_path() {
    let files = [
        ("helper_of_it.py", "def twice(a: int) -> int: return 2 * a\n"),
        (
            "uses.py",
            "import sys\nfrom helper_of_it import twice\ndef f(a: int) -> list: return [twice(a), sys.argv == [__file__]]\n",
        ),
    ];
    let mut scripts = Scripts::host(&files).await;
    assert_eq!(
        scripts.tools("uses").await,
        ["f"],
        "what is imported is no tool of the script"
    );
    assert_eq!(scripts.call("uses", "f", json!({"a": 2})).await, Ok(json!([4, true])));
    scripts.host.stop().await;
}

#[tokio::test]
async fn a_script_is_served_also_where_no_folder_can_be_made_for_the_runner() {
    let scripts = Scratch::new();
    let path = scripts.path().join("plain.py");
    let text = "import toolhost\ndef runner() -> str: return toolhost.__file__\ndef twice(word: str) -> str: return word * 2\n";
    std::fs::write(&path, text).unwrap();
    let bus = Embedded::start().await;
    let config = json!({"bus": {"url": bus.url}, "toolboxes": {"plain": {"script": path}}});
    let mut host = Host::launch_with(&config, |command| {
        for variable in ["HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"] {
            command.env(variable, "/proc");
        }
    });
    host.ready().await;
    let mut caller = Caller::connect(&bus.url).await;
    let twice = caller.call("plain", "twice", &json!({"word": "ab"})).await;
    assert_eq!(twice, Ok(json!("abab")));
    // It came through standard input, and lies nowhere.
    let runner = caller.call("plain", "runner", &json!({})).await;
    assert_eq!(runner, Ok(json!("<toolhost>")));
    host.stop().await;
}

/// Says that it is old, wherever no old Python is.
const OLD: &str = r#"#!/bin/sh
text=$2; shift 2
exec python3 -c "import sys
sys.version_info = (3, 6, 15)
$text" "$@"
"#;

#[tokio::test]
async fn a_python_that_is_too_old_says_so_and_which_it_is() {
    let folder = Scratch::new();
    let old = folder.path().join("python");
    std::fs::write(&old, OLD).unwrap();
    std::fs::set_permissions(&old, PermissionsExt::from_mode(0o755)).unwrap();
    let mut pythons = vec![(old, "3.6.15".to_owned())];
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    for entry in std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten() {
        let entry = entry.unwrap();
        let version = entry.file_name().into_string().unwrap();
        if ["2.7.", "3.6.", "3.7."].iter().any(|start| version.starts_with(start)) {
            pythons.push((entry.path().join("bin/python"), version));
        }
    }
    for (python, version) in pythons {
        let keys = json!({"restart": {"when": "never"}, "python": python});
        let mut scripts = Scripts::host_with(&[("plain.py", "def f(a: int): pass\n")], &keys).await;
        let error = scripts.call("plain", "f", json!({})).await.unwrap_err();
        let end = format!(" is {version}");
        assert!(
            error.contains("toolhost needs Python 3.8 or newer; /") && error.contains(&end),
            "{version}: {error}"
        );
        scripts.host.stop().await;
    }
}
