import WebSocket from 'ws';
const pending = new Map();
export const call = (box, name, kwargs, id = crypto.randomUUID()) => new Promise((resolve) => {
  pending.set(id, resolve);
  socket.send(JSON.stringify({ type: 'ovos.persona.tools.' + box + '.call', data: { name, kwargs }, context: { id } }));
});
socket.on('message', (raw) => {
  const { type, data, context } = JSON.parse(raw);
  if (type.endsWith('.call.response')) pending.get(context.id)?.(data);
});
