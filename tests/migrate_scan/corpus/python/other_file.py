from topics import PREFIX


def call(bus, toolbox, name):
    bus.emit(Message(PREFIX + toolbox + ".call", {"name": name}))
