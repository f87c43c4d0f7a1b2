//! Which files of `examples/` and `toolboxes/` the tests run, found out from the files themselves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolhost::config::{Config, DeclaredTool, Kind, Run};
use toolhost::tools::template::Values;

/// Every file below `folder` that is part of the repository.
pub(crate) fn files_below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // Compiled by Python, and not part of the repository.
        if path.file_name().is_some_and(|name| name == "__pycache__") {
            continue;
        }
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.insert(path);
        }
    }
    files
}

/// The configurations, what they run, what that loads, and the READMEs beside it.
pub(crate) fn covered(configurations: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut covered = BTreeSet::new();
    for file in configurations {
        covered.insert(file.clone());
        let config = Config::load(file, &toolhost::config::process_env).expect("a good configuration");
        for toolbox in config.toolboxes {
            let words: Vec<String> = match &toolbox.kind {
                Kind::Command(argv) => argv.clone(),
                Kind::Tools(tools) => tools.iter().flat_map(fixed_words).collect(),
                Kind::Script(script) => vec![script.path.to_string_lossy().into_owned()],
            };
            // A folder may be written with `..` in it.
            let words = words
                .iter()
                .filter_map(|word| toolbox.cwd.join(word).canonicalize().ok());
            covered.extend(words.filter(|path| path.is_file()));
        }
    }
    let programs: Vec<_> = covered.iter().cloned().collect();
    programs.iter().for_each(|program| loaded_by(program, &mut covered));
    covered.extend(crate::readmes::all());
    // `tests/readme` follows it.
    covered.insert(crate::root().join("examples/migration/README.md"));
    // `tests/service.rs` is about these.
    covered.extend(files_below(&crate::root().join("examples/systemd")));
    covered
}

/// What a declared tool starts, without the arguments of a call.
fn fixed_words(tool: &DeclaredTool) -> Vec<String> {
    match &tool.run {
        Run::Argv(argv) => argv
            .fill(&Values::default(), &BTreeSet::new())
            .expect("nothing to refuse"),
        Run::Shell(_) => Vec::new(),
    }
}

/// The files beside `program` that it names in an import.
fn loaded_by(program: &Path, covered: &mut BTreeSet<PathBuf>) {
    let text = std::fs::read_to_string(program).expect("a text");
    let imports: Vec<_> = text.lines().filter(|line| line.contains("import ")).collect();
    for neighbor in files_below(program.parent().expect("a folder")) {
        let stem = neighbor.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = |line: &&&str| {
            line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == stem)
        };
        if imports.iter().any(|line| names(&line)) && covered.insert(neighbor.clone()) {
            loaded_by(&neighbor, covered);
        }
    }
}
