if message.msg_type == f"ovos.persona.tools.{self.box}.call":
    handle(message)
if re.match(r"ovos\.persona\.tools\.(\w+)\.call$", t):
    pass
if re.match(r"ovos\.persona\.tools\.(?P<id>[^.]+)\.call", t):
    pass
if fnmatch(t, "ovos.persona.tools.*.call"):
    pass
if t.startswith("ovos.persona.tools.wiki."):
    pass
handlers = {"ovos.persona.tools.wiki.call": handle}
