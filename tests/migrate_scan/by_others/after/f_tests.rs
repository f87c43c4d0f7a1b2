//! A snippet.
#[test]
fn answers_the_old_topic() {
    for topic in ["ovos.persona.tools.call", "ovos.persona.tools.w.call"] {
        bus.send(topic);
    }
    assert!(frames.iter().any(|f| f["type"] == "ovos.persona.tools.w.call.response"));
    let (prefix, suffix) = ("ovos.persona.tools", "call");
    let t: String = ["ovos.persona.tools.", id, ".call"].concat();
    println!("{}", format!("ovos.persona.tools.{}.call", id));
    if let Some(id) = t.strip_prefix("ovos.persona.tools.").and_then(|r| r.strip_suffix(".call")) {}
}
