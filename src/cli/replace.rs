//! A file given a new text: all of it or nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Puts a new file in the place of `file`, which still holds `before`. Links to it, its mode and its owner stay.
pub(super) fn replace(file: &Path, before: &str, after: &str) -> io::Result<()> {
    let target = file.canonicalize()?;
    // A file that must not be written is not replaced either.
    let meta = OpenOptions::new().write(true).open(&target)?.metadata()?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let draft = target.with_file_name(format!(".{name}.{}", std::process::id()));
    // What lies there already is somebody else's, and stays.
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    let written = fill_draft(file, &meta, after).and_then(|()| {
        if fs::read_to_string(&target)? != before {
            return Err(io::Error::other("it was changed by somebody else just now"));
        }
        fs::rename(&draft, &target)
    });
    written.inspect_err(|_| fs::remove_file(&draft).unwrap_or_default())
}

fn fill_draft(mut file: fs::File, like: &fs::Metadata, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        std::os::unix::fs::fchown(&file, Some(like.uid()), Some(like.gid()))?;
    }
    file.set_permissions(like.permissions())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_changed_meanwhile_stays_as_they_left_it() {
        let folder = std::env::temp_dir().join(format!("toolhost-add-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("toolhost.yaml");
        fs::write(&file, "theirs").unwrap();
        let error = replace(&file, "mine", "new").unwrap_err();
        assert!(error.to_string().contains("somebody else"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left behind");
        replace(&file, "theirs", "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let draft = folder.join(format!(".toolhost.yaml.{}", std::process::id()));
        fs::write(&draft, "not ours").unwrap();
        let error = replace(&file, "new", "newer").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&draft).unwrap(), "not ours");
        fs::remove_dir_all(folder).unwrap();
    }
}
