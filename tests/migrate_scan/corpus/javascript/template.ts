export async function call(bus: Bus, toolboxId: string, name: string, kwargs: object) {
  return bus.emit(new Message(`ovos.persona.tools.${toolboxId}.call`, { name, kwargs }));
}
