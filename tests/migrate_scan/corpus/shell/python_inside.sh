python3 -c "
bus.emit(Message('ovos.persona.tools.wordnet.call', {'name': 'x'}))
bus.emit(Message(f'ovos.persona.tools.{box}.call', {'name': 'x'}))
"
