import threading

done = threading.Event()


def on_answer(message):
    print(message.data.get("result") or message.data.get("error"))
    done.set()


bus.on("ovos.persona.tools.wiki.call.response", on_answer)
bus.once(f"ovos.persona.tools.{other}.call.response", on_answer)
bus.emit(Message("ovos.persona.tools.wiki.call", {"name": "search", "kwargs": {"q": "ada"}}))
done.wait(5)
bus.remove("ovos.persona.tools.wiki.call.response", on_answer)
