"""ovos.persona.tools.call replaced the topics that had the toolbox in them."""
A = "ovos.persona.tools.wiki.discover"
B = "https://docs.example.org/ovos.persona.tools.call#top"
C = "ovos.persona.tools.call.response"
D = f"ovos.persona.tools.call{suffix}"
E = "ovos.persona.tool.wiki.call"
F = "ovos_persona_tools_wiki_call"
G = "OVOS.PERSONA.TOOLS.WIKI.CALL"
H = "mycroft.ovos.persona.tools.wiki.call"
I = importlib.import_module("ovos.persona.tools.wiki")
J = os.path.join("ovos.persona.tools", "wiki", "call")
K = f"{base}.persona.tools.{box}.call"
L = "ovos.persona.tools" in sys.modules
M = logging.getLogger("ovos.persona.tools.wiki")
