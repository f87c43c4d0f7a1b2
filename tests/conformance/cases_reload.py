"""TOOLS-1 §5 reload. The last cases: a host that binds twice on reload answers everything twice from then on."""

from bench import CALL, INVOKE, LIST, RELOAD, call, result
from host import GROWN
from suite import case, contains, equal, true


def by_pair(tools):
    return {(each["toolbox_id"], each["name"]): each for each in tools}


@case("TOOLS-1 §5", "reload answers once, with the list after every toolbox was refreshed", "service")
def reload(bench):
    """ovos.tools.reload answers with tools, in which a tool that came since is listed."""
    before = by_pair(bench.ask(LIST).data["tools"])
    bench.ask(CALL, call("alpha", "grow", listed=True))
    try:
        frame = bench.ask(RELOAD)
        equal("keys of data", ["tools"], list(frame.data))
        after = by_pair(frame.data["tools"])
        equal("pairs", sorted([*before, ("alpha", "grown")]), sorted(after))
        contains("definition", {**GROWN, "toolbox_id": "alpha"}, after["alpha", "grown"])
        equal("pairs of list", sorted(after), sorted(by_pair(bench.ask(LIST).data["tools"])))
        equal("data", {"name": "grown", "result": {"grown": True}}, bench.ask(INVOKE, {"name": "grown"}).data)
    finally:
        bench.ask(CALL, call("alpha", "grow", listed=False))
    true("pairs after shrinking", ("alpha", "grown") not in by_pair(bench.ask(RELOAD).data["tools"]), "no grown", "grown")


@case("TOOLS-1 §5", "after a reload a call still runs once and is answered once", "service")
def once_after_reload(bench):
    """A reload refreshes what is loaded; it adds no second answer."""
    bench.ask(RELOAD)
    before = bench.runs()
    equal("result", {"text": "a", "times": 1}, result(bench.ask(CALL, call("alpha", "echo", text="a", times=1))))
    bench.ask_all("ovos.persona.tools.discover")
    equal("runs", before + 1, bench.runs())
