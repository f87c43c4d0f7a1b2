def a(ws, box, name):
    ws.send('{"type": "ovos.persona.tools.' + box + '.call", "data": {"name": "x"}}')


def b(ws, box, name):
    ws.send(f'{{"type": "ovos.persona.tools.{box}.call", "data": {{"name": "{name}", "kwargs": {{}}}}}}')


def c(ws, box):
    ws.send('{"type": "ovos.persona.tools.%s.call", "data": {"name": "x"}}' % box)
