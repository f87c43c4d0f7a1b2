#!/bin/sh
TOOLBOX=${1:?toolbox}
jq -cn --arg t "ovos.persona.tools.${TOOLBOX}.call" --arg w "$2" \
  '{type: $t, data: {name: "define_word", kwargs: {word: $w}}, context: {}}' | websocat "$BUS"
jq -cn '{type: "ovos.persona.tools.wordnet.call", data: {name: "x", kwargs: {}}}' | websocat "$BUS"
