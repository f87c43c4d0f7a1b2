//! The shipped sources themselves, against a list of findings that was reviewed by hand.
#![allow(clippy::expect_used)] // The allowance for tests ends at their own functions.

use crate::common::peers::python;

/// A package, its version, its module, and in it: file, line and column, kind.
type Package = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

/// What there is in a package at one version: module, line and column, kind, and the line itself, as a person read it.
///
/// Read in whole for this list: every line with `persona.tools`, `ovos.tools` or `.call"` in it. The hosts are the base
/// class of all toolbox plugins; it binds the predecessor beside the replacement, and unbinds both. The tool service has
/// the four `ovos.tools.*` topics and no other. ovos-agentic-loop 0.2.5a1 and ovos-persona-server 0.18.11a1 call their
/// tools in the process: their wheels have not one of these topics, which was checked by a text search over the wheels.
const REVIEWED: [Package; 4] = [
    (
        "ovos-plugin-manager",
        "3.1.0a1",
        "ovos_plugin_manager",
        &[
            ("templates/agent_tools.py", "108:21", "host"),
            ("templates/agent_tools.py", "121:25", "host"),
        ],
    ),
    ("ovos-PHAL-plugin-tools", "0.0.4a1", "ovos_phal_plugin_tools", &[]),
    ("ovos-agentic-loop", "0.2.5a1", "ovos_agentic_loop", &[]),
    ("ovos-persona-server", "0.18.11a1", "ovos_persona_server", &[]),
];

/// The version and the folder of an installed package.
#[allow(clippy::disallowed_methods, reason = "the real parts are no toolboxes")]
fn installed(package: &str, module: &str) -> Option<(String, String)> {
    // ovos-agentic-loop and ovos-persona-server are there to be read, and in a folder of their own.
    let program = "import importlib.metadata as m, importlib.util as u, os, sys\n\
        sys.path.append(os.path.join(sys.prefix, 'sources'))\n\
        try: print(m.version(sys.argv[1]), u.find_spec(sys.argv[2]).submodule_search_locations[0])\n\
        except m.PackageNotFoundError: pass";
    let output = std::process::Command::new(python())
        .args(["-c", program, package, module])
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let (version, folder) = text.trim_end().split_once(' ')?;
    Some((version.to_owned(), folder.to_owned()))
}

#[test]
fn the_shipped_sources_hold_what_a_review_of_them_found() {
    for (package, version, module, reviewed) in REVIEWED {
        let (there, folder) =
            installed(package, module).unwrap_or_else(|| panic!("{package} is not installed; tests/setup installs it"));
        assert_eq!(
            there, version,
            "{package} is another version: review it, and write down what it has"
        );
        let json = crate::scan::scan_in(folder.as_ref(), &[".", "--format", "json"]).json();
        let read = json["files"].as_u64().unwrap();
        assert!(read > 0, "{package}: nothing was read in {folder}");
        let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap().to_owned();
        let findings = json["findings"].as_array().unwrap().iter();
        let found: Vec<_> = findings
            .map(|finding| {
                let place = format!("{}:{}", finding["line"], finding["column"]);
                (text(finding, "path"), place, text(finding, "kind"))
            })
            .collect();
        let reviewed: Vec<_> = reviewed
            .iter()
            .map(|(path, place, kind)| ((*path).to_owned(), (*place).to_owned(), (*kind).to_owned()))
            .collect();
        let paths = |found: Vec<(String, String, String)>| {
            let bare = |path: String| path.trim_start_matches("./").to_owned();
            found
                .into_iter()
                .map(|(path, place, kind)| (bare(path), place, kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(paths(found), reviewed, "{package}");
        println!(
            "{package} {version}: {read} files, {} findings, as reviewed",
            reviewed.len()
        );
    }
}
