class Message { constructor(type, data, context) { console.log(JSON.stringify([type, data, context])); } }
const bus = { emit(t, d) { if (typeof t === 'string') console.log(JSON.stringify([t, d])); }, send(f) { console.log(JSON.stringify([f.type, f.data])); } };
function d(box = 'wiki') {
  bus.emit('ovos.persona.tools.' + box + '.call', { name: 'x' });
  bus.emit('ovos.persona.tools.'.concat(box, '.call'), { name: 'x' });
  bus.emit(['ovos.persona.tools', box, 'call'].join('.'), { name: 'x' });
  bus.emit(`ovos.persona.tools.${box}.call`, { name: 'x' });
}
d(); d('math');
function e() { const q = 'wiki'; return q; }
function f(o) {
  const { q } = o;
  bus.emit('ovos.persona.tools.'.concat(q, '.call'), { name: 'x' });
  bus.emit('ovos.persona.tools.' + q + '.call', { name: 'x' });
  bus.emit(`ovos.persona.tools.${q}.call`, { name: 'x' });
}
f({ q: 'dest' });
let t = 'a';
t = 'b';
bus.emit('ovos.persona.tools.'.concat(t, '.call'), { name: 'x' });
const NS = 'ovos.persona.tools', BOX = 'capital';
bus.emit(`${NS}.${BOX}.call`, { name: 'x' });
bus.emit(NS + '.' + BOX + '.call', { name: 'x' });
bus.emit([NS, BOX, 'call'].join('.'), { name: 'x' });
const name = 'short', kwargs = { a: 1 };
bus.emit('ovos.persona.tools.a.call', { name, kwargs });
bus.emit('ovos.persona.tools.a.call', { ...{ toolbox_id: 'z' }, name });
bus.emit('ovos.persona.tools.a.call', { name() {} });
bus.emit('ovos.persona.tools.a.call', { ['name']: 'x' });
bus.emit('ovos.persona.tools.a.call', { get name() { return 'x'; } });
bus.emit('ovos.persona.tools.a.call', {
  // comment, with a comma
  name: 'x',
});
bus.emit('ovos.persona.tools.a.call', { /* c */ });
bus.emit('ovos.persona.tools.a.call');
bus.emit('ovos.persona.tools.a.call', undefined);
bus.emit(true ? 'ovos.persona.tools.a.call' : 'ovos.persona.tools.b.call', { name: 'x' });
bus.emit('ovos.persona.tools.' + (5 + 1) + '.call', { name: 'x' });
bus.emit('ovos.persona.tools.' + 5 + 1 + '.call', { name: 'x' });
bus.emit('ovos.persona.tools.' + [1][0] + '.call', { name: 'x' });
bus.emit('ovos.persona.tools.' + null + '.call', { name: 'x' });
bus.emit('ovos.persona.tools.' + `in${BOX}` + '.call', { name: 'x' });
bus.emit(`ovos.persona.tools.${[1, 2].map((x) => `${x}`)[0]}.call`, { name: 'x' });
bus.emit('ovos.persona.tools.X.call'.replace('X', BOX), { name: 'x' });
bus.send({ type: 'ovos.persona.tools.a.call', data: { name: 'x' } });
bus.send({ data: { name: 'x' }, type: `ovos.persona.tools.${BOX}.call` });
bus.send({ 'type': 'ovos.persona.tools.a.call', 'data': { 'name': 'x' } });
bus.send({ type: 'ovos.persona.tools.a.call', data: kwargs });
bus.send({ type: 'ovos.persona.tools.a.call' });
bus.send({ type: 'ovos.persona.tools.a.call', data: { name: 'x' }, ...{ data: { name: 'y' } } });
bus.send({ ...{ data: { name: 'y' } }, type: 'ovos.persona.tools.a.call' });
new Message('ovos.persona.tools.a.call', { name: 'x' }, { s: 1 });
