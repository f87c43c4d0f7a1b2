//! A snippet to be scanned, and never compiled.

fn of(topic: &str) -> Option<&str> {
    let rest = topic.strip_prefix("ovos.persona.tools.")?;
    (rest != "call" && rest != "discover").then_some(rest)
}
const CALL: &str = concat!("ovos.persona.tools", ".call");
