//! A snippet.
const PREFIX: &str = "ovos.persona.tools.";
const STATIC: &str = "ovos.persona.tools.call";
const WIKI: &str = concat!("ovos.persona.tools.", "wiki", ".call");

fn topic(id: &str) -> String {
    PREFIX.to_owned() + id + ".call"
}

fn other(id: &str) -> String {
    format!("{PREFIX}{id}.call")
}

fn all(id: &str) -> String {
    ["ovos", "persona", "tools", id, "call"].join(".")
}
