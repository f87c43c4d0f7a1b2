def is_legacy_call(message):
    t = message.msg_type
    return t.startswith("ovos.persona.tools.") and t.endswith(".call")


def is_wiki(message):
    return message.msg_type == "ovos.persona.tools.wiki.call"
