"""Child processes that are ended in every case, and free ports for them."""

import os
import signal
import socket
import subprocess
import time


class NotReady(Exception):
    """A part of the bench did not come up in time."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, child, seconds=15):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if child.ended():
                raise NotReady(f"{child.name} ended with {child.process.returncode}:\n{child.log_tail()}")
            time.sleep(0.02)
    raise NotReady(f"{child.name} does not listen on port {port} after {seconds} s:\n{child.log_tail()}")


class Child:
    """A process in its own group, its output in a file."""

    def __init__(self, name, command, folder):
        self.name = name
        self.log_path = os.path.join(folder, f"{name}.log")
        # A private home for settings, state and sockets: the run touches nothing of the user's.
        own = {"XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder, "XDG_DATA_HOME": folder,
               "XDG_CACHE_HOME": folder, "XDG_RUNTIME_DIR": folder, "OVOS_DEFAULT_LOG_LEVEL": "WARNING"}
        with open(self.log_path, "wb") as log:
            try:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env={**os.environ, **own})
            except OSError as error:
                raise NotReady(f"{name} cannot be started: {error}") from error

    def ended(self):
        return self.process.poll() is not None

    def log_tail(self, lines=20):
        with open(self.log_path, errors="replace") as log:
            return "".join(log.readlines()[-lines:])

    def stop(self, grace=5):
        if self._signal(signal.SIGTERM):
            try:
                self.process.wait(grace)
            except subprocess.TimeoutExpired:
                pass
        # Whatever is left of the group, also after its leader ended by itself.
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
            return True
        except ProcessLookupError:
            return False
