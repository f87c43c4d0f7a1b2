def handle(message):
    if message.msg_type == "ovos.persona.tools.wordnet.call":
        return call(message)
    if message.msg_type in ("ovos.persona.tools.a.call.response", "speak"):
        return None
    match message.msg_type:
        case "ovos.persona.tools.clock.call":
            return clock(message)


handlers = {"ovos.persona.tools.math.call": handle}
