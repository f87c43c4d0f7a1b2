//! Which file is read where none is named.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Lookup;

const NAME: &str = "toolhost.yaml";

/// None of the usual places has a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// Where it was looked for, in order.
    pub places: Vec<PathBuf>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no configuration found; looked for")?;
        for (index, place) in self.places.iter().enumerate() {
            write!(f, "{} {}", if index == 0 { "" } else { "," }, place.display())?;
        }
        Ok(())
    }
}

impl std::error::Error for NotFound {}

/// The file that was named, or the first there is of `./toolhost.yaml`,
/// `$XDG_CONFIG_HOME/toolhost/toolhost.yaml` (`~/.config` without the variable) and
/// `/etc/toolhost/toolhost.yaml`.
///
/// A named file need not exist: reading it says so better.
///
/// # Errors
/// Where it was looked for.
pub fn find(named: Option<&Path>, env: Lookup<'_>) -> Result<PathBuf, NotFound> {
    match named {
        Some(file) => Ok(file.to_owned()),
        None => first(places(Path::new(""), env)),
    }
}

fn first(places: Vec<PathBuf>) -> Result<PathBuf, NotFound> {
    // What exists but cannot be read is the user's file too; passing it over would hide that.
    match places.iter().find(|place| place.symlink_metadata().is_ok()) {
        Some(place) => Ok(place.clone()),
        None => Err(NotFound { places }),
    }
}

/// The usual places, with `root` before them in tests.
fn places(root: &Path, env: Lookup<'_>) -> Vec<PathBuf> {
    let below = |place: PathBuf| match (root.as_os_str().is_empty(), place.strip_prefix("/")) {
        (false, Ok(inner)) => root.join(inner),
        (false, Err(_)) => root.join(place),
        (true, _) => place,
    };
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let user = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let local = Path::new(".").join(NAME);
    let user = user.map(|folder| folder.join("toolhost").join(NAME));
    let system = Path::new("/etc/toolhost").join(NAME);
    [Some(local), user, Some(system)]
        .into_iter()
        .flatten()
        .map(below)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_with_a_file_wins_and_the_error_names_all() {
        let root = std::env::temp_dir().join(format!("toolhost-find-{}", std::process::id()));
        let env = |name: &str| (name == "HOME").then(|| "/home/a".to_owned());
        let file = |place: &str| {
            let path = root.join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let error = first(places(&root, &env)).unwrap_err().to_string();
        for place in [
            "./toolhost.yaml",
            "home/a/.config/toolhost/toolhost.yaml",
            "etc/toolhost/toolhost.yaml",
        ] {
            assert!(error.contains(place), "{error}");
        }
        for place in [
            "etc/toolhost/toolhost.yaml",
            "home/a/.config/toolhost/toolhost.yaml",
            "toolhost.yaml",
        ] {
            let path = file(place);
            assert_eq!(first(places(&root, &env)), Ok(path));
        }
        let xdg = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/x".to_owned());
        assert_eq!(places(Path::new(""), &xdg)[1], Path::new("/x/toolhost/toolhost.yaml"));
        assert_eq!(places(Path::new(""), &|_| None).len(), 2);
        assert_eq!(find(Some(Path::new("a.yaml")), &env), Ok("a.yaml".into()));
        std::fs::remove_dir_all(root).unwrap();
    }
}
