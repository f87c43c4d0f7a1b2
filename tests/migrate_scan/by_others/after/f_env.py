import os

TOPIC = os.environ.get("TOOL_TOPIC", "ovos.persona.tools.wiki.call")
TOPIC2 = os.getenv("X") or "ovos.persona.tools.math.call"
argparse.ArgumentParser().add_argument("--box", help="toolbox, as in ovos.persona.tools.BOX.call")
