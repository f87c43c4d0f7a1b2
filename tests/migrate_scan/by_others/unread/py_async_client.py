async def call(session: aiohttp.ClientSession, toolbox: str, tool: str, **kwargs):
    async with session.ws_connect(URL) as ws:
        await ws.send_json(dict(
            type="ovos.persona.tools.%s.call" % toolbox,
            data=dict(name=tool, kwargs=kwargs),
            context={}))
        async for msg in ws:
            frame = msg.json()
            if frame["type"] == "ovos.persona.tools.%s.call.response" % toolbox:
                return frame["data"]
