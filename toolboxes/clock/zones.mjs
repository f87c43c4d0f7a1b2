// Moments and wall clocks. The time zones are those of Intl, so there is no table of them here.
//
// A moment is a number of seconds since 1970 in UTC. A wall clock is what hangs on the wall in some zone; it is kept
// as the seconds its reading would be in UTC, so that the difference of the two is the zone's offset.

const DAY = 86400;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const formatters = new Map(); // making one costs far more than using it

function formatter(zone) {
  if (typeof zone !== "string") throw new TypeError("a time zone must be a string");
  if (!formatters.has(zone)) {
    let made;
    try {
      made = new Intl.DateTimeFormat("en-US", {
        timeZone: zone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23", era: "short",
        year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
      });
    } catch {
      throw new RangeError(`no such time zone: '${zone.slice(0, 80)}'; names look like Europe/Paris or UTC`);
    }
    formatters.set(zone, made);
  }
  return formatters.get(zone);
}

/** The zone's name in its usual capitals. Intl also renames (Asia/Kolkata to Asia/Calcutta): that is not taken over. */
export function zoneName(zone) {
  const known = formatter(zone).resolvedOptions().timeZone;
  return known.toLowerCase() === zone.toLowerCase() ? known : zone;
}

/** The wall clock that reads the given date and time; an error if the calendar has no such day. */
export function wallClock(year, month, day, hour = 0, minute = 0, second = 0) {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC would take the years 0 to 99 for 1900 to 1999
  const valid = year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!valid || hour > 23 || minute > 59 || second > 59) {
    const [y, ...rest] = [year, month, day, hour, minute, second].map((n) => String(n).padStart(2, "0"));
    throw new RangeError(`no such date and time: ${y.padStart(4, "0")}-${rest[0]}-${rest[1]} ${rest.slice(2).join(":")}`);
  }
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
}

/** What the wall clock reads in a zone at a moment. */
export function wallAt(moment, zone) {
  const part = {};
  for (const { type, value } of formatter(zone).formatToParts(moment * 1000)) part[type] = value;
  const year = part.era.startsWith("B") ? 1 - part.year : +part.year;
  const date = new Date(0);
  date.setUTCFullYear(year, part.month - 1, +part.day);
  return date.getTime() / 1000 + part.hour * 3600 + part.minute * 60 + +part.second;
}

/**
 * The moments at which a zone's wall clock shows a reading: mostly one; two where the clocks were put back ("overlap",
 * the earlier first); none where they were put forward ("gap"). A reading in a gap is taken as if the clocks had not
 * yet been changed, as calendars do: 02:30 becomes 03:30.
 */
export function momentsOf(wall, zone) {
  // Whichever offset holds, it is that of the day before or of the day after.
  const [before, after] = [wall - DAY, wall + DAY].map((moment) => wallAt(moment, zone) - moment);
  const moments = [...new Set([wall - before, wall - after])]
    .filter((moment) => wallAt(moment, zone) === wall)
    .sort((a, b) => a - b);
  if (moments.length === 0) return { kind: "gap", moments: [wall - before] };
  return { kind: moments.length === 2 ? "overlap" : "exact", moments };
}

/** "2026-03-29T01:30:00" for a wall clock. */
export function wallText(wall) {
  const text = new Date(wall * 1000).toISOString();
  // A zone can push the first or last day out of the four digits of a year.
  if (!/^\d{4}-/.test(text)) throw new RangeError("only the years 0001 to 9999 can be told");
  return text.slice(0, 19);
}

/** A moment as a caller wants to read it. */
export function show(moment, zone) {
  const wall = wallAt(moment, zone);
  const offset = offsetText(wall - moment);
  return {
    datetime: wallText(wall) + offset,
    timezone: zoneName(zone),
    utc_offset: offset,
    weekday: WEEKDAYS[new Date(wall * 1000).getUTCDay()],
  };
}

function offsetText(seconds) {
  const size = Math.abs(seconds);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  // Seconds only in the local times of before the time zones: Paris was nine minutes and 21 seconds ahead.
  return `${seconds < 0 ? "-" : "+"}${two(size / 3600)}:${two((size % 3600) / 60)}${size % 60 ? `:${two(size % 60)}` : ""}`;
}

/**
 * Whole years, months and days from one parsed time to a later one, and the seconds left over; `total_days` counts the
 * same days without months.
 */
export function between(earlier, later, zone) {
  const firstDay = Math.floor(earlier.wall / DAY);
  const timeOfDay = earlier.wall - firstDay * DAY;
  const momentOn = (day) => momentsOf(day * DAY + timeOfDay, zone).moments[0];
  // The last day on which the earlier one's time of day is not past the later one.
  let lastDay = Math.floor(later.wall / DAY);
  while (momentOn(lastDay) > later.moment) lastDay -= 1;
  // Not whole days at all. The first day has its own case since a time of day can come twice on it.
  if (lastDay <= firstDay) return { total_days: 0, years: 0, months: 0, days: 0, seconds: later.moment - earlier.moment };

  const [a, b] = [firstDay, lastDay].map((day) => new Date(day * DAY * 1000));
  let months = (b.getUTCFullYear() - a.getUTCFullYear()) * 12 + b.getUTCMonth() - a.getUTCMonth();
  if (b.getUTCDate() < a.getUTCDate()) months -= 1;
  // Where the month so reached is too short for the day, its last day stands for it: 31 January + 1 month = 28 February.
  const monthStart = (count) => wallClock(Math.floor(count / 12), (count % 12) + 1, 1) / DAY;
  const reached = a.getUTCFullYear() * 12 + a.getUTCMonth() + months;
  const day = Math.min(monthStart(reached) + a.getUTCDate() - 1, monthStart(reached + 1) - 1);
  return {
    total_days: lastDay - firstDay,
    years: Math.floor(months / 12),
    months: months % 12,
    days: lastDay - day,
    seconds: later.moment - momentOn(lastDay),
  };
}

const TIME = /^(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:^|[T ])(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Reads "2026-03-29", "2026-03-29T14:30", "14:30" (today) or "now". With an offset or Z after its time it is a moment
 * whatever the zone; otherwise it is what the wall clock of the zone shows. `kind` and `moments` are as in momentsOf.
 */
export function parse(text, zone, now) {
  if (/^now$/i.test(text)) return { moment: now, kind: "exact", wall: wallAt(now, zone), moments: [now] };
  const found = typeof text === "string" && text.trim() !== "" && TIME.exec(text.trim());
  if (!found) {
    throw new RangeError(`not a date or time: '${String(text).slice(0, 80)}'; write 2026-03-29, 2026-03-29T14:30, 14:30 or now`);
  }
  const offset = found[7];
  const today = wallText(wallAt(now, zone)).split("T")[0].split("-");
  const date = (found[1] ? found.slice(1, 4) : today).map(Number);
  const wall = wallClock(...date, ...found.slice(4, 7).map((digits) => Number(digits ?? 0)));
  if (!offset) {
    const { kind, moments } = momentsOf(wall, zone);
    return { moment: moments[0], kind, wall, moments };
  }
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [0, "+", 0, 0];
  if (hours > 23 || minutes > 59) throw new RangeError(`no such offset: '${offset}'`);
  const moment = wall - (sign === "-" ? -1 : 1) * (hours * 3600 + (minutes ?? 0) * 60);
  return { moment, kind: "exact", wall: wallAt(moment, zone), moments: [moment] };
}
