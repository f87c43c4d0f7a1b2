bus.emit(
    Message(
        "ovos.persona.tools."
        "translator"
        ".call",
        {"name": "translate", "kwargs": {"text": "hallo"}},
    )
)
bus.emit(Message("ovos.persona.tools." f"{tb}" ".call", {"name": "x", "kwargs": {}}))
