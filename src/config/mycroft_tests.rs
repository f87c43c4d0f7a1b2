//! Tests of `config::mycroft`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A machine of its own: files below a temporary folder, and variables.
struct Machine(PathBuf);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("toolhost-mycroft-{}-{number}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(root)
    }

    fn found(&self, env: &[(&str, &str)]) -> Found {
        bus_url(&self.0, &|name| {
            let mut all = env.iter().chain(&[("HOME", "/home/a")]);
            all.find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

const USER: &str = "home/a/.config/mycroft/mycroft.conf";

#[test]
fn without_any_file_the_bus_is_where_it_always_is() {
    let found = Machine::new(&[]).found(&[]);
    assert_eq!(
        found,
        Found {
            url: "ws://127.0.0.1:8181/core".into(),
            warnings: vec![]
        }
    );
}

#[test]
fn higher_layers_win_key_by_key() {
    let files = [
        (
            "usr/share/mycroft/mycroft.conf",
            r#"{"websocket": {"host": "dist", "port": 1, "route": "/dist"}}"#,
        ),
        (
            "etc/mycroft/mycroft.conf",
            r#"{"websocket": {"host": "system", "port": 2}}"#,
        ),
        (
            "home/a/.config/mycroft/runtime.conf",
            r#"{"websocket": {"host": "runtime", "port": 3}}"#,
        ),
        (
            "etc/xdg/mycroft/mycroft.conf",
            r#"{"websocket": {"host": "xdg", "port": 4}}"#,
        ),
        (
            USER,
            "// mine\n# too\n{\n  // more\n  \"websocket\": {\"host\": \"user\", \"ssl\": true}}",
        ),
    ];
    let expected = [
        "ws://dist:1/dist",
        "ws://system:2/dist",
        "ws://runtime:3/dist",
        "ws://xdg:4/dist",
        "wss://user:4/dist",
    ];
    for (count, url) in (1..).zip(expected) {
        let found = Machine::new(&files[..count]).found(&[]);
        assert_eq!(
            found,
            Found {
                url: url.into(),
                warnings: vec![]
            }
        );
    }
    let all = Machine::new(&files);
    let over = [("OVOS_BUS_HOST", "env"), ("OVOS_BUS_PORT", "9")];
    assert_eq!(all.found(&over).url, "wss://env:9/dist");
}

#[test]
fn variables_rename_and_move_the_files() {
    let machine = Machine::new(&[
        ("x/neon/neon.yaml", "websocket:\n  port: '7'\n"),
        ("opt/system.yml", "websocket: {host: '::', route: r}"),
        ("opt/bus.json", r#"{"websocket": {"host": "0.0.0.0"}}"#),
        ("a/neon/neon.yaml", "websocket: {port: 1}"),
        ("b/neon/neon.yaml", "websocket: {port: 2}"),
    ]);
    let named = [
        ("OVOS_CONFIG_BASE_FOLDER", "neon"),
        ("OVOS_CONFIG_FILENAME", "neon.yaml"),
    ];
    let mut env = named.to_vec();
    env.extend([("XDG_CONFIG_HOME", "/x"), ("MYCROFT_SYSTEM_CONFIG", "/opt/system.yml")]);
    assert_eq!(machine.found(&env).url, "ws://[::1]:7/r");
    env.push(("OVOS_BUS_CONFIG_FILE", "/opt/bus.json"));
    assert_eq!(machine.found(&env).url, "ws://127.0.0.1:7/r");
    let mut env = named.to_vec();
    env.push(("XDG_CONFIG_DIRS", "/a:/b"));
    assert_eq!(machine.found(&env).url, "ws://127.0.0.1:1/core");
}

#[test]
fn the_system_can_keep_users_out() {
    let user = (
        USER,
        r#"{"websocket": {"host": "user", "port": 1}, "system": {"disable_user_config": false}}"#,
    );
    let protected = r#"{"system": {"protected_keys": {"user": ["websocket:host", "x:y", "z"]}}}"#;
    let machine = Machine::new(&[user, ("etc/mycroft/mycroft.conf", protected)]);
    assert_eq!(machine.found(&[]).url, "ws://127.0.0.1:1/core");
    let disabled = r#"{"system": {"disable_user_config": true}}"#;
    let machine = Machine::new(&[user, ("etc/mycroft/mycroft.conf", disabled)]);
    assert_eq!(machine.found(&[]).url, "ws://127.0.0.1:8181/core");
}

#[test]
fn what_is_broken_is_a_warning_that_names_its_file() {
    for (text, part) in [
        ("{\n// c\n\"websocket\": }", "line 3"),
        ("[1]", "no mapping"),
        ("\u{0}", "ignored"),
        (r#"{"websocket": {"secret_key": "abc"}}"#, "secret_key"),
        (r#"{"websocket": {"port": "many"}}"#, "websocket.port"),
        (r#"{"websocket": {"host": 5}}"#, "websocket.host"),
        (r#"{"websocket": {"host": "a/b"}}"#, "websocket.host"),
        (r#"{"websocket": {"ssl": "yes"}}"#, "websocket.ssl"),
    ] {
        let found = Machine::new(&[(USER, text)]).found(&[]);
        assert_eq!(found.url, "ws://127.0.0.1:8181/core", "{text}");
        assert_eq!(found.warnings.len(), 1, "{text}: {:?}", found.warnings);
        let warning = &found.warnings[0];
        assert!(
            warning.contains("mycroft.conf: ") && warning.contains(part),
            "{text}: {warning}"
        );
        assert!(!warning.contains("abc"));
    }
    assert_eq!(
        Machine::new(&[(USER, r#"{"websocket": null}"#)]).found(&[]).warnings,
        [""; 0]
    );
    let found = Machine::new(&[]).found(&[("OVOS_BUS_PORT", "x")]);
    assert!(
        found.warnings[0].starts_with("OVOS_BUS_PORT: ignored"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn a_pipe_in_the_place_of_a_layer_is_told_and_not_waited_for() {
    let machine = Machine::new(&[("home/a/.config/mycroft/other", "")]);
    nix::unistd::mkfifo(&machine.0.join(USER), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let found = machine.found(&[]);
    assert_eq!(found.url, Machine::new(&[]).found(&[]).url);
    let told = found.warnings.join("\n");
    assert!(told.contains("it is no file but a pipe"), "{told}");
}
