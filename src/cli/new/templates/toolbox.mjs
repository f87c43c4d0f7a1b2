#!/usr/bin/env node
// @NAME@: two tools to start from. Change them, add more, then run `toolhost check -- ./@FILE@`.
import { tool, serve } from './toolhost.mjs'

const birthdays = new Map([['Ada', '10 December'], ['Grace', '9 December']])

tool({
  name: 'hello',
  description: 'Greets someone.',
  parameters: [{ name: 'name', type: 'string', default: 'world', description: 'Whom to greet.' }],
}, ({ name = 'world' }) => `Hello, ${name}!`)

tool({
  name: 'birthday',
  description: 'Tells when someone has their birthday.',
  parameters: [{ name: 'name', type: 'string', required: true, description: 'Whose birthday it is.' }],
}, ({ name }) => {
  if (!birthdays.has(name)) throw new Error(`nobody called ${name} is in the book`) // the caller reads this
  return birthdays.get(name)
})

serve()
