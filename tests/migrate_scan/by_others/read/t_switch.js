switch (msg.type) {
  case 'ovos.persona.tools.wiki.call':
    return answer(msg);
  case 'ovos.persona.tools.call':
    return answer(msg);
  default:
}
if (msg?.type?.startsWith('ovos.persona.tools.')) log(msg);
bus.addEventListener("ovos.persona.tools.x.call", handler);
emitter.on("ovos.persona.tools.x.call.response", handler);
const handlers = { ['ovos.persona.tools.y.call']: run, 'ovos.persona.tools.call': run };
this.topic = 'ovos.persona.tools.' + this.id + '.call';
this.bus.on(this.topic + '.response', f);
