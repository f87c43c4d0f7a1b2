#!/usr/bin/env node
const WebSocket = require('ws');
const ws = new WebSocket('ws://127.0.0.1:8181/core');

ws.on('open', () => {
  ws.send(JSON.stringify({
    type: 'ovos.persona.tools.wordnet.call',
    data: { name: 'define_word', kwargs: { word: 'serendipity' } },
    context: {},
  }));
});

ws.on('message', (raw) => {
  const m = JSON.parse(raw);
  if (m.type === 'ovos.persona.tools.wordnet.call.response') {
    console.log(m.data.result ?? m.data.error);
    ws.close();
  }
});
