echo '{"type":"ovos.persona.tools.discover"}' | ws
echo '{"type":"ovos.persona.tools.call","data":{"toolbox_id":"a","name":"b","kwargs":{}}}' | ws
topic="ovos.persona.tools.$verb"x
