//! What scripts of the llm-functions collection look for in their environment.

use std::ffi::OsString;
use std::path::Path;

use super::{folder, stem};
use crate::process::spawn::Environment;

/// Such a script names one of its variables, which all begin so.
const MARK: &str = "LLM_";

/// `environment` with the folder above `tools/`, one for what the tool keeps, and the tool's name. What the owner has set
/// stays.
pub(super) fn environment(environment: &Environment, script: &Path, source: &str) -> Environment {
    if !source.contains(MARK) {
        return environment.clone();
    }
    let folder = folder(script);
    let root = match (folder.file_name(), folder.parent()) {
        (Some(name), Some(parent)) if name == "tools" => parent.to_owned(),
        _ => folder,
    };
    let name = stem(script);
    let cache = root.join("cache").join(&name);
    let all: [(&str, OsString); 3] = [
        ("LLM_ROOT_DIR", root.into()),
        ("LLM_TOOL_CACHE_DIR", cache.into()),
        ("LLM_TOOL_NAME", name.into()),
    ];
    environment.with(all.into_iter().filter(|(name, _)| !environment.has(name)))
}
