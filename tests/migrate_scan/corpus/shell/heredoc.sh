send() { websocat ws://127.0.0.1:8181/core; }
send <<EOF
{"type": "ovos.persona.tools.$TOOLBOX.call", "data": {"name": "x"}}
EOF
send <<'EOF'
{"type": "ovos.tools.invoke", "data": {"name": "x", "kwargs": {}}}
EOF
