//! The state folder: what toolhost keeps from one run to the next.
//!
//! Nothing in it is needed. A host without it works, and one that finds a file damaged does without the file; so
//! whoever keeps something here logs what fails, and lives with it. Its files are for its owner alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::Uid;

/// The name of the folder below that of a user's programs.
const NAME: &str = "toolhost";

/// A file that is larger was not written here.
const LARGEST: u64 = 64 << 20;

/// Which folder: systemd's `$STATE_DIRECTORY`, else `toolhost` below `$XDG_STATE_HOME`, else below `~/.local/state`.
///
/// `None` where no variable names an absolute path: then nothing is kept.
fn locate(environment: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| environment(name).filter(|path| path.is_absolute());
    // A unit with several has them joined by colons.
    let of_unit = environment("STATE_DIRECTORY").and_then(|paths| std::env::split_paths(&paths).next());
    of_unit
        .filter(|path| path.is_absolute())
        .or_else(|| Some(absolute("XDG_STATE_HOME")?.join(NAME)))
        .or_else(|| Some(absolute("HOME")?.join(".local/state").join(NAME)))
}

/// The folder, which need not exist yet.
#[derive(Debug, Clone)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// That of this process.
    pub fn of_this_process() -> Option<Self> {
        locate(|name| std::env::var_os(name).map(PathBuf::from)).map(Self)
    }

    /// The one at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where the file `name`, a relative path, is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The text of the file `name`; `None` where there is none.
    ///
    /// # Errors
    /// What the system says, or why the file is not one of ours.
    pub fn read(&self, name: &str) -> io::Result<Option<String>> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(O_NOFOLLOW | O_NONBLOCK)
            .open(self.path(name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        fit(&file)?;
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    /// Writes the file `name` whole: whoever reads it meanwhile, or after the end of this process, finds the old text or the
    /// new one. It is not waited for the disk: after a power cut the file may be damaged, which its reader bears.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        self.replace(name, text, |_| Ok(()))
    }

    /// The same, and waits for the disk: a power cut after it takes nothing back.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_through(&self, name: &str, text: &str) -> io::Result<()> {
        self.replace(name, text, File::sync_all)?;
        let path = self.path(name);
        // Some file systems cannot do that for a folder; what is written is whole all the same.
        _ = File::open(path.parent().unwrap_or(&self.0)).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn replace(&self, name: &str, text: &str, settle: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let path = self.path(name);
        make_folder(path.parent().unwrap_or(&self.0))?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let written = write_new(&new, text)
            .and_then(|file| settle(&file))
            .and_then(|()| std::fs::rename(&new, &path));
        if written.is_err() {
            // It may not be there.
            std::fs::remove_file(&new).unwrap_or_default();
        }
        written
    }

    /// Holds the file `name`, which is empty, as long as what is returned lives; `None` where another process does. Its end,
    /// of whatever kind, lets go of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn hold(&self, name: &str) -> io::Result<Option<Held>> {
        let path = self.path(name);
        make_folder(path.parent().unwrap_or(&self.0))?;
        let file = open_new(&path)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => Ok(Some(Held { _file: held })),
            Err((_, Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, error)) => Err(error.into()),
        }
    }
}

/// A file of the folder that no other process can hold.
#[derive(Debug)]
pub struct Held {
    _file: Flock<File>,
}

/// Whether `file` can be one that was written here.
fn fit(file: &File) -> io::Result<()> {
    let meta = file.metadata()?;
    let why = if !meta.is_file() {
        "it is no file"
    } else if meta.uid() != Uid::effective().as_raw() {
        "it belongs to another user"
    } else if meta.len() > LARGEST {
        "it is too large"
    } else {
        return Ok(());
    };
    Err(io::Error::other(why))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn write_new(path: &Path, text: &str) -> io::Result<File> {
    let mut file = open_new(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn open_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A folder of a test's own, removed with it.
    struct Own(PathBuf);

    impl Own {
        fn new() -> Self {
            let name = format!("toolhost-state-{}-{:08x}", std::process::id(), fastrand::u32(..));
            Self(std::env::temp_dir().join(name))
        }

        fn state(&self) -> StateFolder {
            StateFolder::at(self.0.join("state"))
        }
    }

    impl Drop for Own {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap_or_default();
        }
    }

    #[test]
    fn the_folder_is_that_of_the_unit_then_that_of_the_user() {
        let found = |variables: &[(&str, &str)]| {
            let value = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| PathBuf::from(value))
            };
            locate(value).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/a");
        assert_eq!(found(&[home]).as_deref(), Some("/home/a/.local/state/toolhost"));
        let state_home = ("XDG_STATE_HOME", "/srv/state");
        assert_eq!(found(&[home, state_home]).as_deref(), Some("/srv/state/toolhost"));
        let unit = ("STATE_DIRECTORY", "/var/lib/toolhost:/var/lib/other");
        assert_eq!(found(&[home, state_home, unit]).as_deref(), Some("/var/lib/toolhost"));
        let odd = [home, ("XDG_STATE_HOME", "state"), ("STATE_DIRECTORY", "")];
        assert_eq!(found(&odd).as_deref(), Some("/home/a/.local/state/toolhost"));
        assert_eq!(found(&[("HOME", "")]), None);
    }

    #[test]
    fn what_was_written_is_read_and_is_for_its_owner_alone() {
        let own = Own::new();
        let state = own.state();
        assert_eq!(state.read("lists/a.json").unwrap(), None);
        for text in ["one", "a longer one", "2"] {
            state.write("lists/a.json", text).unwrap();
            assert_eq!(state.read("lists/a.json").unwrap().as_deref(), Some(text));
            let through = format!("{text}, on the disk");
            state.write_through("lists/a.json", &through).unwrap();
            assert_eq!(state.read("lists/a.json").unwrap(), Some(through));
        }
        let mode = |name: &str| std::fs::metadata(state.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("lists"), mode("lists/a.json")), (0o700, 0o700, 0o600));
        let left: Vec<_> = std::fs::read_dir(state.path("lists")).unwrap().collect();
        assert_eq!(left.len(), 1, "no half-written file is left: {left:?}");
    }

    #[test]
    fn what_one_process_holds_another_does_not_get() {
        let own = Own::new();
        let state = own.state();
        let held = state.hold("lock").unwrap();
        assert!(held.is_some());
        assert!(state.hold("lock").unwrap().is_none(), "it is taken");
        assert!(state.hold("other").unwrap().is_some());
        drop(held);
        assert!(state.hold("lock").unwrap().is_some(), "it is free again");
    }

    #[test]
    fn what_is_no_file_of_ours_is_not_read_and_waits_for_nobody() {
        let own = Own::new();
        let state = own.state();
        state.write("good", "text").unwrap();
        std::os::unix::fs::symlink(state.path("good"), state.path("link")).unwrap();
        nix::unistd::mkfifo(&state.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::fs::create_dir(state.path("folder")).unwrap();
        std::fs::write(state.path("bytes"), [0xff, 0xfe]).unwrap();
        File::create(state.path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        for name in ["link", "pipe", "folder", "bytes", "large"] {
            state.read(name).unwrap_err();
        }
        // Nor written into, or waited for.
        state.hold("pipe").unwrap_err();
        state.hold("link").unwrap_err();
        state.write("folder", "text").unwrap_err();
        assert!(
            !state
                .path("folder")
                .with_extension(format!("{}.new", std::process::id()))
                .exists()
        );
    }
}
