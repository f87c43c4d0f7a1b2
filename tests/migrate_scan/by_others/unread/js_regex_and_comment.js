// old hosts answer ovos.persona.tools.wiki.call
/* see
 * ovos.persona.tools.math.call */
const re = /ovos\.persona\.tools\.call/;
const isTool = (t) => /^ovos\.persona\.tools\.[^.]+\.call$/.test(t);
const s = 'say "//"'; bus.emit('ovos.persona.tools.wiki.call', { name: 'x', kwargs: {} });
