//! The program over a tree of files.
#![allow(clippy::expect_used)] // The allowance for tests ends at their own functions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::scratch::Scratch;

/// What the program ended with.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("JSON on stdout")
    }
}

/// A folder with files to scan.
pub(crate) struct Tree(Scratch);

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(Scratch::new());
        for (name, text) in files {
            tree.write(name, text.as_bytes());
        }
        tree
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(path, bytes).expect("a file is written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).expect("a file")).expect("UTF-8")
    }

    /// `toolhost migrate scan`
    pub(crate) fn scan(&self, arguments: &[&str]) -> Ended {
        scan_in(self.0.path(), arguments)
    }

    /// A program in the folder, however it ends.
    #[allow(clippy::disallowed_methods)] // A test starts programs as a user does.
    pub(crate) fn start(&self, argv: &[&str]) -> Ended {
        let (program, arguments) = argv.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(arguments);
        ended(command, self.0.path())
    }

    /// A program in the folder, which has to end well.
    #[allow(clippy::disallowed_methods)] // A test starts programs as a user does.
    pub(crate) fn run(&self, argv: &[&str]) -> String {
        let (program, arguments) = argv.split_first().expect("a program");
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{argv:?}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Makes it a git repository that has all its files.
    pub(crate) fn commit(&self) {
        if !self.path(".git").exists() {
            self.run(&["git", "init", "-q"]);
        }
        self.run(&["git", "add", "-A"]);
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        self.run(&[&["git"], &author[..], &["commit", "-qm", "all"]].concat());
    }
}

#[allow(clippy::disallowed_methods)] // A test starts the program as a user does.
pub(crate) fn scan_in(folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
    command.args(["migrate", "scan"]).args(arguments);
    ended(command, folder)
}

fn ended(mut command: Command, folder: &Path) -> Ended {
    let command = command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}
