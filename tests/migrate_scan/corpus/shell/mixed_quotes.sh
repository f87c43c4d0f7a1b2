ws '{"type":"ovos.persona.tools.'"$TB"'.call","data":{"name":"x"}}'
