utt = '{"context": null, "type": "ovos.persona.tools.wiki.call", "data": {"name": "search", "kwargs": {"q": "' + msg + '"}}}'
ws.send(utt)
flat = '{"type": "ovos.tools.invoke", "data": {"name": "add", "kwargs": {"q": "' + msg + '"}}}'
ws.send(flat)
