const { format } = require('util');
const NS = 'ovos.persona.tools';
bus.emit(`${NS}.${id}.call`, { name: 'x', kwargs: {} });
bus.emit(NS.concat('.', id, '.call'), { name: 'x', kwargs: {} });
bus.emit('ovos.persona.tools.'.concat(id, '.call'), { name: 'x', kwargs: {} });
bus.emit(util.format('ovos.persona.tools.%s.call', id), { name: 'x', kwargs: {} });
bus.emit([NS, id, 'call'].join(`.`), { name: 'x', kwargs: {} });
ws.send('{"type":"ovos.persona.tools.' + id + '.call","data":{"name":"x"}}');
ws.send(`{"type":"ovos.persona.tools.${id}.call","data":{"name":"x"}}`);
