send() { websocat -1 ws://localhost:8181/core; }
send <<EOF
{"type": "ovos.persona.tools.$1.call",
 "data": {"name": "x", "kwargs": {}}}
EOF
cat <<'JSON' > /tmp/frame.json
{"type": "ovos.persona.tools.calendar.call", "data": {"name": "today"}}
JSON
# ovos.persona.tools.calendar.call is what it was
