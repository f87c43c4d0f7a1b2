//! Where the bus is, as the configuration of OpenVoiceOS says: the layers of `mycroft.conf`.
//!
//! Lowest first: `$OVOS_DEFAULT_CONFIG`, the distribution's file, the system's, then the user's:
//! `runtime.conf`, the files of `$XDG_CONFIG_DIRS`, the one of `$XDG_CONFIG_HOME`. Above them stand
//! the variables of the Rust bus: `OVOS_BUS_CONFIG_FILE`, `OVOS_BUS_HOST` and `OVOS_BUS_PORT`. The
//! default that is packaged with ovos-config is not looked for: it says what is said here where no
//! file does.
//!
//! A file that cannot be read is a warning, as it is to OVOS itself.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Lookup, read};

const LONGEST_FILE: u64 = 4 << 20;

/// The bus that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its `ws://` or `wss://` address.
    pub url: String,
    /// What could not be read or is not supported, each naming its file.
    pub warnings: Vec<String>,
}

/// Looks through the layers. `root` stands before every path: `/`, or the folder of a test.
pub fn bus_url(root: &Path, env: Lookup<'_>) -> Found {
    let mut search = Search {
        root,
        env,
        warnings: Vec::new(),
    };
    let merged = search.merged();
    let url = search.url(
        merged
            .get("websocket")
            .and_then(Value::as_object)
            .unwrap_or(&Map::new()),
    );
    Found {
        url,
        warnings: search.warnings,
    }
}

/// One file of the stack.
struct Layer {
    file: PathBuf,
    /// Whether the system's `disable_user_config` and `protected_keys` hold for it.
    user: bool,
}

struct Search<'a> {
    root: &'a Path,
    env: Lookup<'a>,
    warnings: Vec<String>,
}

impl Search<'_> {
    /// What a variable holds, if that is anything.
    fn env(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }

    fn below_root(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The system's own file, whose constraints hold for the user's.
    fn system(&self, folder: &str, name: &str) -> String {
        self.env("MYCROFT_SYSTEM_CONFIG")
            .unwrap_or_else(|| format!("/etc/{folder}/{name}"))
    }

    /// Every file that may exist, lowest first, and the index of the system's.
    fn layers(&self) -> (Vec<Layer>, usize) {
        let folder = self.env("OVOS_CONFIG_BASE_FOLDER").unwrap_or_else(|| "mycroft".into());
        let name = self
            .env("OVOS_CONFIG_FILENAME")
            .unwrap_or_else(|| "mycroft.conf".into());
        let distribution = self.env("OVOS_DISTRIBUTION_CONFIG");
        let mut admin: Vec<String> = self.env("OVOS_DEFAULT_CONFIG").into_iter().collect();
        admin.push(distribution.unwrap_or_else(|| format!("/usr/share/{folder}/{name}")));
        admin.push(self.system(&folder, &name));
        let system = admin.len() - 1;

        let home = self
            .env("XDG_CONFIG_HOME")
            .or_else(|| self.env("HOME").map(|home| format!("{home}/.config")));
        let shared = self.env("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".into());
        let mut user: Vec<String> = home
            .iter()
            .map(|home| format!("{home}/{folder}/runtime.conf"))
            .collect();
        // The first of these folders matters most.
        let shared = shared.split(':').rev().filter(|place| !place.is_empty());
        user.extend(shared.map(|place| format!("{place}/{folder}/{name}")));
        user.extend(home.iter().map(|home| format!("{home}/{folder}/{name}")));

        let layer = |user| {
            move |file: String| Layer {
                file: self.below_root(file),
                user,
            }
        };
        let mut layers: Vec<Layer> = admin.into_iter().map(layer(false)).collect();
        layers.extend(user.into_iter().map(layer(true)));
        layers.extend(self.env("OVOS_BUS_CONFIG_FILE").map(layer(false)));
        (layers, system)
    }

    fn merged(&mut self) -> Map<String, Value> {
        let (layers, system) = self.layers();
        let mut read: Vec<(Map<String, Value>, bool)> = Vec::with_capacity(layers.len());
        for layer in &layers {
            read.push((self.file(&layer.file), layer.user));
        }
        // OVOS takes these from the system's file, or else from the default; a user cannot lift them.
        let constraints = [system, 0]
            .iter()
            .find_map(|index| read[*index].0.get("system").filter(|own| is_set(own)));
        let constraints = constraints.cloned().unwrap_or_default();
        let no_user = constraints["disable_user_config"].as_bool().unwrap_or(false);
        let protected = constraints["protected_keys"]["user"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut merged = Map::new();
        for (mut values, user) in read {
            if user && no_user {
                continue;
            }
            if user {
                protected
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|key| remove(&mut values, key));
            }
            merge(&mut merged, values);
        }
        merged
    }

    /// The mapping in `file`; empty where there is none.
    fn file(&mut self, file: &Path) -> Map<String, Value> {
        if !file.exists() {
            return Map::new();
        }
        let parsed = read::text_of(file, LONGEST_FILE)
            .map_err(|(_, what)| what)
            .and_then(|text| parse(file, &text));
        match parsed {
            Ok(Value::Object(values)) => {
                if values
                    .get("websocket")
                    .and_then(|socket| socket.get("secret_key"))
                    .is_some_and(is_set)
                {
                    self.warn(
                        file,
                        "websocket.secret_key is set: encrypted messages are not supported",
                    );
                }
                values
            }
            // An empty YAML file.
            Ok(Value::Null) => Map::new(),
            Ok(_) => {
                self.warn(file, "ignored: it holds no mapping");
                Map::new()
            }
            Err(what) => {
                self.warn(file, &format!("ignored: {what}"));
                Map::new()
            }
        }
    }

    fn warn(&mut self, file: &Path, what: &str) {
        self.warnings.push(format!("{}: {what}", file.display()));
    }

    fn url(&mut self, socket: &Map<String, Value>) -> String {
        let given = |key: &str| socket.get(key).filter(|value| !value.is_null());
        let scheme = if self.usable("ssl", given("ssl"), Value::as_bool).unwrap_or(false) {
            "wss"
        } else {
            "ws"
        };
        let host = self
            .env("OVOS_BUS_HOST")
            .or_else(|| self.usable("host", given("host"), host));
        let port = self.env("OVOS_BUS_PORT").map(Value::String);
        let named = if port.is_some() { "OVOS_BUS_PORT" } else { "port" };
        let port = self
            .usable(named, port.as_ref().or(given("port")), port_number)
            .unwrap_or(8181);
        let route = self.usable("route", given("route"), |value| value.as_str().map(str::to_owned));
        let route = route.unwrap_or_else(|| "/core".into());
        let slash = if route.starts_with('/') { "" } else { "/" };
        format!(
            "{scheme}://{}:{port}{slash}{route}",
            reachable(host.as_deref().unwrap_or("127.0.0.1"))
        )
    }

    /// What `read` makes of a value; a warning where it makes nothing of it.
    fn usable<T>(&mut self, key: &str, value: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = value?;
        let usable = read(value);
        if usable.is_none() {
            let key = if key.starts_with("OVOS") {
                key.to_owned()
            } else {
                format!("mycroft.conf: websocket.{key}")
            };
            self.warnings.push(format!("{key}: ignored, {value} is of no use here"));
        }
        usable
    }
}

fn host(value: &Value) -> Option<String> {
    let fits = |host: &&str| !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "/?#@".contains(c));
    value.as_str().filter(fits).map(str::to_owned)
}

fn port_number(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u16::try_from(number).ok().filter(|port| *port > 0)
}

/// The host as a client names it: an address that means "listen everywhere" is this machine.
fn reachable(host: &str) -> String {
    match host {
        "0.0.0.0" => "127.0.0.1".into(),
        "::" | "[::]" => "[::1]".into(),
        _ if host.contains(':') && !host.starts_with('[') => format!("[{host}]"),
        _ => host.into(),
    }
}

/// YAML or commented JSON, by the file's name.
fn parse(file: &Path, text: &str) -> Result<Value, String> {
    if file
        .extension()
        .is_some_and(|ending| ending == "yml" || ending == "yaml")
    {
        return serde_yaml::from_str(text).map_err(|error| error.to_string());
    }
    // Lines are emptied, not dropped, so that the error's line is that of the file.
    let is_comment = |line: &&str| line.trim_start().starts_with("//") || line.trim_start().starts_with('#');
    let json: Vec<&str> = text
        .lines()
        .map(|line| if is_comment(&line) { "" } else { line })
        .collect();
    let json = json.join("\n");
    serde_json::from_str(json.strip_prefix('\u{feff}').unwrap_or(&json)).map_err(|error| error.to_string())
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Puts `over` on top of `base`; mappings are joined at every depth, anything else is replaced.
fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Takes a key out, which `:` leads down to: `websocket:host`.
fn remove(values: &mut Map<String, Value>, key: &str) {
    match key.split_once(':') {
        None => drop(values.shift_remove(key)),
        Some((first, rest)) => {
            if let Some(Value::Object(inner)) = values.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

#[cfg(test)]
#[path = "mycroft_tests.rs"]
mod tests;
