//! What scripts need of ours, in a folder of this user's own: `argc`, which is toolhost under that name, and the Python
//! runner, where the interpreter keeps its compiled form beside it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The text of the Python runner.
pub(super) const PYTHON: &str = include_str!("../../../protocol/toolhost.py");

/// The folder. It is looked after each time: what cleans up caches may have been there.
///
/// # Errors
/// Where no such folder can be made, in words.
pub(super) fn folder() -> Result<PathBuf, String> {
    let program = program()?;
    let mut last = String::new();
    for folder in candidates(&program) {
        match lay_out(&folder, &program) {
            Ok(()) => return Ok(folder),
            Err(error) => last = format!("{}: {error}", folder.display()),
        }
    }
    Err(format!("no folder can be made for what scripts need ({last})"))
}

/// The same, in a folder that every user may enter.
///
/// # Errors
/// As [`folder`].
pub(super) fn folder_for_others() -> Result<PathBuf, String> {
    let program = program()?;
    // The last is below the folder for temporary files.
    let folder = candidates(&program).pop().unwrap_or_default().with_extension("shared");
    let laid_out = lay_out(&folder, &program).and_then(|()| {
        for open in [folder.parent().unwrap_or(&folder), &folder] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    });
    match laid_out {
        Ok(()) => Ok(folder),
        Err(error) => Err(format!(
            "no folder can be made for what scripts need ({}: {error})",
            folder.display()
        )),
    }
}

/// This program's file as it was when first asked: one that is replaced meanwhile has no name any more.
fn program() -> Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let ask = || std::env::current_exe().map_err(|error| format!("toolhost cannot tell where it is: {error}"));
    PROGRAM.get_or_init(ask).clone()
}

/// The user's own folders first: what lies there is nobody else's. One name a program and version of the runner: another toolhost
/// beside this one has its own.
fn candidates(program: &Path) -> Vec<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (program, PYTHON).hash(&mut hasher);
    let name = format!("scripts-{:016x}", hasher.finish());
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let own = [cache, variable("XDG_RUNTIME_DIR")].into_iter().flatten();
    // Not the folder of the control socket, which no other user may enter.
    let temporary = temporary().join(format!("toolhost-scripts-{}", nix::unistd::getuid()));
    own.map(|folder| folder.join("toolhost"))
        .chain([temporary])
        .map(|folder| folder.join(&name))
        .collect()
}

/// The folder for temporary files. An empty TMPDIR, or a relative one, would be wherever somebody stands.
pub(in crate::adapter) fn temporary() -> PathBuf {
    let named = std::env::temp_dir();
    if named.is_absolute() {
        named
    } else {
        PathBuf::from("/tmp")
    }
}

/// The variable through which Bash finds `argc` as a function: also where a script sets a PATH of its own, or starts as a
/// login shell. Without it such a script would go on as if it had no arguments.
pub(super) fn function(folder: &Path) -> (&'static str, String) {
    let quoted = folder.join("argc").to_string_lossy().replace('\'', r"'\''");
    ("BASH_FUNC_argc%%", format!("() {{  '{quoted}' \"$@\"\n}}"))
}

/// Makes `folder`, with what is not in it yet.
fn lay_out(folder: &Path, program: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    check_owner(folder)?;
    let argc = folder.join("argc");
    if !fs::read_link(&argc).is_ok_and(|target| target == program) {
        put(&argc, |fresh| symlink(program, fresh))?;
    }
    let runner = folder.join("toolhost.py");
    if !runner.metadata().is_ok_and(|meta| meta.len() == PYTHON.len() as u64) {
        put(&runner, |fresh| fs::write(fresh, PYTHON))?;
    }
    Ok(())
}

/// Puts a file in its place as a whole: another toolhost may do the same at the same moment.
fn put(place: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let fresh = place.with_extension(format!("{:016x}", fastrand::u64(..)));
    let put = write(&fresh).and_then(|()| fs::rename(&fresh, place));
    if put.is_err() {
        // Half of it helps nobody.
        let _gone = fs::remove_file(&fresh);
    }
    put
}

/// A folder for temporary files is everybody's: one that lies there already may hold somebody else's program.
fn check_owner(folder: &Path) -> io::Result<()> {
    let user = nix::unistd::getuid().as_raw();
    for path in [folder, folder.parent().unwrap_or(folder)] {
        let meta = fs::symlink_metadata(path)?;
        if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!("{} is not this user's alone", path.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_enter_is_not_the_folder_of_the_control_socket() {
        let shared = candidates(Path::new("/usr/bin/env")).pop().unwrap();
        let parent = shared.parent().unwrap();
        let control = format!("toolhost-{}", nix::unistd::getuid());
        assert_ne!(parent.file_name().unwrap().to_str(), Some(&*control));
    }

    #[test]
    fn a_folder_is_laid_out_once_and_mended_when_something_is_gone() {
        let parent = std::env::temp_dir().join(format!("toolhost-kit-{}", std::process::id()));
        let folder = parent.join("scripts");
        let program = Path::new("/usr/bin/env");
        for damage in ["none", "argc", "toolhost.py"] {
            // Nothing to remove in the first round.
            fs::remove_file(folder.join(damage)).unwrap_or_default();
            lay_out(&folder, program).unwrap();
            assert_eq!(fs::read_link(folder.join("argc")).unwrap(), program);
            assert_eq!(fs::read_to_string(folder.join("toolhost.py")).unwrap(), PYTHON);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        }
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let error = lay_out(&folder, program).unwrap_err().to_string();
        assert!(error.ends_with("is not this user's alone"), "{error}");
        fs::remove_dir_all(parent).unwrap();
    }
}
