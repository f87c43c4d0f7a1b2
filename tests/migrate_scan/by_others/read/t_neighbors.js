import x from 'ovos.persona.tools';
const t = 'ovos.persona.tools.call';
const r = `${t}.response`;
const u = `https://x/ovos.persona.tools.html`;
const d = 'ovos.persona.tools.' + 'discover';
const e = 'ovos.persona.tools.' + ['call', 'discover'][i];
