B=wiki; N=x
s() { jq -c '[.type, .data]'; }
echo '{"type":"ovos.persona.tools.'"$B"'.call","data":{"name":"x"}}' | s
echo '{"type":"ovos.persona.tools.'$B'.call","data":{"name":"x"}}' | s
echo "{\"type\":\"ovos.persona.tools.$B.call\",\"data\":{\"name\":\"$N\"}}" | s
echo '{"type":"ovos.persona.tools.wiki.call","data":{"name":"'$N'"}}' | s
echo '{"type":"ovos.persona.tools.wiki.call","data":'"{\"name\":\"$N\"}"'}' | s
printf '{"type":"ovos.persona.tools.%s.call","data":{"name":"x"}}\n' "$B" | s
printf '{"type":"ovos.persona.tools.wiki.call","data":{"name":"%s"}}\n' "$N" | s
D='{"name":"x"}'
echo '{"type":"ovos.persona.tools.wiki.call","data":'$D'}' | s
echo "{\"type\":\"ovos.persona.tools.wiki.call\",\"data\":$D}" | s
s <<EOT
{"type": "ovos.persona.tools.$B.call", "data": $D}
EOT
s <<EOT
{"type": "ovos.persona.tools.$(echo wiki).call", "data": {"name": "$N"}}
EOT
s <<'EOT'
{"type": "ovos.persona.tools.wiki.call", "data": {"name": "it's $5"}}
EOT
s <<-EOT
	{"type": "ovos.persona.tools.${B:-x}.call", "data": {"name": "x"}}
	EOT
echo $'{"type":"ovos.persona.tools.wiki.call","data":{"name":"x"}}' | s
jq -cn --arg b "$B" '{type: "ovos.persona.tools.\($b).call", data: {name: "x"}} | [.type, .data]'
jq -cn --arg t "ovos.persona.tools.$B.call" '{type: $t, data: {name: "x"}} | [.type, .data]'
jq -cn '{type: "ovos.persona.tools.wiki.call", data: {name: "x"}} | [.type, .data]'
jq -cn --arg b "$B" '{type: ("ovos.persona.tools." + $b + ".call"), data: {name: "x", kwargs: {a: 1}}} | [.type, .data]'
jq -cn "{type: \"ovos.persona.tools.$B.call\", data: {name: \"x\"}} | [.type, .data]"
echo {\"type\":\"ovos.persona.tools.wiki.call\",\"data\":{\"name\":\"x\"}} | s
python3 -c "import json; print(json.dumps(['ovos.persona.tools.$B.call', {}]))"
python3 -c 'import json; M=lambda type, data: print(json.dumps([type, data])); M(type="ovos.persona.tools.wiki.call", data={"name": "x"})'
