jq -cn --arg id "$1" '{type: ("ovos.persona.tools." + $id + ".call"), data: {name: "x"}}' | ws
