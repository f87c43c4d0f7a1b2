BOX=$1
websocat "$URL" <<< "{\"type\": \"ovos.persona.tools.$BOX.call\", \"data\": {\"name\": \"$2\"}}"
MSG="{\"type\":\"ovos.persona.tools.cal.call\",\"data\":{}}"
printf '{"type":"ovos.persona.tools.call","data":{"toolbox_id":"%s"}}\n' "$BOX"
printf '{"type":"ovos.persona.tools.%s.call","data":{"name":"x"}}\n' "$BOX" | websocat "$URL"
