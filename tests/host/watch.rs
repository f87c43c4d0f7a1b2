//! `watch: true`: a changed file takes effect by itself, however it was changed, and a bad one changes nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::caller::Caller;
use crate::common::embedded::Embedded;
use crate::common::eventually::eventually;
use crate::common::host::{Host, moody};

fn config(url: &str, toolboxes: &Value) -> Value {
    json!({"bus": {"url": url}, "watch": true, "toolboxes": toolboxes})
}

/// A toolbox whose tools have a prefix: what the file says of it shows at once.
fn named(namespace: &str) -> Value {
    let mut toolbox = moody(&json!({}));
    toolbox["namespace"] = namespace.into();
    toolbox
}

/// `kept`, which no change concerns, and `edited`.
fn both(url: &str, namespace: &str) -> Value {
    config(url, &json!({"kept": moody(&json!({})), "edited": named(namespace)}))
}

fn text(config: &Value) -> String {
    format!("{config:#}\n")
}

/// Waits until `edited` has its tools under this prefix.
async fn in_force(caller: &mut Caller, namespace: &str) {
    let name = format!("{namespace}_echo");
    let asked = async {
        while caller.call("edited", &name, &json!({})).await != Ok(json!({})) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    crate::common::eventually::within(&format!("{namespace} is in force"), asked).await;
}

/// Whether the host has the kernel tell it of changes.
fn looks(host: &Host) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", host.pid())).expect("its descriptors");
    descriptors
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .any(|target| target.to_string_lossy().contains("inotify"))
}

/// Waits until it looks, so that a change is one it can see.
async fn looking(host: &Host) {
    eventually("it looks", || looks(host)).await;
}

#[tokio::test]
async fn a_saved_file_is_in_force_however_an_editor_saves_it() {
    let bus = Embedded::start().await;
    let host = Host::start(&both(&bus.url, "first")).await;
    looking(&host).await;
    let mut caller = Caller::connect(&bus.url).await;
    let kept = host.pid_of("kept");
    let file = host.folder().join("toolhost.yaml");
    // A new file in its place.
    host.write_config(&both(&bus.url, "renamed"));
    in_force(&mut caller, "renamed").await;
    // The same file, written over.
    fs::write(&file, text(&both(&bus.url, "over"))).unwrap();
    in_force(&mut caller, "over").await;
    // The old one kept under another name, and a new one made.
    fs::rename(&file, host.folder().join("toolhost.yaml~")).unwrap();
    fs::write(&file, text(&both(&bus.url, "made"))).unwrap();
    in_force(&mut caller, "made").await;
    // Another name for a file that is there.
    let other = host.folder().join("other.yaml");
    fs::write(&other, text(&both(&bus.url, "linked"))).unwrap();
    fs::remove_file(&file).unwrap();
    fs::hard_link(&other, &file).unwrap();
    in_force(&mut caller, "linked").await;
    assert_eq!(host.pid_of("kept"), kept, "what no change concerned was not touched");
    assert!(
        !host.log().contains("reload refused"),
        "no half-written file was read: {}",
        host.log()
    );
    host.stop().await;
}

/// Has `link` lead to `target` in one step.
fn swap(link: &Path, target: &str) {
    let new = link.with_file_name("..data_new");
    symlink(target, &new).unwrap();
    fs::rename(new, link).unwrap();
}

#[tokio::test]
async fn a_swapped_link_is_followed_as_containers_have_them() {
    let bus = Embedded::start().await;
    let (first, second) = (text(&both(&bus.url, "first")), text(&both(&bus.url, "second")));
    let mut host = Host::launch_with(&json!({}), |command| {
        let folder = command.get_current_dir().expect("a folder").to_owned();
        for (name, text) in [("v1", &first), ("v2", &second)] {
            fs::create_dir_all(folder.join("data").join(name)).unwrap();
            fs::write(folder.join("data").join(name).join("toolhost.yaml"), text).unwrap();
        }
        symlink("v1", folder.join("data/..data")).unwrap();
        symlink("..data/toolhost.yaml", folder.join("data/toolhost.yaml")).unwrap();
        fs::remove_file(folder.join("toolhost.yaml")).unwrap();
        symlink("data/toolhost.yaml", folder.join("toolhost.yaml")).unwrap();
    });
    host.ready().await;
    looking(&host).await;
    let mut caller = Caller::connect(&bus.url).await;
    in_force(&mut caller, "first").await;
    let link = host.folder().join("data/..data");
    swap(&link, "v2");
    in_force(&mut caller, "second").await;
    // And in the folder it leads to now.
    let file = host.folder().join("data/v2/toolhost.yaml");
    fs::write(file, text(&both(&bus.url, "third"))).unwrap();
    in_force(&mut caller, "third").await;
    swap(&link, "v1");
    in_force(&mut caller, "first").await;
    host.stop().await;
}

#[tokio::test]
async fn a_folder_that_comes_back_is_looked_into_again() {
    let bus = Embedded::start().await;
    let mut host = Host::launch_with(&json!({}), |command| {
        let folder = command.get_current_dir().expect("a folder").to_owned();
        fs::create_dir_all(folder.join("etc")).unwrap();
        fs::write(folder.join("etc/toolhost.yaml"), text(&both(&bus.url, "first"))).unwrap();
        fs::remove_file(folder.join("toolhost.yaml")).unwrap();
        symlink("etc/toolhost.yaml", folder.join("toolhost.yaml")).unwrap();
    });
    host.ready().await;
    looking(&host).await;
    let mut caller = Caller::connect(&bus.url).await;
    let folder = host.folder().join("etc");
    fs::rename(&folder, host.folder().join("old")).unwrap();
    eventually("it is missed", || host.log().contains("gone; what it said goes on")).await;
    in_force(&mut caller, "first").await;
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("toolhost.yaml"), text(&both(&bus.url, "second"))).unwrap();
    in_force(&mut caller, "second").await;
    host.stop().await;
}

#[tokio::test]
async fn a_changed_env_file_starts_its_toolbox_anew_and_no_other() {
    let bus = Embedded::start().await;
    let mut with_env = moody(&json!({}));
    with_env["env_file"] = "secrets.env".into();
    let toolboxes = json!({"kept": moody(&json!({})), "edited": with_env});
    let mut host = Host::launch_with(&config(&bus.url, &toolboxes), |command| {
        let folder = command.get_current_dir().expect("a folder");
        fs::write(folder.join("secrets.env"), "TOKEN=one\n").unwrap();
    });
    host.ready().await;
    looking(&host).await;
    let (kept, edited) = (host.pid_of("kept"), host.pid_of("edited"));
    let mut caller = Caller::connect(&bus.url).await;
    fs::write(host.folder().join("secrets.env"), "TOKEN=two\n").unwrap();
    let told = async {
        loop {
            let environment = caller.call("edited", "environment", &json!({})).await;
            if environment.is_ok_and(|it| it["TOKEN"] == "two") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    crate::common::eventually::within("the new value is in force", told).await;
    assert_ne!(host.pid_of("edited"), edited);
    assert_eq!(host.pid_of("kept"), kept);
    host.stop().await;
}

#[tokio::test]
async fn a_broken_or_missing_file_changes_nothing_and_the_log_says_why() {
    let bus = Embedded::start().await;
    let host = Host::start(&both(&bus.url, "first")).await;
    looking(&host).await;
    let mut caller = Caller::connect(&bus.url).await;
    let (kept, edited) = (host.pid_of("kept"), host.pid_of("edited"));
    let file = host.folder().join("toolhost.yaml");
    host.write_config(&config(&bus.url, &json!({"kept": {"comand": ["python3"]}})));
    eventually("the log says why", || host.log().contains("comand")).await;
    assert_eq!((host.pid_of("kept"), host.pid_of("edited")), (kept, edited));
    fs::remove_file(&file).unwrap();
    eventually("the log says that, too", || {
        host.log().contains("gone; what it said goes on")
    })
    .await;
    assert_eq!((host.pid_of("kept"), host.pid_of("edited")), (kept, edited));
    in_force(&mut caller, "first").await;
    assert_eq!(
        host.log().matches("reload refused").count(),
        1,
        "once for one broken file"
    );
    // And it goes on looking.
    host.write_config(&both(&bus.url, "second"));
    in_force(&mut caller, "second").await;
    assert_eq!(host.pid_of("kept"), kept);
    host.stop().await;
}

#[tokio::test]
async fn a_named_pipe_in_the_place_of_the_file_is_refused_and_holds_nothing_up() {
    let bus = Embedded::start().await;
    let host = Host::start(&both(&bus.url, "first")).await;
    looking(&host).await;
    let mut caller = Caller::connect(&bus.url).await;
    let file = host.folder().join("toolhost.yaml");
    let pipe = host.folder().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::rename(&pipe, &file).unwrap();
    eventually("the log says so", || host.log().contains("reload refused")).await;
    in_force(&mut caller, "first").await;
    assert!(host.status().is_some());
    host.write_config(&both(&bus.url, "second"));
    in_force(&mut caller, "second").await;
    host.stop().await;
}

#[tokio::test]
async fn nothing_is_watched_unless_the_file_says_so() {
    let bus = Embedded::start().await;
    let watched = both(&bus.url, "first");
    let mut unwatched = both(&bus.url, "second");
    unwatched["watch"] = false.into();
    let host = Host::start(&unwatched).await;
    assert!(!looks(&host));
    host.write_config(&watched);
    host.signal(nix::sys::signal::Signal::SIGHUP);
    looking(&host).await;
    // It is the file that ends it, too.
    host.write_config(&unwatched);
    eventually("it looks no more", || !looks(&host)).await;
    host.stop().await;
}
