//! What is read of a tree, what is not, and what is said about it.
#![allow(clippy::expect_used)] // The allowance for tests ends at their own functions.

use std::os::unix::fs::PermissionsExt as _;

use crate::scan::Tree;

const CALLER: &str = "bus.emit(Message(\"ovos.persona.tools.wordnet.call\", {\"name\": \"x\"}))\n";
const SHELL: &str = "#!/bin/sh\ntoolhost call --predecessor wordnet define_word\n";

/// The files with findings.
fn with_findings(tree: &Tree, arguments: &[&str]) -> Vec<String> {
    let json = tree.scan(&[arguments, &["--format", "json"]].concat()).json();
    let found = json["findings"].as_array().expect("a list").iter();
    found
        .map(|finding| finding["path"].as_str().expect("a path").to_owned())
        .collect()
}

#[test]
fn what_git_ignores_is_left_out_and_the_rest_is_read_in_order() {
    let tree = Tree::new(&[
        (".gitignore", "build/\n*.gen.py\n!kept.gen.py\n"),
        (".github/workflows/a.yml", "run: toolhost call --predecessor a b\n"),
        ("build/a.py", CALLER),
        ("a.gen.py", CALLER),
        ("kept.gen.py", CALLER),
        ("sub/.gitignore", "/b.py\n"),
        ("sub/a.py", CALLER),
        ("sub/b.py", CALLER),
        ("tool", SHELL),
        ("notes.txt", CALLER),
        (".git/hooks/a.py", CALLER),
    ]);
    let expected = [".github/workflows/a.yml", "kept.gen.py", "sub/a.py", "tool"];
    assert_eq!(with_findings(&tree, &["."]), expected);
    assert_eq!(
        with_findings(&tree, &["sub", ".", "sub/a.py"]).len(),
        4,
        "nothing is read twice"
    );
    assert_eq!(
        with_findings(&tree, &["build"]),
        ["build/a.py"],
        "what is named is read"
    );
}

#[test]
fn nothing_found_is_0_anything_found_is_1_and_a_path_that_is_not_there_is_2() {
    let tree = Tree::new(&[("clean.py", "print(1)\n"), ("a.py", CALLER)]);
    let clean = tree.scan(&["clean.py"]);
    assert_eq!((clean.code, clean.stdout.as_str()), (Some(0), ""));
    assert_eq!(clean.stderr, "1 file scanned\n");
    assert_eq!(tree.scan(&["."]).code, Some(1));
    let missing = tree.scan(&["no", "a.py", "such/file.py"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(2), ""));
    assert!(
        missing
            .stderr
            .starts_with("error: no does not exist; such/file.py does not exist\n"),
        "{}",
        missing.stderr
    );
    assert_eq!(tree.scan(&[]).code, Some(2));
    assert_eq!(tree.scan(&["a.py", "--dry-run"]).code, Some(2), "--dry-run is of --fix");
}

#[test]
fn mentions_count_unless_they_are_left_out() {
    let tree = Tree::new(&[("README.md", "Send `ovos.persona.tools.wordnet.call`.\n")]);
    let told = tree.scan(&["."]);
    assert_eq!(told.code, Some(1));
    assert!(told.stderr.ends_with("error: found 1 mention\n"), "{}", told.stderr);
    assert_eq!(tree.scan(&[".", "--no-mentions"]).code, Some(0));
}

#[test]
fn what_is_not_read_is_said_with_its_reason() {
    let tree = Tree::new(&[("tool.xyz", CALLER)]);
    tree.write("binary.py", b"x = 'a'\0\n");
    tree.write("wide.py", &[0xff, 0xfe, b'a', 0]);
    tree.write("large.js", &vec![b' '; 4 * 1024 * 1024 + 1]);
    let all = tree.scan(&[".", "tool.xyz"]);
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    for line in [
        "not scanned: binary.py: binary, by a zero byte in it\n",
        "not scanned: wide.py: in UTF-16, which is not scanned\n",
        "not scanned: large.js: 4 MiB long, and more than 4 MiB is no source that somebody wrote\n",
    ] {
        assert!(all.stderr.contains(line), "{}", all.stderr);
    }
    let named = tree.scan(&["tool.xyz"]);
    let expected = "not scanned: tool.xyz: in none of the languages that are scanned\n0 files scanned\n";
    assert_eq!((named.code, named.stderr.as_str()), (Some(0), expected));
}

#[test]
fn a_file_that_is_not_utf_8_is_scanned_and_never_rewritten() {
    let tree = Tree::new(&[]);
    let text = [b"# gr\xfc\xdfe\n".as_slice(), CALLER.as_bytes()].concat();
    tree.write("latin.py", &text);
    let found = tree.scan(&["latin.py", "--fix", "--force", "--format", "json"]);
    let finding = &found.json()["findings"][0];
    assert_eq!(
        (finding["line"].as_u64(), finding["column"].as_u64()),
        (Some(2), Some(18))
    );
    assert_eq!(finding["left_because"], "the file is not UTF-8");
    assert_eq!(std::fs::read(tree.path("latin.py")).unwrap(), text);
}

#[test]
fn links_are_not_followed_so_a_loop_ends() {
    let tree = Tree::new(&[("src/a.py", CALLER)]);
    std::os::unix::fs::symlink("..", tree.path("src/up")).unwrap();
    std::os::unix::fs::symlink("a.py", tree.path("src/b.py")).unwrap();
    std::os::unix::fs::symlink("nowhere.py", tree.path("src/c.py")).unwrap();
    let found = tree.scan(&["."]);
    assert_eq!(found.stdout.matches("src/a.py:1:18").count(), 1, "{}", found.stdout);
    assert!(
        found.stderr.contains("1 file scanned, 3 symbolic links not followed\n"),
        "{}",
        found.stderr
    );
    assert_eq!(
        with_findings(&tree, &["src/b.py"]),
        ["src/b.py"],
        "one that is named is followed"
    );
}

#[test]
fn a_pipe_does_not_hold_the_scan_up() {
    let tree = Tree::new(&[("a.py", CALLER)]);
    nix::unistd::mkfifo(&tree.path("pipe.py"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(with_findings(&tree, &["."]), ["a.py"]);
    let told = tree.scan(&["."]).stderr;
    assert!(told.contains("1 file scanned\n"), "nor is it taken for a link: {told}");
    let named = tree.scan(&["pipe.py"]);
    assert!(named.stderr.contains("neither a file nor a folder"), "{}", named.stderr);
}

#[test]
fn what_cannot_be_read_keeps_the_scan_from_ending_well() {
    let tree = Tree::new(&[("a.py", "print(1)\n"), ("b/c.py", CALLER)]);
    for name in ["a.py", "b"] {
        std::fs::set_permissions(tree.path(name), std::fs::Permissions::from_mode(0o0)).unwrap();
    }
    // Root reads everything, so somebody else does it.
    let program = tree.path("toolhost");
    std::fs::copy(env!("CARGO_BIN_EXE_toolhost"), &program).unwrap();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let before: &[&str] = if nix::unistd::geteuid().is_root() {
        &nobody
    } else {
        &["env"]
    };
    let ended = tree.start(&[before, &[program.to_str().unwrap(), "migrate", "scan", "."]].concat());
    std::fs::set_permissions(tree.path("b"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let expected = "not scanned: a.py: cannot be read: Permission denied (os error 13)\n\
        not scanned: b: cannot be read: permission denied\n\
        0 files scanned\nerror: nothing was found, but not everything could be read\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), expected));
}

#[test]
fn a_rule_of_gitignore_that_is_none_is_named() {
    let tree = Tree::new(&[(".gitignore", "{a\n"), ("a.py", CALLER)]);
    let found = tree.scan(&["."]);
    assert!(
        found.stderr.contains("a rule for what git ignores is not understood"),
        "{}",
        found.stderr
    );
    assert!(found.stdout.starts_with("a.py:1:18"), "{}", found.stdout);
}
