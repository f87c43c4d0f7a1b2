#!/usr/bin/env bash
set -euo pipefail
echo '{"type":"ovos.persona.tools.wiki.call","data":{"name":"search","kwargs":{"q":"rust"}},"context":{}}' | websocat -n1 ws://127.0.0.1:8181/core
