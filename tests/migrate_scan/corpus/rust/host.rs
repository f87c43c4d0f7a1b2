//! A snippet to be scanned, and never compiled.

/// Answers `ovos.persona.tools.<id>.call`.
fn serve(bus: &mut Bus, id: &'static str) {
    bus.on(format!("ovos.persona.tools.{}.call", id), handle);
    match topic {
        "ovos.persona.tools.clock.call" | "ovos.persona.tools.math.call" => handle(),
        r#"ovos.persona.tools.raw.call"# => handle(),
        _ => tracing::debug!("not ovos.persona.tools.{id}.call"),
    }
}
