"""The main fixture: every way a tool can answer, and a list of tools that grows and shrinks."""

from serve import serve, tool

STRING = {"type": "string"}
INTEGER = {"type": "integer"}

runs = 0
grown_is_listed = False


def counted(run):
    """Count the run, so that a case can prove that nothing ran, or that it ran once."""
    def run_and_count(**kwargs):
        global runs
        runs += 1
        return run(**kwargs)
    run_and_count.__name__ = run.__name__
    return run_and_count


@counted
def echo(text, times):
    # No default in this signature: the host fills in the default of the schema.
    return {"text": text * times, "times": times}


@counted
def mirror(**kwargs):
    return {"kwargs": kwargs}


@counted
def fail():
    raise ValueError("no such word")


@counted
def bad_output():
    return {"answer": "forty-two"}


@counted
def shared():
    return {"owner": "alpha"}


def grow(listed):
    global grown_is_listed
    grown_is_listed = listed
    return {"listed": listed}


@counted
def grown():
    return {"grown": True}


def tally():
    return {"runs": runs}


TOOLS = [
    tool(echo, "Repeat a text.",
         {"text": STRING, "times": {"type": "integer", "default": 1}}, ["text"],
         {"text": STRING, "times": INTEGER}),
    tool(mirror, "Give back every argument as it came.", output={"kwargs": {"type": "object"}}, closed=False),
    tool(fail, "Raise ValueError: no such word."),
    tool(bad_output, "Answer with a text where the schema wants an integer.", output={"answer": INTEGER}),
    tool(shared, "A name that two toolboxes own.", output={"owner": STRING}),
    tool(grow, "List the tool `grown` from now on, or hide it.",
         {"listed": {"type": "boolean"}}, ["listed"], {"listed": {"type": "boolean"}}),
    tool(tally, "How many tools of this toolbox have run, this one and `grow` apart.", output={"runs": INTEGER}),
]
GROWN = tool(grown, "Listed only after `grow`.", output={"grown": {"type": "boolean"}})


def tools():
    return TOOLS + [GROWN] if grown_is_listed else TOOLS


if __name__ == "__main__":
    serve(tools)
