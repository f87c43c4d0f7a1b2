//! A snippet.
match message.kind.as_str() {
    "ovos.persona.tools.wiki.call.response" => done(message),
    "ovos.persona.tools.call.response" => done(message),
    t if t.starts_with("ovos.persona.tools.") => other(t),
    _ => {}
}
