def call(bus, config, name):
    bus.emit(Message(f'ovos.persona.tools.{config["toolbox"]}.call', {'name': name}))
