#!/usr/bin/env bash
toolbox=$1
frame="{\"type\": \"ovos.persona.tools.${toolbox}.call\", \"data\": {\"name\": \"$2\", \"kwargs\": {}}}"
wscat -c "$BUS" -x "$frame"
