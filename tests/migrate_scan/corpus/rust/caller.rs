//! A snippet to be scanned, and never compiled.

const PREFIX: &str = "ovos.persona.tools.";

fn call(bus: &Bus, toolbox_id: &str, name: &str) {
    bus.emit(Message::new("ovos.persona.tools.wordnet.call", json!({"name": name})));
    bus.emit(Message::new(format!("ovos.persona.tools.{toolbox_id}.call"), json!({"name": name})));
    bus.emit(Message::new(&format!("{}{}.call", PREFIX, toolbox_id), json!({"name": name})));
    bus.emit(Message::new(PREFIX.to_owned() + toolbox_id + ".call", json!({"name": name})));
    bus.emit(Message::new(["ovos.persona.tools", toolbox_id, "call"].join("."), json!({"name": name})));
    bus.emit(Message::new("ovos.tools.invoke", json!({"name": name, "kwargs": {}})));
    bus.emit(Message::new(concat!("ovos.persona.", "tools.wordnet.call"), json!({})));
}
