setup() { BOX=wiki; }

@test "old topic" {
  run ovos-bus-send "ovos.persona.tools.$BOX.call" '{"name": "x"}'
  [[ "$output" == *'"type": "ovos.persona.tools.call.response"'* ]]
  assert_output --partial 'ovos.persona.tools.wiki.call.response'
}
