@bus_handler("ovos.persona.tools.timer.call")
def on_timer(message):
    return {"result": {}}
