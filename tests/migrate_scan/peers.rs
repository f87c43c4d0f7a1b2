//! The shipped sources themselves, against a list of findings that was reviewed by hand.
#![allow(clippy::expect_used)] // The allowance for tests ends at their own functions.

use crate::common::peers::{old_python_path, python};

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

/// Module, line and column, and kind of each finding.
fn found(json: &serde_json::Value) -> Vec<(&str, String, &str)> {
    let findings = json["findings"].as_array().expect("a list").iter();
    findings
        .map(|finding| {
            let place = format!("{}:{}", finding["line"], finding["column"]);
            let path = finding["path"].as_str().expect("a path");
            let kind = finding["kind"].as_str().expect("a kind");
            (path.trim_start_matches("./"), place, kind)
        })
        .collect()
}

/// The last version that knows the predecessor alone, read in whole as well: `ToolBox.bind` has one line for it, nothing
/// unbinds, and the one other line with `persona.tools` beside the discover topic is the text that documents that.
#[test]
fn the_host_before_the_specification_is_found_and_told_what_it_lacks() {
    let folder = old_python_path().join("ovos_plugin_manager");
    let json = crate::scan::scan_in(&folder, &[".", "--format", "json"]).json();
    assert!(json["files"].as_u64() > Some(70), "{}", json["files"]);
    let expected = [("templates/agent_tools.py", "106:21".to_owned(), "host")];
    assert_eq!(found(&json), expected);
    let host = &json["findings"][0];
    assert_eq!(host["topic"], "ovos.persona.tools.<self.toolbox_id>.call");
    assert_eq!(host["toolbox_id"], serde_json::Value::Null, "each toolbox has its own");
    let advice = host["advice"].as_str().expect("a text");
    // Unlike 3.1.0a1, which answers both.
    assert!(
        advice.starts_with("answer ovos.persona.tools.call where data.toolbox_id is self.toolbox_id"),
        "{advice}"
    );
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
        let expected: Vec<_> = reviewed
            .iter()
            .map(|(path, place, kind)| (*path, (*place).to_owned(), *kind))
            .collect();
        assert_eq!(found(&json), expected, "{package}");
        println!(
            "{package} {version}: {read} files, {} findings, as reviewed",
            reviewed.len()
        );
    }
}
