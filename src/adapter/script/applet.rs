//! The `argc` that annotated scripts call: toolhost itself under that name, in a folder of its own.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder that holds a link `argc` to this program, for the front of a PATH.
///
/// # Errors
/// Where no such folder can be made, in words.
pub(super) fn folder() -> Result<&'static Path, String> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOLDER.get_or_init(make).as_deref().map_err(Clone::clone)
}

fn make() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("toolhost cannot tell where it is: {error}"))?;
    let mut last = String::new();
    for folder in candidates(&program) {
        match link(&folder, &program) {
            Ok(()) => return Ok(folder),
            Err(error) => last = format!("{}: {error}", folder.display()),
        }
    }
    Err(format!(
        "no folder can be made for the argc of annotated scripts ({last})"
    ))
}

/// The user's own folders first: what lies there is nobody else's.
///
/// One folder a program: another toolhost beside this one has its own `argc`.
fn candidates(program: &Path) -> Vec<PathBuf> {
    let mut hasher = DefaultHasher::new();
    program.hash(&mut hasher);
    let name = format!("bin-{:08x}", hasher.finish() >> 32);
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let runtime = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("toolhost").join(&name));
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let user = nix::unistd::getuid();
    let temporary = std::env::temp_dir().join(format!("toolhost-{user}")).join(&name);
    let cache = cache.map(|folder| folder.join("toolhost").join(&name));
    [runtime, cache, Some(temporary)].into_iter().flatten().collect()
}

/// Puts the link into `folder`, in place of one to another program.
fn link(folder: &Path, program: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    check_owner(folder)?;
    let link = folder.join("argc");
    if fs::read_link(&link).is_ok_and(|target| target == program) {
        return Ok(());
    }
    // Another toolhost may put its own there at the same moment: each replaces it as a whole.
    let fresh = folder.join(format!(".argc-{:016x}", fastrand::u64(..)));
    symlink(program, &fresh)?;
    fs::rename(&fresh, &link)
}

/// A folder for temporary files is everybody's: one that lies there already may hold somebody else's program.
fn check_owner(folder: &Path) -> io::Result<()> {
    let user = nix::unistd::getuid().as_raw();
    for path in [folder, folder.parent().unwrap_or(folder)] {
        let meta = fs::symlink_metadata(path)?;
        if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!("{} is not this user's own", path.display())));
        }
    }
    Ok(())
}
