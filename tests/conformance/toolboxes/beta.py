"""The second owner of the name `shared`; its errors are written as text."""

from serve import error_as_text, serve, tool


def shared():
    return {"owner": "beta"}


def other():
    return {"owner": "beta"}


def refuse():
    raise LookupError("no such page")


TOOLS = [
    tool(shared, "A name that two toolboxes own.", output={"owner": {"type": "string"}}),
    tool(other, "A name that one toolbox owns.", output={"owner": {"type": "string"}}),
    tool(refuse, "Raise LookupError: no such page."),
]


def tools():
    return TOOLS


if __name__ == "__main__":
    serve(tools, error_as_text)
