for topic, answer in [
    ("ovos.persona.tools.wordnet.call", "ovos.persona.tools.wordnet.call.response"),
]:
    send(topic, answer)
