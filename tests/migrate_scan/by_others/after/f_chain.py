topic = "ovos.persona.tools.{}.call" \
    .format(toolbox_id)
(bus
    .emit(Message(topic,
                  {"name": "a"})))
bus.emit(Message(
    type="ovos.persona.tools.x.call"
    , data={"name": "a"}
))
