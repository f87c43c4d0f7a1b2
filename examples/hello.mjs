#!/usr/bin/env node
// The smallest toolbox in JavaScript: a line of JSON in, a line of JSON out. stdout is the protocol; log to stderr.
const hello = { name: "hello", description: "Greets someone by name.", parameters: [
  { name: "name", type: "string", required: true, description: "Whom to greet." }] };

function respond({ op, name, kwargs }) {
  if (op === "describe") return { result: { tools: [hello] } };
  if (op !== "call") return { error: `Unknown op: '${op}'` };
  if (name !== "hello") return { error: `Unknown tool: '${name}'` };
  return { result: { greeting: `Hello, ${kwargs.name}!` } };
}

function answer(line) {
  let id;
  try {
    const request = JSON.parse(line);
    id = request.id;
    if (id !== undefined) console.log(JSON.stringify({ id, ...respond(request) }));
  } catch (error) {
    // What goes wrong in a request is its answer; a line that is no request is for the log.
    if (id === undefined) console.error(`skipped a line that is no request: ${error}`);
    else console.log(JSON.stringify({ id, error: `${error.name}: ${error.message}` }));
  }
}

let rest = ""; // what has come of a line whose end has not
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  lines.filter((line) => line.trim()).forEach(answer);
});
