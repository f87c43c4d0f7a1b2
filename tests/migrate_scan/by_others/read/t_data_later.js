const m = { type: 'ovos.persona.tools.wiki.call', context: {} };
m.data = { name: 'x', kwargs: {} };
ws.send(JSON.stringify(m));
const n = new Message('ovos.persona.tools.wiki.call');
n.data.name = 'x';
bus.emit(n);
