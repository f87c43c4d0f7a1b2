//! Tests of `check::whole`.

use super::*;
use crate::config::{BusConfig, DeclaredTool, Env, Output, Run, ToolService};
use crate::json::Text;
use crate::tools::template::{Argv, Element, Template};

const FILE: &str = "toolboxes:\n  disk:\n    tools:\n      free:\n        parameters:\n          path: {type: string}\n        run: [df]\n      \
                    any: {description: A., run: [df]}\n  other:\n    tools:\n      free: {description: B., run: [df]}\n";

fn declared(name: &str, described: &str) -> DeclaredTool {
    DeclaredTool {
        name: name.to_owned(),
        described: Text::from(described.to_owned()),
        run: Run::Shell("df".to_owned()),
        stdin: None,
        output: Output::Text,
        accept_exit: vec![0],
        cwd: None,
        env: Env::default(),
        leading_dash: Default::default(),
        integers: Default::default(),
        parameters: Default::default(),
    }
}

#[tokio::test]
async fn what_will_bite_later_is_named_with_its_line() {
    let file = std::env::temp_dir().join(format!("toolhost-whole-{}.yaml", std::process::id()));
    std::fs::write(&file, FILE).unwrap();
    let free = r#"{"name": "free", "parameters": {"path": {"type": "string"}}}"#;
    let toolbox = |id: &str, tools| ToolboxConfig::new(id, Kind::Tools(tools), "/");
    let config = Config {
        migrate: crate::config::MigrateConfig::default(),
        file: file.clone(),
        bus: BusConfig::default(),
        tool_service: ToolService::Auto,
        watch: false,
        sources: crate::config::Sources::default(),
        toolboxes: vec![
            toolbox(
                "disk",
                vec![
                    declared("free", free),
                    declared("any", r#"{"name": "any", "description": "A."}"#),
                ],
            ),
            toolbox(
                "other",
                vec![declared(
                    "free",
                    r#"{"name": "free", "description": "B.", "parameters": []}"#,
                )],
            ),
        ],
    };
    let mut reports = Vec::new();
    for toolbox in &config.toolboxes {
        reports.push(super::super::replay(toolbox, &[]).await);
    }
    warn(&config, &crate::config::look_over(&file), &mut reports);
    std::fs::remove_file(&file).unwrap();
    let name = file.display();
    let said: Vec<String> = reports.iter().map(ToString::to_string).collect();
    assert!(reports.iter().all(Report::is_good), "{said:?}");
    for line in [
        format!("tool 'free' has no description: a model cannot tell when to use it ({name}:4)"),
        format!(
            "tool 'free' has a parameter 'path' without a description: a model has to guess its meaning ({name}:6)"
        ),
        "tool 'any' takes anything".to_owned(),
    ] {
        assert!(said[0].contains(&line), "{line}: {}", said[0]);
    }
    assert_eq!(said[0].matches("no description").count(), 1, "{}", said[0]);
    let shared = format!("tool 'free' is published by 'disk' ({name}:2) and 'other' ({name}:9)");
    assert!(said[1].contains(&shared), "{}", said[1]);
    assert_eq!(said[1].lines().count(), 2, "{}", said[1]);
}

#[tokio::test]
async fn a_declared_command_that_is_not_there_is_a_fault() {
    let mut tool = declared("gone", r#"{"name": "gone", "description": "A.", "parameters": []}"#);
    let program = Element::One(Template::literal("no-such-program"));
    tool.run = Run::Argv(Argv::new(vec![program]).unwrap());
    let report = super::super::replay(&ToolboxConfig::new("x", Kind::Tools(vec![tool]), "/"), &[]).await;
    assert!(!report.is_good(), "{report}");
    assert!(
        report.to_string().contains("tool 'gone' needs 'no-such-program'"),
        "{report}"
    );
}
