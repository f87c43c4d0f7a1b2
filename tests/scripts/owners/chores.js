#!/usr/bin/env node
'use strict'
const fs = require('fs')
const os = require('os')
const path = require('path')

const FILE = process.env.CHORES || path.join(os.homedir(), 'chores.json')
let cache = null

/**
 * @typedef {Object} Chore
 * @property {string} what - What has to be done
 * @property {string} [who] - Who does it
 * @property {('daily'|'weekly'|'once')} every
 * @property {number} [minutes=15] - How long it takes
 */

function load () {
  if (!cache) cache = fs.existsSync(FILE) ? JSON.parse(fs.readFileSync(FILE, 'utf8')) : []
  return cache
}

/**
 * Add a chore to the list.
 *
 * @param {Chore} chore - The chore
 * @returns {number} how many there are now
 */
function addChore (chore) {
  const chores = load()
  chores.push(chore)
  fs.writeFileSync(FILE, JSON.stringify(chores, null, 2))
  console.log('wrote %s', FILE)
  return chores.length
}

/**
 * The chores of one person, or of everybody.
 * @param {string=} who
 * @param {number} [maxMinutes] Leave out what takes longer
 * @return {Chore[]}
 */
function chores (who, maxMinutes = Infinity) {
  return load().filter(c => (!who || c.who === who) && (c.minutes || 0) <= maxMinutes)
}

// not documented on purpose
function forget () { cache = null }

module.exports = { addChore, chores, forget }

if (require.main === module) {
  const [,, cmd, ...args] = process.argv
  if (cmd === 'add') addChore({ what: args.join(' '), every: 'once' })
  else console.table(chores(args[0]))
}
