msg = bus.wait_for_response(Message(f"ovos.persona.tools.{box}.call",
                                    context={"source": ["mana"], "destination": ["skills"]}))
msg = bus.wait_for_response(Message("ovos.persona.tools.wiki.call", {"name": "x"}, {"source": "mana"}), timeout=15)
