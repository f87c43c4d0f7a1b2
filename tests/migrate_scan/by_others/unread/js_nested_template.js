const t = `ovos.persona.tools.${boxes[`${lang}_box`] ?? 'default'}.call`;
bus.emit(t, { name: 'x' });
const u = `${'ovos.persona.tools'}.call`;
