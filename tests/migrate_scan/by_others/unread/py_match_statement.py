match message.msg_type:
    case "ovos.persona.tools.wiki.call":
        handle(message)
    case "ovos.persona.tools.call":
        handle(message)
