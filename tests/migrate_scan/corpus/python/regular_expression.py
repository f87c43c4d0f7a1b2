import re

PREDECESSOR = re.compile(r"^ovos\.persona\.tools\.([^.]+)\.call$")
