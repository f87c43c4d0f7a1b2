//! The files of a scan: found as git sees them, read as text, and a word about each that is not.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use crate::error::Error;
use crate::migrate::scan::Language;
use crate::migrate::scan::report::Skipped;

/// A file above this is no source that somebody wrote.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Bytes in which a zero tells that a file is no text.
const PROBE: usize = 8 * 1024;

/// A file that was read.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) language: Language,
    /// Whether `text` is what stands in the file, byte for byte.
    pub(super) is_exact: bool,
    /// Whether it is made elsewhere: by a bundler, or by somebody whose package lies here.
    pub(super) is_copy: bool,
}

/// Folders of packages that others made.
const COPIES: [&str; 6] = [
    "node_modules",
    "bower_components",
    "site-packages",
    "dist-packages",
    "vendor",
    "third_party",
];

/// Hands every source below `paths` to `take`, in the order of their names; says what was not read.
///
/// # Errors
/// Paths that do not exist, all at once.
pub(super) fn each(paths: &[PathBuf], mut take: impl FnMut(Source)) -> Result<Vec<Skipped>, Error> {
    check(paths)?;
    let mut skipped = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let mut builder = WalkBuilder::new(path);
        builder
            .hidden(false)
            .ignore(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .sort_by_file_path(Path::cmp);
        for entry in builder.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    skipped.push(unreadable(path, &error));
                    continue;
                }
            };
            if let Some(error) = entry.error() {
                let why = format!("a rule for what git ignores is not understood: {error}");
                skipped.push(passed_over(entry.path(), &why, true));
            }
            // A link is no second name for what is read where it stands.
            let is_link = entry.depth() > 0 && entry.path_is_symlink();
            let real = entry.path().canonicalize().ok().filter(|_| !is_link);
            if real.is_some_and(|real| !seen.insert(real)) {
                continue;
            }
            match read(&entry) {
                Ok(Some(mut source)) => {
                    source.is_copy = is_copy(entry.path().strip_prefix(path).unwrap_or(entry.path()));
                    take(source);
                }
                Ok(None) => {}
                Err(why) => skipped.push(why),
            }
        }
    }
    Ok(skipped)
}

/// Whether what lies at `path`, below the folder that was named, is made elsewhere.
fn is_copy(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains(".min.")
        || path
            .components()
            .any(|part| COPIES.iter().any(|copy| part.as_os_str() == *copy))
}

/// A path as it was named or found, without `./`.
pub(super) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix("./").unwrap_or(&text).to_owned()
}

fn check(paths: &[PathBuf]) -> Result<(), Error> {
    let missing: Vec<_> = paths
        .iter()
        .filter_map(|path| fs::metadata(path).err().map(|error| (path, error)))
        .map(|(path, error)| match error.kind() {
            io::ErrorKind::NotFound => format!("{} does not exist", path.display()),
            _ => format!("{} cannot be read: {error}", path.display()),
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::usage(missing.join("; ")).with_hint("name files or folders that are there; nothing was scanned"))
}

fn fault(path: &Path, why: &str) -> Skipped {
    Skipped {
        path: shown(path),
        why: why.to_owned(),
        is_fault: true,
        is_told: true,
    }
}

/// What the walk could not read: a folder, mostly.
fn unreadable(path: &Path, error: &ignore::Error) -> Skipped {
    match error {
        ignore::Error::WithPath { path, err } => unreadable(path, err),
        ignore::Error::WithDepth { err, .. } => unreadable(path, err),
        error => {
            let why = error
                .io_error()
                .map_or_else(|| error.to_string(), |error| error.kind().to_string());
            fault(path, &format!("cannot be read: {why}"))
        }
    }
}

fn passed_over(path: &Path, why: &str, is_told: bool) -> Skipped {
    Skipped {
        is_fault: false,
        is_told,
        ..fault(path, why)
    }
}

/// Reads a file if it is a source.
fn read(entry: &DirEntry) -> Result<Option<Source>, Skipped> {
    let path = entry.path();
    let was_named = entry.depth() == 0;
    let Some(kind) = entry.file_type() else { return Ok(None) };
    if kind.is_symlink() && !was_named {
        return Err(passed_over(path, "a symbolic link, which is not followed", false));
    }
    let cannot_read = |error| fault(path, &format!("cannot be read: {error}"));
    let meta = fs::metadata(path).map_err(cannot_read)?;
    if meta.is_dir() || (!meta.is_file() && !was_named) {
        // A pipe or a device in a tree is as little a source as a picture is.
        return Ok(None);
    }
    if !meta.is_file() {
        return Err(passed_over(path, "neither a file nor a folder", true));
    }
    let language = match Language::of_name(path) {
        Some(language) => language,
        None if path.extension().is_some() && !was_named => return Ok(None),
        None => match first_line(path).map_err(cannot_read)? {
            Some(language) => language,
            None if was_named => return Err(passed_over(path, "in none of the languages that are scanned", true)),
            None => return Ok(None),
        },
    };
    if meta.len() > LARGEST {
        let why = format!(
            "{} MiB long, and more than 4 MiB is no source that somebody wrote",
            meta.len() >> 20
        );
        return Err(passed_over(path, &why, true));
    }
    let bytes = fs::read(path).map_err(cannot_read)?;
    if let Some(why) = no_text(&bytes) {
        return Err(passed_over(path, why, true));
    }
    let (text, is_exact) = match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        // ASCII stands at the same places in most of what is not UTF-8, and topics are ASCII.
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    };
    Ok(Some(Source {
        path: path.to_owned(),
        text,
        language,
        is_exact,
        is_copy: false,
    }))
}

fn no_text(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Some("in UTF-16, which is not scanned");
    }
    let probe = bytes.get(..PROBE).unwrap_or(bytes);
    memchr::memchr(0, probe).map(|_| "binary, by a zero byte in it")
}

/// The language that the first line of a file names.
fn first_line(path: &Path) -> io::Result<Option<Language>> {
    let mut start = [0; 200];
    let mut read = 0;
    let mut file = fs::File::open(path)?;
    while let Some(rest) = start.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            length => read += length,
        }
    }
    let text = String::from_utf8_lossy(start.get(..read).unwrap_or_default()).into_owned();
    Ok(Language::of_first_line(text.lines().next().unwrap_or_default()))
}
