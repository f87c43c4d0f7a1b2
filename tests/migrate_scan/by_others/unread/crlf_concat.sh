echo '{"type":"ovos.persona.tools.crlf.call"}' \
  | websocat x
