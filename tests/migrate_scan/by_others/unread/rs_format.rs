//! Calls a tool on the old topic.
fn topic(id: &str) -> String {
    format!("ovos.persona.tools.{id}.call")
}

fn send(bus: &Bus, id: &str) {
    bus.emit(&format!("ovos.persona.tools.{}.call", id), json!({"name": "x", "kwargs": {}}));
    bus.emit(&format!("ovos.persona.tools.{}", "call"), json!({"toolbox_id": id, "name": "x"}));
    let plain = String::from("ovos.persona.tools.fixed.call");
    bus.emit(&plain, json!({"name": "x"}));
}
