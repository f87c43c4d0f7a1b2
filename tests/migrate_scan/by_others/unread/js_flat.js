ws.send(JSON.stringify({ type: 'ovos.tools.invoke', data: { name: 'add', kwargs: { a: 1, b: 2 } } }));
ws.send(JSON.stringify({ type: 'ovos.tools.invoke', data: { name: 'add', args: { a: 1, b: 2 } } }));
const kwargs = { a: 1 };
ws.send(JSON.stringify({ type: 'ovos.tools.invoke', data: { name: 'add', kwargs } }));
ws.send(JSON.stringify({ type: 'ovos.persona.tools.call', data: { toolbox_id: 'math', name: 'add', args: { a: 1 } } }));
