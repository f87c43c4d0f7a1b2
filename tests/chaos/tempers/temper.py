"""A toolbox with a temper, named in its config: what it does to a call is decided by the call's own `roll`, 0 to 99."""
import json, os, signal, subprocess, sys, threading, time

lock = threading.Lock()
kept = []


def say(text):
    with lock:
        sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


def answer(request):
    say(json.dumps({"id": request["id"], "result": {"token": request["kwargs"]["token"]}}))


def crash(request, roll):
    if roll < 8:
        os.kill(os.getpid(), signal.SIGKILL)
    if roll < 16:
        sys.stderr.write("no more of this\n")
        os._exit(3)
    if roll < 20:
        os.close(1)
        time.sleep(600)
    answer(request)


def hang(request, roll):
    if roll < 4:
        time.sleep(600)
    answer(request)


def flood(request, roll):
    for _ in range(roll // 10):
        say("x" * 10_000)
        sys.stderr.write(("y" * 99 + "\n") * 100)
    answer(request)


def noise(request, roll):
    other = request["id"] + 1_000_000
    lines = [b"Processing request", b"{", b"\xff\xfe", b"[]", b'{"id": null}', b'{"event": "dance"}', b"\r", b"7",
             b'{"id": %d, "result": "of nobody"}' % other, b'{"id": "x", "result": 1}', "\ufeff{}".encode()]
    say(lines[roll % len(lines)])
    answer(request)
    if roll < 30:
        answer(request)


def slow(request, roll):
    time.sleep(roll * 0.003)
    answer(request)


def leak(request, roll):
    kept.append(bytearray(roll * 20_000))
    answer(request)


def fork(request, roll):
    # Never the same group twice: some stay in it, some leave it.
    subprocess.Popen(["sleep", "300"], start_new_session=roll < 30, stdin=subprocess.DEVNULL, stdout=1 if roll % 2 else -3)
    if roll < 5:
        os._exit(0)
    answer(request)


def healthy(request, _roll):
    answer(request)


def main():
    temper = healthy
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "describe":
            temper = globals()[request["config"]["temper"]]
            say(json.dumps({"id": request["id"], "result": {"tools": [{"name": "do", "description": "Does what its temper says."}]}}))
        else:
            temper(request, request["kwargs"]["roll"])


main()
