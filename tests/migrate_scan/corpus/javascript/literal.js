ws.send(JSON.stringify({
  type: 'ovos.persona.tools.wordnet.call',
  data: { name: 'define_word', kwargs: { word } },
  context: {},
}));
