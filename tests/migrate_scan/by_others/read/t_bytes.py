sock.send(b"ovos.persona.tools." + box.encode() + b".call")
topic = str(PREFIX) + "ovos.persona.tools." + box + ".call"
