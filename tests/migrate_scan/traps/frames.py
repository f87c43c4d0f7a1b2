import json
def send(t): 
    f = json.loads(t); print(json.dumps([f["type"], f.get("data")]))
d = '{"name": "s"}'
send('{"type": "ovos.persona.tools.wiki.call", "data": ' + d + '}')
send('{"type":"ovos.persona.tools.wiki.call","data":' + json.dumps({"name": "x"}) + '}')
q = "hi"
send('{"type": "ovos.persona.tools.wiki.call", "data": {"name": "search", "kwargs": {"q": "' + q + '"}}}')
send('{"type": "ovos.persona.tools.%s.call", "data": {"name": "x"}}' % q)
send('{"type": "ovos.persona.tools.%s.call", "data": {"name": "%s"}}' % (q, "nm"))
send('{{"type": "ovos.persona.tools.{}.call", "data": {{"name": "x"}}}}'.format(q))
send(f'{{"type": "ovos.persona.tools.{q}.call", "data": {{"name": "x"}}}}')
send(f'{{"type": "ovos.persona.tools.wiki.call", "data": {{"name": "{q}"}}}}')
send(f'{{"type": "ovos.persona.tools.wiki.call", "data": {d}}}')
send('{"type": "ovos.persona.tools.wiki.call"}')
send('{"type": "ovos.persona.tools.wiki.call", "data": {}}')
send("{\"type\": \"ovos.persona.tools.wiki.call\", \"data\": {\"name\": \"x\"}}")
send(r'{"type": "ovos.persona.tools.wiki.call", "data": {"name": "x\ty"}}')
send("""
{"type": "ovos.persona.tools.wiki.call",
 "data": {
   "name": "x"
 }}""")
print(json.dumps(["n", {}]))
