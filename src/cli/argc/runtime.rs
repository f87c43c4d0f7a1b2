//! The machine as argc's library sees it.

use std::collections::HashMap;

use ::argc::{NativeRuntime, Runtime};

/// argc's own view, but for variables that are no text: it panics over one, whoever set it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Here {
    native: NativeRuntime,
}

impl Runtime for Here {
    fn env_vars(&self) -> HashMap<String, String> {
        let as_text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(as_text).collect()
    }

    fn os(&self) -> String {
        self.native.os()
    }

    fn shell_path(&self) -> anyhow::Result<String> {
        self.native.shell_path()
    }

    fn bash_path(&self) -> Option<String> {
        self.native.bash_path()
    }

    fn exec_bash_functions(
        &self,
        script: &str,
        functions: &[&str],
        args: &[String],
        variables: HashMap<String, String>,
    ) -> Option<Vec<String>> {
        self.native.exec_bash_functions(script, functions, args, variables)
    }

    fn current_exe(&self) -> Option<String> {
        self.native.current_exe()
    }

    fn current_dir(&self) -> Option<String> {
        self.native.current_dir()
    }

    fn env_var(&self, name: &str) -> Option<String> {
        self.native.env_var(name)
    }

    fn which(&self, name: &str) -> Option<String> {
        self.native.which(name)
    }

    fn exist_path(&self, path: &str) -> bool {
        self.native.exist_path(path)
    }

    fn parent_path(&self, path: &str) -> Option<String> {
        self.native.parent_path(path)
    }

    fn join_path(&self, path: &str, parts: &[&str]) -> String {
        self.native.join_path(path, parts)
    }

    fn chdir(&self, folder: &str, into: &str) -> Option<String> {
        self.native.chdir(folder, into)
    }

    fn metadata(&self, path: &str) -> Option<(bool, bool, bool)> {
        self.native.metadata(path)
    }

    fn read_dir(&self, path: &str) -> Option<Vec<String>> {
        self.native.read_dir(path)
    }

    fn read_to_string(&self, path: &str) -> Option<String> {
        self.native.read_to_string(path)
    }
}
