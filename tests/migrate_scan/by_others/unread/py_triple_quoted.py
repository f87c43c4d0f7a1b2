"""Sends ovos.persona.tools.docs.call for people."""
PAYLOAD = """
{
  "type": "ovos.persona.tools.docs.call",
  "data": {"name": "read", "kwargs": {}}
}
"""
