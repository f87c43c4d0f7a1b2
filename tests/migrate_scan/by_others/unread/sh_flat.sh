websocat -n1 "$BUS" <<< '{"type":"ovos.tools.invoke","data":{"name":"add","kwargs":{"a":1}}}'
websocat -n1 "$BUS" <<< '{"type":"ovos.tools.invoke","data":{"name":"add","args":{"a":1}}}'
grep -r ovos.persona.tools. src/ || true
