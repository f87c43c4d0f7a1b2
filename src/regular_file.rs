//! Files that somebody else named, to be read: what is no regular file is refused, and nothing waits for one.
//!
//! A named pipe keeps whoever opens it waiting for a writer, a terminal for somebody who types, a device may have no end.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::{ENXIO, O_NOCTTY, O_NONBLOCK};

/// Opens `path`, which a link may lead to.
///
/// # Errors
/// What the system says, or what stands in the place of a file.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK | O_NOCTTY)
        .open(path);
    let file = match opened {
        // Of a socket, and of a device without a driver.
        Err(error) if error.raw_os_error() == Some(ENXIO) => return Err(io::Error::other("it is no file")),
        opened => opened?,
    };
    let meta = file.metadata()?;
    let kind = meta.file_type();
    if kind.is_file() {
        return Ok((file, meta));
    }
    Err(io::Error::other(if kind.is_dir() {
        "it is a folder"
    } else if kind.is_fifo() {
        "it is no file but a pipe"
    } else {
        "it is no file but a terminal or another device"
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_named_and_never_waited_for() {
        let folder = std::env::temp_dir().join(format!("toolhost-regular-{:08x}", fastrand::u32(..)));
        std::fs::create_dir(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let said = |path: &Path| open(path).map_or_else(|error| error.to_string(), |(_, meta)| meta.len().to_string());
        let table = [
            (at("file"), "4"),
            (at("link"), "4"),
            (folder.clone(), "it is a folder"),
            (at("pipe"), "it is no file but a pipe"),
            (at("socket"), "it is no file"),
            ("/dev/zero".into(), "it is no file but a terminal or another device"),
        ];
        let all: Vec<_> = table.iter().map(|(path, _)| said(path)).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        for ((path, expected), said) in table.iter().zip(all) {
            assert_eq!(said, *expected, "{}", path.display());
        }
    }
}
