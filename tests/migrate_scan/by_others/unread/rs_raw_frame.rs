//! A snippet.
fn frame<'a>(c: char) -> &'a str {
    let quote = '"';
    let raw = r#"{"type": "ovos.persona.tools.box.call", "data": {"name": "x", "kwargs": {}}}"#;
    /* nested /* comment ovos.persona.tools.gone.call */ still */
    raw
}

fn json_macro() -> Value {
    json!({
        "type": "ovos.persona.tools.box.call",
        "data": { "name": "x", "kwargs": {} }
    })
}
