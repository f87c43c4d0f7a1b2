class WikiCall(OpenVoiceOSMessage):
    """``ovos.persona.tools.wiki.call``: asks."""
    message_type: Literal["ovos.persona.tools.wiki.call"] = "ovos.persona.tools.wiki.call"
    data: WikiData
