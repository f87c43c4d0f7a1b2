import { readFileSync } from 'node:fs'

/**
 * The last lines of a text file.
 * @param {string} file The file.
 * @param {number} [count=10] How many lines.
 */
export function last_lines(file, count = 10) {
  return { lines: readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count) }
}
