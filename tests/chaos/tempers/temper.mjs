// The tempers of temper.py in Node; here calls run at once, since it announces `concurrent`.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const kept = [];
const say = (text) => process.stdout.write(text + "\n");
const answer = ({ id, kwargs }) => say(JSON.stringify({ id, result: { token: kwargs.token } }));
const later = (ms) => new Promise((done) => setTimeout(done, ms));

const tempers = {
  healthy: answer,
  crash(request, roll) {
    if (roll < 8) process.kill(process.pid, "SIGKILL");
    if (roll < 20) process.exit(3);
    answer(request);
  },
  hang(request, roll) {
    if (roll < 2) for (;;);
    if (roll >= 4) answer(request);
  },
  flood(request, roll) {
    for (let n = 0; n < roll / 10; n += 1) {
      say("x".repeat(10_000));
      process.stderr.write(("y".repeat(99) + "\n").repeat(100));
    }
    answer(request);
  },
  noise(request, roll) {
    const lines = ["Processing", "", "{", "[]", '{"id":null}', "\ufeff{}", `{"id":${request.id + 1e6},"result":"of nobody"}`];
    say(lines[roll % lines.length]);
    answer(request);
    if (roll < 30) answer(request);
  },
  async slow(request, roll) {
    await later(roll * 3);
    answer(request);
  },
  leak(request, roll) {
    kept.push(Buffer.alloc(roll * 20_000, 1));
    answer(request);
  },
  fork(request, roll) {
    spawn("sleep", ["300"], { detached: roll < 30, stdio: "ignore" });
    if (roll < 5) process.exit(0);
    answer(request);
  },
};

let temper = tempers.healthy;
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.op === "describe") {
    temper = tempers[request.config.temper];
    const tools = [{ name: "do", description: "Does what its temper says." }];
    say(JSON.stringify({ id: request.id, result: { tools, capabilities: ["concurrent"] } }));
  } else {
    temper(request, request.kwargs.roll);
  }
}
process.exit(0);
