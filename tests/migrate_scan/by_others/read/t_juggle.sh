#!/bin/bash
send '{"type":"ovos.persona.tools.'"$BOX"'.call","data":{"name":"x"}}'
send "{\"type\":\"ovos.persona.tools.${BOX}.call\",\"data\":{\"name\":\"$1\"}}"
printf -v topic 'ovos.persona.tools.%s.call' "$BOX"
case "$type" in
  ovos.persona.tools.*.call) old ;;
  ovos.persona.tools.call) new ;;
esac
grep -F 'ovos.persona.tools.wiki.call' bus.log
TOPICS=(ovos.persona.tools.a.call "ovos.persona.tools.b.call" ovos.persona.tools.call)
export TOPIC=ovos.persona.tools.c.call
curl -s http://x --data @- <<-EOF
	{"type": "ovos.persona.tools.${BOX:-wiki}.call", "data": {"name": "x"}}
	EOF
if [[ $type == "ovos.persona.tools.wiki.call" ]]; then :; fi
ANSWER=ovos.persona.tools.wiki.call.response
python3 -c 'bus.emit(Message("ovos.persona.tools.py.call", {"name": "x", "kwargs": {}}))'
node -e "bus.emit('ovos.persona.tools.js.call', {name: 'x', kwargs: {}})"
