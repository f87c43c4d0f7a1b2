var PREFIX = 'ovos.persona.tools.';
var SUFFIX = '.call';
function emit(bus, id) {
  bus.emit(PREFIX + id + SUFFIX, { name: 'x', kwargs: {} });
  bus.emit(PREFIX + 'call', { toolbox_id: id, name: 'x', kwargs: {} });
  bus.on(PREFIX + id + SUFFIX + '.response', function (d) { console.log(d); });
}
