const TOPICS = Object.freeze({
  discover: 'ovos.persona.tools.discover',
  timer: 'ovos.persona.tools.timer.call',
  call: 'ovos.persona.tools.call',
});
socket.send(JSON.stringify({ type: TOPICS.timer, data: { name: 'start', kwargs: { s: 60 } } }));
