PREFIX=ovos.persona.tools
topic="${PREFIX}.wordnet.call"
answer=$(printf '{"type":"%s","data":{}}' "$topic" | websocat -n1 "$BUS")
ovos-send "$PREFIX.$1.call" '{"name": "x"}'
