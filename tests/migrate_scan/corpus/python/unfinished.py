TOOLS_PREFIX = "ovos.persona.tools."


def topic(toolbox, verb):
    return f"ovos.persona.tools.{toolbox}.{verb}"
