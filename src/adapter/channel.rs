//! A file through which a script gives its result: the `LLM_OUTPUT` of the llm-functions conventions.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::tools::outcome::CallError;

/// Tries until a name is found that nobody has.
const TRIES: u32 = 16;

/// An empty file of our own, gone with this value. A file rather than a pipe: scripts append to it with several
/// programs, one after another, and read it back.
#[derive(Debug)]
pub struct ResultFile(PathBuf);

impl ResultFile {
    /// Creates one in the folder for temporary files.
    ///
    /// # Errors
    /// The system's, with the folder.
    pub fn create() -> Result<Self, String> {
        let folder = super::script::temporary();
        let mut last = io::Error::other("no free name");
        for _ in 0..TRIES {
            let path = folder.join(format!("toolhost-{:016x}", fastrand::u64(..)));
            // `create_new` follows no link that somebody else put there.
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(_) => return Ok(Self(path)),
                Err(error) => last = error,
            }
        }
        Err(format!(
            "no file for the result can be made in {}: {last}",
            folder.display()
        ))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What was written to it; nothing where the script removed it.
    ///
    /// # Errors
    /// More than `limit` bytes.
    pub fn read(&self, limit: usize) -> Result<Vec<u8>, CallError> {
        let mut said = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        // Should the script have put a named pipe there, opening it must not wait for a writer.
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(&self.0);
        let read = opened.and_then(|file| file.take(most).read_to_end(&mut said));
        if let Err(error) = read
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(CallError::Command(format!("its LLM_OUTPUT cannot be read: {error}")));
        }
        if said.len() > limit {
            let bytes = self
                .0
                .metadata()
                .map_or(said.len(), |meta| usize::try_from(meta.len()).unwrap_or(usize::MAX));
            return Err(CallError::ResultTooLarge {
                bytes: Some(bytes),
                limit,
            });
        }
        Ok(said)
    }
}

impl Drop for ResultFile {
    fn drop(&mut self) {
        // The script may have removed it.
        let _gone = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_the_file_goes() {
        let file = ResultFile::create().unwrap();
        assert_eq!(file.read(4).unwrap(), b"");
        std::fs::write(file.path(), "four").unwrap();
        assert_eq!(file.read(4).unwrap(), b"four");
        assert_eq!(
            file.read(3),
            Err(CallError::ResultTooLarge {
                bytes: Some(4),
                limit: 3
            })
        );
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());
    }
}
