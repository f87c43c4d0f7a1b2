"""Calls `ovos.persona.tools.<toolbox_id>.call`.

    bus.emit(Message("ovos.persona.tools.wordnet.call"))
"""
# once this was ovos.persona.tools.wordnet.call
def call(bus):
    """Sends 'ovos.persona.tools.{toolbox_id}.call' no more."""
    LOG.warning("ovos.persona.tools.wordnet.call is deprecated")
    raise RuntimeError("nobody answers ovos.persona.tools.x.call!")
