#!/usr/bin/env node
// A toolbox: the time, time zones, and the time between dates. Speaks the stdio protocol of toolhost, version 1.

import { Console } from "node:console";
import { between, parse, show, wallText, zoneName } from "./zones.mjs";

// stdout belongs to the protocol: a stray console.log() goes to the log instead.
globalThis.console = new Console(process.stderr);

let defaultZone = Intl.DateTimeFormat().resolvedOptions().timeZone; // heeds TZ

const ZONE = { type: "string", minLength: 1, maxLength: 80, examples: ["Europe/Lisbon", "America/New_York", "UTC"] };
const TIME = { type: "string", minLength: 1, maxLength: 80 };
const MOMENT = {
  type: "object",
  required: ["datetime", "timezone", "utc_offset", "weekday"],
  properties: {
    datetime: { type: "string", description: "ISO 8601, with the offset from UTC." },
    timezone: { type: "string" },
    utc_offset: { type: "string" },
    weekday: { type: "string" },
  },
};
const hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

const schema = (required, properties, others = {}) => ({ type: "object", required, properties, ...others });
const closed = { additionalProperties: false }; // so a misspelled argument is an error, not ignored

const tools = {
  now: {
    description: "The current date, time and weekday, here or in another time zone.",
    argument_schema: schema([], {
      timezone: { ...ZONE, description: "IANA name of the time zone. Left out: the user's own." },
    }, closed),
    output_schema: { ...MOMENT, required: [...MOMENT.required, "unix_seconds"], properties: {
      ...MOMENT.properties, unix_seconds: { type: "integer", description: "Seconds since 1970 in UTC." },
    } },
    run({ timezone = defaultZone }) {
      const moment = seconds();
      return { ...show(moment, timezone), unix_seconds: moment };
    },
  },

  convert: {
    description: "Convert a date and time from one time zone to another. Says so when clock changes (daylight saving) " +
      "make the time ambiguous or skip it.",
    argument_schema: schema(["time", "to"], {
      time: { ...TIME, examples: ["2026-07-01T14:30", "14:30"],
        description: "The time: 2026-07-01T14:30, or 14:30 for today, or now. An offset after it (Z, +02:00) wins over from." },
      from: { ...ZONE, description: "IANA name of the time zone the time is in. Left out: the user's own." },
      to: { ...ZONE, description: "IANA name of the time zone wanted." },
    }, closed),
    output_schema: schema(["from", "to", "kind"], {
      from: MOMENT,
      to: MOMENT,
      kind: { enum: ["exact", "gap", "overlap"],
        description: "gap: the clocks skip this time, so a later one was taken. overlap: it comes twice; this is the first." },
      note: { type: "string", description: "What was made of a gap or an overlap, in words." },
      alternative: schema(["from", "to"], { from: MOMENT, to: MOMENT }, { description: "In an overlap, the second one." }),
    }),
    run({ time, from = defaultZone, to }) {
      const { kind, wall, moments } = parse(time, from, seconds());
      const [first, second] = moments.map((moment) => ({ from: show(moment, from), to: show(moment, to) }));
      const asked = `${wallText(wall).replace("T", " ")} in ${zoneName(from)}`;
      if (kind === "gap") {
        return { ...first, kind, note: `${asked} does not exist: the clocks are put forward; taken as ${first.from.datetime}` };
      }
      if (kind === "overlap") {
        return { ...first, kind, note: `${asked} comes twice: the clocks are put back; the first is taken`, alternative: second };
      }
      return { ...first, kind };
    },
  },

  difference: {
    description: "The time from one date, or date and time, to another: in seconds, in days, and in calendar years, " +
      "months and days. Use it for ages, countdowns and durations.",
    argument_schema: schema(["start", "end"], {
      start: { ...TIME, examples: ["1969-07-20", "2026-03-29T14:30"], description: "From when: a date, a date and time, or now." },
      end: { ...TIME, examples: ["2026-11-30"], description: "Until when: likewise." },
      timezone: { ...ZONE, description: "Time zone both are in; a day with a clock change is not 24 hours. Left out: the user's own." },
    }, closed),
    output_schema: schema(["direction", "total_seconds", "total_days", "calendar"], {
      direction: { enum: ["forward", "backward", "none"], description: "backward: the end is before the start." },
      total_seconds: { type: "integer", description: "Negative when backward." },
      total_days: { type: "integer", description: "Whole calendar days; negative when backward." },
      calendar: schema(["years", "months", "days", "seconds"], Object.fromEntries(
        ["years", "months", "days", "seconds"].map((unit) => [unit, { type: "integer", minimum: 0 }]),
      ), { description: "The same, in years, months, days and the seconds left over; never negative." }),
    }),
    run({ start, end, timezone = defaultZone }) {
      const now = seconds();
      const [from, to] = [start, end].map((text) => parse(text, timezone, now));
      const total_seconds = to.moment - from.moment;
      const sign = Math.sign(total_seconds);
      const [earlier, later] = sign < 0 ? [to, from] : [from, to];
      const { total_days, ...calendar } = between(earlier, later, timezone);
      return {
        direction: ["backward", "none", "forward"][sign + 1],
        total_seconds,
        total_days: sign * total_days || 0, // never -0
        calendar,
      };
    },
  },
};

const seconds = () => Math.floor(Date.now() / 1000);

function describe({ config }) {
  if (config?.timezone != null) defaultZone = zoneName(config.timezone);
  return {
    protocol: 1,
    version: "1.0.0",
    description: "The time, time zones, and the time between dates.",
    capabilities: ["concurrent"], // no call ever waits for anything, so the host need not send them one by one
    tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool, hints })),
  };
}

function respond(request) {
  const { op, name, kwargs } = request;
  try {
    if (op === "describe") return { result: describe(request) };
    if (op !== "call") return { error: `Unknown op: '${String(op).slice(0, 80)}'` };
    // hasOwn: every object also has a "constructor", which is no tool of ours.
    if (typeof name !== "string" || !Object.hasOwn(tools, name)) {
      return { error: `Unknown tool: '${String(name).slice(0, 80)}'` };
    }
    if (kwargs != null && (typeof kwargs !== "object" || Array.isArray(kwargs))) {
      return { error: "TypeError: kwargs must be an object" };
    }
    return { result: tools[name].run(kwargs ?? {}) };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

/** The lines of stdin. Node's readline would also break a line at U+2028, which JSON allows inside a string. */
async function* lines(stream) {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const [first, ...others] = chunk.split("\n");
    rest += first;
    for (const piece of others) {
      yield rest;
      rest = piece;
    }
  }
  yield rest;
}

process.stdout.on("error", () => process.exit(1)); // the host is gone

for await (const line of lines(process.stdin)) {
  if (line.trim() === "") continue;
  let request;
  try {
    request = JSON.parse(line.trim()); // trim takes a byte order mark too
  } catch (error) {
    console.error(`skipped a line that is no request: ${error.message}`);
    continue;
  }
  // Nobody waits for an answer to what has no id.
  if (request?.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ id: request.id, ...respond(request) })}\n`);
}
