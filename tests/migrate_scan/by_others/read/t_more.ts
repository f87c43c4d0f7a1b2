const TOPICS = {
  wiki: 'ovos.persona.tools.wiki.call',
  call: 'ovos.persona.tools.call',
} as const;
type T = 'ovos.persona.tools.a.call' | 'ovos.persona.tools.call';
const f = (id: string): string => `ovos.persona.tools.${id}.call` as const;
await client.request<Answer>({ type: f('x'), data: { name: 'x', kwargs: {} } });
function g(topic: string = 'ovos.persona.tools.dflt.call') {}
abstract class A { protected readonly topic = "ovos.persona.tools.b.call"; }
