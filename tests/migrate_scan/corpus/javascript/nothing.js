const topic = `ovos.persona.tools.call`;
bus.emit(topic, { toolbox_id: id, name, kwargs });
bus.emit(`ovos.persona.${kind}.wordnet.call`);
bus.emit({ type: "ovos.tools.get", data: { name, kwargs: {} } });
const ratio = a / b / "ovos.persona.tools".length;
