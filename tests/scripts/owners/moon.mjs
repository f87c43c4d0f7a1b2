// Moon phases, good to a few hours.
import { fileURLToPath } from 'node:url'

const SYNODIC = 29.530588853
const NEW_MOON = Date.UTC(2000, 0, 6, 18, 14)
const NAMES = ['new', 'waxing crescent', 'first quarter', 'waxing gibbous', 'full', 'waning gibbous', 'last quarter',
  'waning crescent']

const age = (date) => {
  const days = (date.getTime() - NEW_MOON) / 86400000
  return ((days % SYNODIC) + SYNODIC) % SYNODIC
}

/**
 * Phase of the moon on a day.
 * @param {Date} [date] The day; today if left out
 * @returns {{name: string, age: number}}
 */
export function phase(date = new Date()) {
  const days = age(date)
  return { name: NAMES[Math.round(days / SYNODIC * 8) % 8], age: Number(days.toFixed(1)) }
}

/**
 * The next full moons.
 * @param {Date} from First day
 * @param {number} [count=3] How many
 * @returns {Promise<Date[]>}
 */
export async function nextFull(from, count = 3) {
  let wait = SYNODIC / 2 - age(from)
  if (wait < 0) wait += SYNODIC
  return Array.from({ length: count }, (_, i) => new Date(from.getTime() + (wait + i * SYNODIC) * 86400000))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(phase(), await nextFull(new Date()))
}
