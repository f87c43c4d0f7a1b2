//! D. Environment and working place.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use toolhost::config::Env;

use crate::harness::{Folder, Hosted, config};
use crate::moods::argv;
use crate::world::World;

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn one_variable_more_takes_no_other_away() {
    let shell = |line: &str| json!({"description": "d", "shell": line});
    let tools = json!({"env": shell("echo \"$API_KEY $HOME $PATH $TOOLHOST_TOOLBOX_ID\"")});
    let mut world =
        World::start(json!({"with": {"env": {"API_KEY": "x"}, "tools": tools}, "without": {"tools": tools}})).await;
    let home = world.host.folder().display().to_string();
    let path = std::env::var("PATH").unwrap();
    let with = world.call("with", "env", json!({})).await.unwrap();
    assert_eq!(with["output"], format!("x {home} {path} with\n"));
    let without = world.call("without", "env", json!({})).await.unwrap();
    assert_eq!(without["output"], format!(" {home} {path} without\n"));
    world.stop().await;
}

#[tokio::test]
async fn a_program_is_looked_for_on_the_path_of_its_own_toolbox() {
    let folder = Folder::new();
    let python = argv("python");
    program(
        &folder.path("v20/bin/my-server"),
        &format!("#!/bin/sh\nexec {} {}\n", python[0], python[1]),
    );
    let bin = folder.path("v20/bin");
    let mut found = config("found", &["my-server"]);
    found.env = Env([("PATH".to_owned(), format!("{}:/usr/bin:/bin", bin.display()))].into());
    let toolbox = Hosted::start(found);
    assert_eq!(toolbox.call("echo", json!({})).await, Ok(json!({})));
    let error = Hosted::start(config("missed", &["my-server"]))
        .call("echo", json!({}))
        .await
        .unwrap_err();
    let path = std::env::var("PATH").unwrap();
    for told in ["'my-server' not found on the PATH", &path, "working folder"] {
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[tokio::test]
async fn a_relative_path_is_that_of_the_file_or_of_the_folder_it_names() {
    let folder = Folder::new();
    let there = folder.path("there");
    program(&there.join("here.sh"), "#!/bin/sh\necho there; pwd\n");
    let run = |argv: &[&str]| json!({"description": "d", "run": argv});
    let toolboxes = json!({
        "beside": {"tools": {"t": run(&["./here.sh"])}},
        "named": {"cwd": there, "tools": {"t": run(&["./here.sh"])}},
        "missing": {"cwd": "./nowhere", "tools": {"t": run(&["pwd"])}},
    });
    let mut world = World::start(toolboxes).await;
    program(&world.host.folder().join("here.sh"), "#!/bin/sh\necho beside; pwd\n");
    let home = world.host.folder().display().to_string();
    let beside = world.call("beside", "t", json!({})).await.unwrap();
    assert_eq!(beside["output"], format!("beside\n{home}\n"));
    let named = world.call("named", "t", json!({})).await.unwrap();
    assert!(
        named["output"]
            .as_str()
            .unwrap()
            .ends_with(&format!("{}\n", there.display())),
        "its folder is the one named: {named}"
    );
    let error = world.call("missing", "t", json!({})).await.unwrap_err();
    assert!(
        error.contains(&format!("the working folder {home}/nowhere does not exist")),
        "{error}"
    );
    world.stop().await;
}
