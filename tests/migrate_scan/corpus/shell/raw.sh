#!/bin/sh
echo '{"type": "ovos.persona.tools.wordnet.call", "data": {"name": "define_word"}}' | websocat "$BUS"
