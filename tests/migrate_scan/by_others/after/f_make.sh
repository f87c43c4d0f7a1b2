#!/usr/bin/env bash
for box in wiki math; do
  ovos-bus-send "ovos.persona.tools.${box}.call" '{"name":"ping","kwargs":{}}'
done
call() { local topic=ovos.persona.tools.$1.call; shift; bus "$topic" "$@"; }
echo "calling ovos.persona.tools.$box.call" >&2
bus_listen | jq -r 'select(.type == "ovos.persona.tools.wiki.call.response") | .data.result'
bus_listen | grep --line-buffered ovos.persona.tools | tee log
curl -s "http://hub/emit?type=ovos.persona.tools.wiki.call&name=x"
mosquitto_pub -t ovos/bus -m "{\"type\": \"ovos.persona.tools.wiki.call\", \"data\": {\"name\": \"x\", \"kwargs\": {}}}"
wscat -c ws://localhost:8181/core -x '{"type":"ovos.tools.invoke","data":{"name":"x","kwargs":{}}}'
