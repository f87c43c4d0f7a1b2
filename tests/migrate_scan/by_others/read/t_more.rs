//! A snippet.
/// Sends `ovos.persona.tools.<id>.call`.
const NS: &str = "ovos.persona.tools";
static RE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^ovos\.persona\.tools\.([a-z]+)\.call$").unwrap());

fn topics(id: &str) -> Vec<String> {
    vec![
        format!("{}.{}.call", NS, id),
        format!("{NS}.{id}.call"),
        format!("ovos.persona.tools.{toolbox}.{what}", toolbox = id, what = "call"),
        [NS, id, "call"].join("."),
        NS.to_string() + "." + id + ".call",
        String::from(NS) + "." + id + ".call",
    ]
}

fn frame(id: &str) -> Value {
    json!({"type": format!("ovos.persona.tools.{id}.call"), "data": {"name": "x", "kwargs": {}}})
}

fn is_old(topic: &str) -> bool {
    matches!(topic, "ovos.persona.tools.wiki.call") || topic == "ovos.persona.tools.math.call"
}

fn text(id: &str) -> String {
    let mut s = String::new();
    write!(s, "ovos.persona.tools.{id}.call").ok();
    format!(r#"{{"type":"ovos.persona.tools.{id}.call","data":{{"name":"x"}}}}"#)
}
