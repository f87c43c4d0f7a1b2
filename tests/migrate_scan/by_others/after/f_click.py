@click.command()
@click.option("--topic", default="ovos.persona.tools.wiki.call", show_default=True)
def main(topic):
    bus.emit(Message(topic, {"name": "x", "kwargs": {}}))
