ws.send({ type: old ? type : "ovos.persona.tools.wordnet.call", data: { name } });
ws.send({ type: "ovos.persona.tools.wordnet.call", data: { name, ...more } });
ws.send({ type: "ovos.persona.tools.wordnet.call", data: { [key]: name } });
ws.send({ type: "ovos.persona.tools.wordnet.call", data });
