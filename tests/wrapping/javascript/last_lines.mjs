import { readFileSync } from 'node:fs'

/**
 * The last lines of a text file.
 * @param {string} file The file.
 * @param {number} [count=10] How many lines.
 */
export function last_lines(file, count = 10) {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return { lines: lines.slice(Math.max(lines.length - count, 0)) }
}
