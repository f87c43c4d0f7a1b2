//! The one place that starts a program: argv, folder, environment, pipes and group are all stated.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::unistd::Pid;

use super::Process;
use super::aside::aside;
use super::capture::Stdout;
use super::confine::{self, Launcher};
use super::family::Family;
use super::guard::Guard;
use crate::confinement::Confinement;

/// Variables every child gets from the host (protocol/README.md §9), `LC_*` and `XDG_*` besides.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER"];
const INHERITED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Where programs are looked for when neither host nor toolbox names a PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Tries while the file is still open for writing somewhere (ETXTBSY), and the wait after the first, which doubles: 127 ms
/// in all. That is for whoever has just written it and is about to close it, or whose child still has it open on its way
/// to become another program. Meanwhile the toolbox does nothing else, so a longer wait is the restart policy's.
const BUSY_TRIES: u32 = 7;
const BUSY_WAIT: Duration = Duration::from_millis(1);

/// What to start.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub environment: Environment,
    /// How its stdout is read.
    pub stdout: Stdout,
    /// What it is sent first of all.
    pub input: Bytes,
    /// Programs it needs beside its own: looked for on its PATH before it is started.
    pub requires: Vec<String>,
    /// What it is held to, where anything is asked for.
    pub confinement: Option<Box<Confinement>>,
}

/// A whole environment. `Debug` shows no values: some are secret.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// Whether PATH is the toolbox's own, and so not to be shown.
    own_path: bool,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

impl Environment {
    /// The environment of a toolbox's child (protocol/README.md §9): the base set and `inherit` out of
    /// `host`, then `own`, then what says that it runs under toolhost. PYTHONUNBUFFERED and
    /// PYTHONIOENCODING give way to the toolbox's own.
    pub fn of_toolbox(
        toolbox_id: &str,
        host: impl IntoIterator<Item = (OsString, OsString)>,
        inherit: &[String],
        own: &BTreeMap<String, String>,
    ) -> Self {
        let mut all = BTreeMap::from([
            ("PYTHONUNBUFFERED".into(), "1".into()),
            ("PYTHONIOENCODING".into(), "utf-8".into()),
        ]);
        all.extend(host.into_iter().filter(|(name, _)| is_inherited(name, inherit)));
        all.extend(own.iter().map(|(name, value)| (name.into(), value.into())));
        all.insert("TOOLHOST_TOOLBOX_ID".into(), toolbox_id.into());
        Self {
            variables: all,
            own_path: own.contains_key("PATH"),
        }
    }

    /// The PATH for an error that callers see: what `env` and `env_file` set is nobody's business.
    fn shown_path(&self) -> String {
        if self.own_path {
            return "that its env sets".to_owned();
        }
        self.path().to_string_lossy().into_owned()
    }

    /// The same with further variables, which win.
    pub fn with<K: Into<OsString>, V: Into<OsString>>(&self, more: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut environment = self.clone();
        let more = more.into_iter().map(|(name, value)| (name.into(), value.into()));
        for (name, value) in more {
            environment.own_path |= name == "PATH";
            environment.variables.insert(name, value);
        }
        environment
    }

    /// Whether it has the variable `name`.
    pub fn has(&self, name: &str) -> bool {
        self.variables.contains_key(OsStr::new(name))
    }

    /// The same with `folder` in front of its PATH.
    pub fn with_path_before(&self, folder: &Path) -> Self {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(self.path());
        Self {
            own_path: self.own_path,
            ..self.with([("PATH", path)])
        }
    }

    fn path(&self) -> &OsStr {
        self.variables
            .get(OsStr::new("PATH"))
            .map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str)
    }
}

fn is_inherited(name: &OsStr, inherit: &[String]) -> bool {
    let Some(name) = name.to_str() else { return false };
    INHERITED.contains(&name)
        || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || inherit.iter().any(|wanted| wanted == name)
}

/// Why a program could not be started. Never names a value of the environment.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No program of that name on the PATH.
    #[error("'{program}' not found on the PATH {path} (working folder {}){hint}", .cwd.display())]
    NotOnPath {
        /// As written.
        program: String,
        /// The toolbox's PATH.
        path: String,
        /// The toolbox's folder.
        cwd: PathBuf,
        /// What may be meant.
        hint: &'static str,
    },
    /// Programs it needs are not on the PATH.
    #[error("needs '{programs}', not found on the PATH {path}; install what is missing")]
    Missing {
        /// Their names.
        programs: String,
        /// The toolbox's PATH.
        path: String,
    },
    /// The path names nothing.
    #[error("'{}' does not exist (working folder {})", .program.display(), .cwd.display())]
    NoFile {
        /// The path looked at.
        program: PathBuf,
        /// The toolbox's folder.
        cwd: PathBuf,
    },
    /// The folder to start in names nothing.
    #[error("the working folder {} does not exist", .0.display())]
    NoFolder(PathBuf),
    /// The file is there, its interpreter is not.
    #[error("'{}' names the interpreter '{interpreter}' in its first line, which does not exist{hint}", .program.display())]
    NoInterpreter {
        /// The script.
        program: PathBuf,
        /// What stands behind `#!`.
        interpreter: String,
        /// What is behind it, if that can be told.
        hint: &'static str,
    },
    /// The file is there, and the system does not know how to run it.
    #[error(
        "cannot start '{}': it is no program of this machine, and its first line does not say what runs it, such as \
         #!/usr/bin/env python3",
        .0.display()
    )]
    NoFirstLine(PathBuf),
    /// Arguments and environment are more than the system hands to a program.
    #[error("the arguments are longer than this system hands to a program (E2BIG)")]
    TooLong,
    /// Not executable.
    #[error("'{}' is not executable; try chmod +x", .0.display())]
    NotExecutable(PathBuf),
    /// What it is to be held to cannot be had.
    #[error("{0}")]
    Confinement(String),
    /// Anything else.
    #[error("cannot start '{}': {error}", .program.display())]
    Other {
        /// The path started.
        program: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

/// Starts `program` as the leader of a process group of its own, with three pipes.
///
/// # Errors
/// [`SpawnError`], in words for the owner of the configuration.
pub async fn spawn(program: &Program, guard: &Guard) -> Result<Process, SpawnError> {
    let path = find(program)?;
    check_needs(&program.requires, &program.environment, &program.cwd)?;
    let launcher = match &program.confinement {
        Some(confinement) => Some(launcher_of(confinement, program, &path)?),
        None => None,
    };
    let limits = program.confinement.as_ref().map(|confinement| confinement.limits);
    let mut tries = 0;
    let mut family = Family::expect(guard);
    let child = loop {
        // Until the program runs, this thread stands still: on a busy machine for long.
        match aside(true, || {
            with_no_signal_held_back(|| command(program, &path, launcher.as_ref(), &family).spawn())
        }) {
            Ok(child) => break child,
            Err(error) if error.raw_os_error() == Some(nix::libc::ETXTBSY) && tries < BUSY_TRIES => {
                tokio::time::sleep(BUSY_WAIT * 2_u32.pow(tries)).await;
                tries += 1;
            }
            Err(error) => return Err(explain(&program.cwd, path, error)),
        }
    };
    // A child that was never waited for has a pid.
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    // Group 0 would be the host's own.
    let pid = pid.ok_or_else(|| SpawnError::Other {
        program: path,
        error: io::Error::other("the process has no id"),
    })?;
    let pid = Pid::from_raw(pid);
    family.born(pid);
    let mut process = Process::new(child, pid, program.stdout, family).held_to(limits.unwrap_or_default());
    process.send(&program.input);
    Ok(process)
}

/// A child inherits the signal mask of the thread that starts it, and the host's threads hold back
/// what the host handles: a child that did too could not be ended by SIGTERM.
fn with_no_signal_held_back<T>(spawn: impl FnOnce() -> T) -> T {
    let held = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK);
    let spawned = spawn();
    if let Ok(held) = held {
        // It cannot fail with a mask that was in force a moment ago.
        held.thread_set_mask().unwrap_or_default();
    }
    spawned
}

/// The launcher for a program that can be started: told by it, a fault would be one of a process that ran.
fn launcher_of(confinement: &Confinement, program: &Program, path: &Path) -> Result<Launcher, SpawnError> {
    let fault = match path.metadata() {
        Err(error) => Some(error),
        Ok(meta) if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 => {
            Some(io::ErrorKind::PermissionDenied.into())
        }
        Ok(_) => {
            let interpreter =
                interpreter(path).filter(|interpreter| matches!(Path::new(interpreter).try_exists(), Ok(false)));
            interpreter.map(|_| io::ErrorKind::NotFound.into())
        }
    };
    match fault {
        Some(error) => Err(explain(&program.cwd, path.to_owned(), error)),
        None => confine::launcher(confinement, path).map_err(SpawnError::Confinement),
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
fn command(program: &Program, path: &Path, launcher: Option<&Launcher>, family: &Family) -> tokio::process::Command {
    let start = launcher.map_or(path, |launcher| &launcher.path);
    let mut command = tokio::process::Command::new(start);
    let before = launcher
        .map_or(&[][..], |launcher| &launcher.words)
        .iter()
        .map(OsString::as_os_str);
    let mut words = before.chain(program.argv.iter().map(OsStr::new));
    if let Some(name) = words.next() {
        command.arg0(name).args(words);
    }
    command
        .current_dir(&program.cwd)
        .env_clear()
        .envs(&program.environment.variables)
        .envs(family.mark())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

/// The file to start. Looked up in the toolbox's PATH, not the host's.
fn find(program: &Program) -> Result<PathBuf, SpawnError> {
    if !program.cwd.is_dir() {
        return Err(SpawnError::NoFolder(program.cwd.clone()));
    }
    let name = program.argv.first().map_or("", String::as_str);
    if name.contains('/') {
        return Ok(program.cwd.join(name));
    }
    on_path(name, &program.environment, &program.cwd).ok_or_else(|| SpawnError::NotOnPath {
        program: name.to_owned(),
        path: program.environment.shown_path(),
        cwd: program.cwd.clone(),
        hint: if program.cwd.join(name).is_file() { BESIDE } else { "" },
    })
}

/// The file that `name` is on the PATH of `environment`.
fn on_path(name: &str, environment: &Environment, cwd: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    std::env::split_paths(environment.path())
        .map(|folder| cwd.join(folder).join(name))
        .find(|file| {
            file.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

/// Looks for the programs that something needs.
///
/// # Errors
/// [`SpawnError::Missing`], which names those that are not there; of a path, what is wrong with it.
pub fn check_needs(programs: &[String], environment: &Environment, cwd: &Path) -> Result<(), SpawnError> {
    for program in programs.iter().filter(|program| program.contains('/')) {
        can_be_started(cwd.join(program), cwd)?;
    }
    let is_there = |program: &String| program.contains('/') || on_path(program, environment, cwd).is_some();
    let missing: Vec<&str> = programs
        .iter()
        .filter(|program| !is_there(program))
        .map(String::as_str)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(SpawnError::Missing {
        programs: missing.join("', '"),
        path: environment.shown_path(),
    })
}

/// Whether what a program is to be held to can be had, before it is started.
///
/// # Errors
/// [`SpawnError::Confinement`].
pub fn check_confinement(program: &Program) -> Result<(), SpawnError> {
    let held = program.confinement.as_ref();
    held.map_or(Ok(()), |held| confine::check(held).map_err(SpawnError::Confinement))
}

/// Whether a path names a program.
fn can_be_started(program: PathBuf, cwd: &Path) -> Result<(), SpawnError> {
    match program.metadata() {
        Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Ok(()),
        Ok(_) => Err(SpawnError::NotExecutable(program)),
        Err(_) => Err(SpawnError::NoFile {
            program,
            cwd: cwd.to_owned(),
        }),
    }
}

/// What is meant by a bare name that the PATH does not have and the working folder has.
const BESIDE: &str = "; that folder has a file of this name: write it with its path";

/// What is behind an interpreter that ends in a CR.
const WINDOWS: &str = ": the file has Windows line ends (CRLF); convert it, for example with dos2unix";

/// [`shows_windows_line_ends`] in words; reads on after how the program ended.
pub fn windows_line_ends() -> &'static str {
    WINDOWS
}

/// Whether a line on stderr is of an `env` or a shell that was handed a script with Windows line ends: `#!/usr/bin/env
/// python3` and a CR is a program of that name, and none the system itself looks for.
pub fn shows_windows_line_ends(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let quoted = ["\\r'", "\\r\u{2019}", "\r'", "\r\u{2019}", "\r:"];
    let names_cr = quoted.iter().any(|end| text.contains(end));
    let by_env = text.starts_with("env: ") || text.contains("/env: ");
    names_cr && (by_env || text.contains("command not found"))
}

/// ENOENT has three causes the system does not tell apart.
pub(super) fn explain(cwd: &Path, path: PathBuf, error: io::Error) -> SpawnError {
    match error.raw_os_error() {
        Some(nix::libc::E2BIG) => return SpawnError::TooLong,
        Some(nix::libc::ENOEXEC) => return SpawnError::NoFirstLine(path),
        _ => {}
    }
    let error = named(error);
    match error.kind() {
        io::ErrorKind::NotFound if !path.exists() => SpawnError::NoFile {
            program: path,
            cwd: cwd.to_owned(),
        },
        io::ErrorKind::NotFound => match interpreter(&path) {
            Some(interpreter) => {
                let hint = if interpreter.ends_with('\r') { WINDOWS } else { "" };
                SpawnError::NoInterpreter {
                    program: path,
                    interpreter: interpreter.trim_end().to_owned(),
                    hint,
                }
            }
            None => SpawnError::Other { program: path, error },
        },
        io::ErrorKind::PermissionDenied if path.is_file() => SpawnError::NotExecutable(path),
        _ => SpawnError::Other { program: path, error },
    }
}

/// An error with what is to be done about it, where the system's words are none that tell.
fn named(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(nix::libc::EAGAIN) => io::Error::other(
            "this user or container may have no further process (EAGAIN); end some, or raise `ulimit -u` or the unit's TasksMax",
        ),
        Some(nix::libc::EMFILE) => {
            io::Error::other("toolhost may open no further file (EMFILE); raise `ulimit -n` or the unit's LimitNOFILE")
        }
        _ => error,
    }
}

/// What stands behind `#!` in the first line, its line end's CR included.
fn interpreter(path: &Path) -> Option<String> {
    let mut start = Vec::with_capacity(256);
    io::Read::read_to_end(
        &mut io::Read::take(crate::regular_file::open(path).ok()?.0, 256),
        &mut start,
    )
    .ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start();
    Some(text.split(' ').next().unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_line_ends_are_told_from_what_env_and_shells_say_of_them() {
        for line in [
            "env: 'python3\\r': No such file or directory",
            "/usr/bin/env: \u{2018}python3\\r\u{2019}: No such file or directory",
            "env: python3\r: No such file or directory",
            "./greet.sh: line 2: $'\\r': command not found",
        ] {
            assert!(shows_windows_line_ends(line.as_bytes()), "{line}");
        }
        for line in [
            "env: 'python4': No such file or directory",
            "ValueError: 'a\\r' is no word",
        ] {
            assert!(!shows_windows_line_ends(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_child_gets_the_base_set_what_is_named_and_its_own() {
        let host = [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_DATA_HOME",
            "HTTP_PROXY",
            "AWS_SECRET",
            "PYTHONUNBUFFERED",
        ]
        .map(|name| (OsString::from(name), OsString::from("host")));
        let own = BTreeMap::from([
            ("API_KEY".to_owned(), "s3cr3t".to_owned()),
            ("PATH".to_owned(), "/own".to_owned()),
        ]);
        let environment = Environment::of_toolbox("wn", host, &["HTTP_PROXY".to_owned()], &own);
        let text: Vec<_> = environment
            .variables
            .iter()
            .map(|(k, v)| format!("{}={}", k.display(), v.display()))
            .collect();
        assert_eq!(
            text,
            [
                "API_KEY=s3cr3t",
                "HOME=host",
                "HTTP_PROXY=host",
                "LC_ALL=host",
                "PATH=/own",
                "PYTHONIOENCODING=utf-8",
                "PYTHONUNBUFFERED=1",
                "TOOLHOST_TOOLBOX_ID=wn",
                "XDG_DATA_HOME=host",
            ]
        );
        assert!(!format!("{environment:?}").contains("s3cr3t"));
    }
}
