import { readFileSync } from 'node:fs'
import { serve, tool } from './toolhost.mjs'

tool({ name: 'last_lines', description: 'The last lines of a text file.', parameters: {
  file: { type: 'string', required: true, description: 'The file.' },
  count: { type: 'integer', default: 10, description: 'How many lines.' },
} }, ({ file, count }) => {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return { lines: lines.slice(Math.max(lines.length - count, 0)) }
})
serve()
