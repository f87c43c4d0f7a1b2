PREFIX=ovos.persona.tools
TOPIC="$PREFIX.$1.call"
ANSWER="$TOPIC.response"
STATIC="$PREFIX.call"
ovos-bus-send ovos.persona.tools.radio.call '{"name": "play", "kwargs": {}}'
curl -s -X POST http://hub/bus -H 'Content-Type: application/json' -d '{"type": "ovos.persona.tools.radio.call", "data": {"name": "play"}}'
