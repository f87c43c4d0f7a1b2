async def main():
    async with AsyncMessageBusClient() as bus:
        r = await bus.wait_for_response(Message("ovos.persona.tools.wiki.call", {"name": "x", "kwargs": {}}))
        r = await asyncio.wait_for(bus.ask("ovos.persona.tools.wiki.call", name="x"), 5)
        async for m in bus.listen("ovos.persona.tools.wiki.call.response"):
            print(m)
