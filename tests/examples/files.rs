//! The toolbox `files` stays below its folder, whatever a path is and whatever lies in the folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::host::Host;
use crate::root;
use crate::scratch::Scratch;

/// What lies outside; no answer may hold it.
const SECRET: &str = "canary-4711";

/// A folder with a secret beside it, and a host that shows the folder.
struct Place {
    scratch: Scratch,
    host: Host,
}

impl Place {
    /// The folder is `shown`, a link to it `link`, and its neighbor `shown-not`.
    fn new(files_root: &str) -> Self {
        let scratch = Scratch::new();
        let at = |name: &str| scratch.path().join(name);
        for folder in ["shown/sub/deep", "shown/.hidden", "shown-not"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        for (name, text) in [
            ("secret.txt", SECRET),
            ("shown-not/secret.txt", SECRET),
            ("shown/a.txt", "one\nhello world\n"),
            ("shown/sub/b.md", "hello\r\nHELLO there\nend"),
            ("shown/.hidden/x", "hello from the dark\n"),
            ("shown/sub/deep/c.txt", "deep\n"),
        ] {
            std::fs::write(at(name), text).expect("a file");
        }
        symlink("shown", at("link")).expect("a link");
        let file = at("toolhost.yaml");
        let yaml = format!(
            "bus: {{url: embedded}}\ntoolboxes:\n  files:\n    script: {}\n    output: json\n    env: {{FILES_ROOT: {}}}\n",
            root().join("toolboxes/files/files.sh").display(),
            scratch.path().join(files_root).display(),
        );
        std::fs::write(&file, yaml).expect("a configuration");
        let host = Host::start(&file);
        Self { scratch, host }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.scratch.path().join("shown").join(name)
    }

    fn call(&self, tool: &str, kwargs: &Value) -> Result<Value, String> {
        let answer = self.host.call("files", tool, kwargs);
        let told = match &answer {
            Ok(result) => result.to_string(),
            Err(error) => error.clone(),
        };
        assert!(!told.contains(SECRET), "{tool} {kwargs} told the secret: {told}");
        answer
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let result = self.call("read_file", &json!({ "path": path }))?;
        Ok(result["text"].as_str().expect("a text").to_owned())
    }

    /// The paths `tool` found.
    fn paths(&self, tool: &str, kwargs: &Value) -> Vec<String> {
        let result = self.call(tool, kwargs).expect("a result");
        let found = if tool == "search_files" {
            &result["lines"]
        } else {
            &result["entries"]
        };
        let found = found.as_array().expect("an array").iter();
        found
            .map(|entry| entry["path"].as_str().expect("a path").to_owned())
            .collect()
    }
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let place = Place::new("shown");
    symlink("../secret.txt", place.at("out.txt")).expect("a link");
    symlink("/", place.at("top")).expect("a link");
    symlink("..", place.at("sub/up")).expect("a link that stays inside");
    symlink("../..", place.at("sub/upper")).expect("a link");
    symlink(place.scratch.path().join("shown-not"), place.at("neighbor")).expect("a link");
    let outside = place.scratch.path().join("secret.txt");
    let through_top = format!("top{}", outside.display());
    let (outside, neighbor) = (outside.display().to_string(), place.at("").display().to_string());
    let neighbor = format!("{}-not/secret.txt", neighbor.trim_end_matches('/'));
    let tries = [
        ("../secret.txt", "'..'"),
        ("sub/../../secret.txt", "'..'"),
        ("..", "'..'"),
        ("../shown/a.txt", "'..'"),
        ("sub/./.././../secret.txt", "'..'"),
        (outside.as_str(), "outside"),
        (neighbor.as_str(), "outside"),
        ("/etc/passwd", "outside"),
        ("/", "outside"),
        ("//etc/passwd", "outside"),
        ("/proc/self/environ", "outside"),
        ("out.txt", "leads out"),
        (through_top.as_str(), "leads out"),
        ("top/etc/passwd", "leads out"),
        ("neighbor/secret.txt", "leads out"),
        ("sub/upper/secret.txt", "leads out"),
        ("sub/up/out.txt", "leads out"),
        ("%2e%2e/secret.txt", "no such file"),
        ("..%2fsecret.txt", "no such file"),
        ("..\\secret.txt", "no such file"),
        ("..\n/../secret.txt", "'..'"),
        ("~/secret.txt", "no such file"),
        ("$HOME", "no such file"),
        ("$(cat ../secret.txt)", "no such file"),
        ("*.txt", "no such file"),
        ("file:///etc/passwd", "no such file"),
        ("a.txt/../../secret.txt", "'..'"),
    ];
    for (path, why) in tries {
        for (tool, key) in [("read_file", "path"), ("file_info", "path"), ("list_folder", "folder")] {
            let mut kwargs = json!({});
            kwargs[key] = json!(path);
            let error = place.call(tool, &kwargs).expect_err(path);
            assert!(error.contains(why), "{tool} {path:?}: {error}");
        }
    }
    for folder in ["top", "neighbor", "..", "/etc", "sub/upper"] {
        for (tool, key) in [("find_files", "name"), ("search_files", "pattern")] {
            let mut kwargs = json!({ "folder": folder });
            kwargs[key] = json!("canary");
            place.call(tool, &kwargs).expect_err(folder);
        }
    }
    assert_eq!(place.text("sub/up/a.txt"), Ok("one\nhello world".to_owned()));
}

#[test]
fn what_lies_behind_a_link_is_not_found_either() {
    let place = Place::new("shown");
    symlink("..", place.at("out")).expect("a link");
    symlink("../secret.txt", place.at("secret-link")).expect("a link");
    let found = place.paths("find_files", &json!({"name": "*secret*", "hidden": true}));
    assert_eq!(found, ["secret-link"]);
    for glob in [json!([]), json!(["../*"]), json!(["out/**"])] {
        let found = place.paths("search_files", &json!({"pattern": "canary", "all": true, "glob": glob}));
        assert!(found.is_empty(), "{found:?}");
    }
    assert!(place.paths("find_files", &json!({"name": "../*"})).is_empty());
}

#[test]
fn the_folder_may_be_a_link_itself() {
    let place = Place::new("link");
    assert_eq!(place.text("a.txt"), Ok("one\nhello world".to_owned()));
    for top in ["link", "shown"] {
        let absolute = place.scratch.path().join(top).join("a.txt");
        assert_eq!(
            place.text(&absolute.display().to_string()),
            Ok("one\nhello world".to_owned())
        );
    }
    let error = place.text("../secret.txt").expect_err("outside");
    assert!(error.contains("'..'"), "{error}");
    assert!(place.call("list_folder", &json!({"folder": "/shown-not"})).is_err());
}

#[test]
fn a_name_may_be_anything_a_file_can_have() {
    let place = Place::new("shown");
    let names = [
        "-dash",
        "--help",
        "new\nline",
        "line end\n",
        "sp ace",
        " ",
        "tab\tbed",
        "Zoë 李",
        "a\\nb",
        "'\"$(id)`id`",
        "*",
        "{}",
    ];
    for name in names {
        std::fs::write(place.at(name), format!("this is {name:?}")).expect("a file");
    }
    let listed = place.paths("list_folder", &json!({}));
    for name in names {
        assert!(listed.contains(&name.to_owned()), "{name:?} is not in {listed:?}");
        // A blank alone is as good as nothing.
        if name != " " {
            assert_eq!(place.text(name), Ok(format!("this is {name:?}")), "{name:?}");
            let info = place.call("file_info", &json!({ "path": name })).expect("a file");
            assert_eq!(info["path"], name);
        }
    }
    let found = place.paths("search_files", &json!({"pattern": "this is", "limit": 100}));
    assert_eq!(found.len(), names.len(), "{found:?}");

    std::fs::write(place.at("").join(Path::new(OsStr::from_bytes(b"bad\xff"))), "x").expect("a file");
    assert!(
        place
            .paths("find_files", &json!({"name": "bad?"}))
            .contains(&"bad\u{fffd}".to_owned())
    );
    assert!(place.text("bad\u{fffd}").is_err());
}

#[test]
fn what_is_no_text_and_what_has_no_end_is_refused() {
    let place = Place::new("shown");
    nix::unistd::mkfifo(&place.at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    std::fs::write(place.at("binary"), b"a\0b").expect("a file");
    symlink("loop", place.at("loop")).expect("a link");
    for (path, why) in [
        ("pipe", "'pipe' is no regular file"),
        ("binary", "'binary' is no text"),
        ("loop", "no such file or folder: 'loop'"),
        ("sub", "'sub' is a folder"),
        ("a.txt/x", "no such file or folder"),
    ] {
        let error = place.text(path).expect_err(path);
        assert!(error.contains(why), "{error}");
    }
    // The pipe holds up no search.
    assert_eq!(
        place.paths("search_files", &json!({"pattern": "hello"})),
        ["a.txt", "sub/b.md"]
    );
}

#[test]
fn results_are_bounded_and_say_so() {
    let place = Place::new("shown");
    std::fs::write(place.at("long.txt"), "hello again\n".repeat(100_000)).expect("a file");
    std::fs::write(place.at("one-line"), "x".repeat(3_000_000)).expect("a file");
    let is = |tool: &str, kwargs: Value, count: usize, more: bool| {
        let result = place.call(tool, &kwargs).expect("a result");
        let found = result.get("entries").or_else(|| result.get("lines")).expect("results");
        assert_eq!(found.as_array().map(Vec::len), Some(count), "{tool} {kwargs}");
        assert_eq!(result["more"], more, "{tool} {kwargs}");
    };
    is("list_folder", json!({}), 4, false);
    is("list_folder", json!({"hidden": true}), 5, false);
    is("list_folder", json!({"limit": 2}), 2, true);
    is("find_files", json!({"name": "*", "kind": "file"}), 5, false);
    is("find_files", json!({"name": "*", "hidden": true, "limit": 3}), 3, true);
    is("search_files", json!({"pattern": "hello"}), 50, true);
    is(
        "search_files",
        json!({"pattern": "HELLO", "glob": ["*.md"], "context": 1}),
        3,
        false,
    );
    is("search_files", json!({"pattern": "dark", "all": true}), 1, false);

    let read = |kwargs: Value| place.call("read_file", &kwargs).expect("a result");
    let tail = read(json!({"path": "sub/b.md", "first": 2, "lines": 1}));
    assert_eq!(
        tail,
        json!({"path": "sub/b.md", "first": 2, "lines": 1, "text": "HELLO there", "more": true})
    );
    let cut = read(json!({"path": "one-line"}));
    assert!(cut["text"].as_str().is_some_and(|text| text.len() < 300_000));
    assert_eq!(cut["more"], true);
    let long = read(json!({"path": "long.txt", "lines": 5000}));
    assert_eq!((&long["lines"], &long["more"]), (&json!(5000), &json!(true)));
    assert_eq!(read(json!({"path": "a.txt", "first": 9}))["text"], "");
}
