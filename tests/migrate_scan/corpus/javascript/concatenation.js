const PREFIX = 'ovos.persona.tools.';
const topicOf = (id) => PREFIX + id + '.call';
bus.emit("ovos.persona.tools." + box.id + ".call", {"name": name, "kwargs": {}});
bus.emit(["ovos.persona.tools", id, "call"].join("."), {name});
bus.emit("ovos.persona.tools".concat(".", id, ".call"), {});
