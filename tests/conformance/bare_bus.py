"""A bus that relays every frame to everyone and judges none, as the stable OVOS bus does.

On it the malformed session carriers reach the host, which the current ovos-messagebus drops itself.
"""

import asyncio
import sys

from tornado.web import Application
from tornado.websocket import WebSocketClosedError, WebSocketHandler

clients = set()


class Relay(WebSocketHandler):
    def check_origin(self, origin):
        return True

    def open(self):
        self.set_nodelay(True)
        clients.add(self)

    def on_close(self):
        clients.discard(self)

    def on_message(self, message):
        for client in list(clients):
            try:
                client.write_message(message, binary=isinstance(message, bytes))
            except WebSocketClosedError:
                clients.discard(client)


async def main(port):
    Application([("/core", Relay)], websocket_max_message_size=25 * 1024 * 1024).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
