//! Where the control socket is, and how it comes to be there.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::Uid;
use tokio::net::UnixListener;

/// Its file name.
const NAME: &str = "toolhost.sock";
/// Bytes the path of a socket may have (`sun_path` without its end).
const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Why there is no control socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Longer than the system takes.
    #[error("the path of the control socket has {bytes} bytes, the system allows {LONGEST}: {}", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// The folder in /tmp is not ours alone.
    #[error("the folder {} of the control socket {why}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another host has it.
    #[error("another toolhost is running on the control socket {}", .0.display())]
    InUse(PathBuf),
    /// Something else has its name.
    #[error("{} is in the way of the control socket and is no socket", .0.display())]
    InTheWay(PathBuf),
    /// The system says no.
    #[error("cannot create the control socket {}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl SocketError {
    /// What to try next.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLong { .. } | Self::InTheWay(_) | Self::Io { .. } => Some("name another one with --socket"),
            Self::Folder { .. } => Some("remove it, set XDG_RUNTIME_DIR, or name another socket with --socket"),
            Self::InUse(_) => Some("`toolhost status` shows it; for a second host name another one with --socket"),
        }
    }
}

/// The control socket to use: the one typed, or that of this user.
///
/// The folder in `/tmp`, for a user without a runtime folder, is neither made nor trusted here:
/// [`bind`] and the client look at whose it is.
pub fn path(typed: Option<&Path>, environment: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    if let Some(path) = typed {
        return path.to_owned();
    }
    // Some images name a runtime folder that nobody has made.
    match environment("XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute() && folder.is_dir()) {
        Some(folder) => folder.join(NAME),
        None => own_folder().join(NAME),
    }
}

/// The folder of a user who has no runtime folder.
fn own_folder() -> PathBuf {
    PathBuf::from(format!("/tmp/toolhost-{}", Uid::effective()))
}

/// A control socket that listens. Its file goes when it is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Held as long as the socket is: it tells a dead host's file from a live one's.
    _lock: Flock<File>,
}

impl ControlSocket {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // The lock is still held, so the file is ours; one that is gone already is as good.
        std::fs::remove_file(&self.path).unwrap_or_default();
    }
}

/// Makes the control socket at `path`, in place of one a dead host left behind.
///
/// # Errors
/// [`SocketError`], naming the path.
pub fn bind(path: &Path) -> Result<ControlSocket, SocketError> {
    let io_error = |error| SocketError::Io {
        path: path.to_owned(),
        error,
    };
    check_length(path)?;
    if path.parent() == Some(&own_folder()) {
        DirBuilder::new()
            .mode(0o700)
            .create(own_folder())
            .or_else(already_there)
            .map_err(io_error)?;
    }
    check_folder(path)?;
    let lock = lock(path)?;
    make_way(path)?;
    let listener = UnixListener::bind(path).map_err(io_error)?;
    // Whoever gets in before this line is turned away by the server, which asks who it is.
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(io_error)?;
    Ok(ControlSocket {
        listener,
        path: path.to_owned(),
        _lock: lock,
    })
}

pub(super) fn check_length(path: &Path) -> Result<(), SocketError> {
    let bytes = path.as_os_str().len();
    if bytes > LONGEST {
        let path = path.to_owned();
        return Err(SocketError::TooLong { path, bytes });
    }
    Ok(())
}

/// Makes sure that a socket in the folder in `/tmp`, where anyone may make folders, is this user's.
pub(super) fn check_folder(path: &Path) -> Result<(), SocketError> {
    let folder = own_folder();
    if path.parent() != Some(&folder) {
        return Ok(());
    }
    let why = match std::fs::symlink_metadata(&folder) {
        Err(_) => return Ok(()),
        Ok(found) if !found.is_dir() => "is not a folder",
        Ok(found) if found.uid() != Uid::effective().as_raw() => "belongs to another user",
        Ok(found) if found.mode() & 0o077 != 0 => "is open to other users (it should have mode 0700)",
        Ok(_) => return Ok(()),
    };
    Err(SocketError::Folder { folder, why })
}

fn already_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists {
        Ok(())
    } else {
        Err(error)
    }
}

/// Takes the lock that the host of `path` holds for as long as it lives, however it ends.
///
/// The lock file stays behind: removing it would let two hosts lock two files of one name.
fn lock(path: &Path) -> Result<Flock<File>, SocketError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(nix::fcntl::OFlag::O_NOFOLLOW.bits())
        .open(&name)
        .map_err(|error| SocketError::Io {
            path: PathBuf::from(&name),
            error,
        })?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        nix::errno::Errno::EWOULDBLOCK => SocketError::InUse(path.to_owned()),
        _ => SocketError::Io {
            path: PathBuf::from(&name),
            error: errno.into(),
        },
    })
}

/// Removes the socket of a dead host; anything else stays.
fn make_way(path: &Path) -> Result<(), SocketError> {
    match std::fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(found) if !found.file_type().is_socket() => return Err(SocketError::InTheWay(path.to_owned())),
        Ok(_) => {}
    }
    // Some other program's socket, or that of a host whose lock file was removed, is not ours to replace.
    if UnixStream::connect(path).is_ok() {
        return Err(SocketError::InUse(path.to_owned()));
    }
    std::fs::remove_file(path).map_err(|error| SocketError::Io {
        path: path.to_owned(),
        error,
    })
}
