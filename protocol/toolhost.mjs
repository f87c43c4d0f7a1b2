// toolhost.mjs: tools in JavaScript for toolhost, by its stdio protocol, version 1. One file, no dependency, Node 18+.
//
// 1. A toolbox. Copy this file beside it:
//
//        import { tool, serve } from './toolhost.mjs'
//        tool({ name: 'add', description: 'Adds two numbers.',
//          parameters: { a: { type: 'number', required: true }, b: { type: 'number', required: true } } },
//          ({ a, b }) => a + b)
//        serve()
//
//    An exception is the call's error. A promise is waited for while other calls go on. console.log() goes to the log.
//
// 2. A plain script, `script: ./tools.js` in toolhost.yaml: toolhost runs this file and needs no copy of it. The
//    exported functions with a JSDoc comment are the tools; `exports.TOOLS = ['a', 'b']` names others, or fewer.
//
// JavaScript has values JSON has not. They become, and come from:
//
//     Date           "2026-01-31T12:00:00.000Z"        bigint      an integer, exact whatever its size
//     Map            an object                         Set         an array
//     Buffer, bytes  base64                            URL, RegExp a string
//
// An integer beyond 2^53 that no type was declared for comes as a bigint, because a number could not hold it. A result
// with NaN, Infinity, a function, a symbol or a circle is an error that says where. `undefined` alone is null.

import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// ---------------------------------------------------------------------------------------------------------------------
// The toolbox

/** The tools of this process, by name. */
const registered = new Map()

/** Set where a plain script is served: one that serves itself as well would have two conversations on one line. */
const SCRIPT = Symbol.for('toolhost.script')

/**
 * Adds a tool.
 *
 * @param {object} about What `describe` says of it: name, description, parameters or argument_schema, output_schema,
 *   timeout, hints, title, category, version (protocol/README.md, section 5).
 * @param {(kwargs: object, call: {signal: AbortSignal, context: object, config: object}) => any} run Does it. The
 *   result, or what its promise holds, is the answer; what is thrown is the error. `signal` is aborted when nobody
 *   waits any more.
 */
export function tool(about, run) {
  if (typeof about?.name !== 'string') throw new TypeError('tool() needs an object with a name')
  if (typeof run !== 'function') throw new TypeError(`tool '${about.name}' needs a function`)
  if (registered.has(about.name)) throw new TypeError(`there are two tools '${about.name}'`)
  registered.set(about.name, { about, run: (kwargs, call) => run(asDeclared(about.parameters, kwargs), call) })
}

/**
 * Serves the tools on stdin and stdout until the input ends; then it finishes what runs, and the process exits.
 *
 * @param {object} [options]
 * @param {string} [options.version] Of the toolbox, for people.
 * @param {string} [options.description] Likewise.
 * @param {boolean} [options.concurrent=true] Whether one call may start before another has been answered.
 */
export function serve({ version, description, concurrent = true } = {}) {
  if (globalThis[SCRIPT]) throw new Error('this file serves itself: host it by `command: [node, FILE]`, not `script:`')
  const capabilities = concurrent ? ['context', 'cancel', 'concurrent'] : ['context', 'cancel']
  const facts = { protocol: 1, version, description, capabilities }
  const session = new Session(registered, facts, lineWriter(1, othersMayWrite))
  process.stdout.write = process.stderr.write.bind(process.stderr)
  outlive(session)
  explainExit(session)
  listen(process.stdin, session)
}

/** The arguments, where those declared as numbers are numbers: a bigint does not add up with them. */
function asDeclared(parameters, kwargs) {
  for (const [name, value] of Object.entries(kwargs)) {
    if (typeof value !== 'bigint') continue
    const declared = Array.isArray(parameters) ? parameters.find((one) => one.name === name) : parameters?.[name]
    if (declared?.type === 'number') kwargs[name] = exactNumber(value, name)
  }
  return kwargs
}

/** Whether somebody else may have written to stdout: a child process that inherited it. */
function othersMayWrite() {
  const loaded = process.moduleLoadList
  return !loaded || loaded.includes('NativeModule child_process')
}

// ---------------------------------------------------------------------------------------------------------------------
// The conversation

/** One conversation with the host: takes its lines, runs the calls, writes the answers. */
class Session {
  /** The calls at work, by id. */
  running = new Map()
  /** Those that are to be started when one of `most` has ended. */
  waiting = []
  most = Infinity
  config = {}
  ended = false
  leaving = false

  constructor(tools, facts, write) {
    Object.assign(this, { tools, facts, write })
  }

  /** Takes one line. */
  take(line) {
    let request
    try {
      request = fromJson(line)
      if (!isObject(request)) throw new SyntaxError('it is no object')
    } catch (error) {
      log(`skipped a line that is no request: ${error.message}`)
      return this.answer(null, { error: errorOf(error) })
    }
    if (request.op === 'cancel') return this.cancel(request.target)
    if (request.id === undefined) return
    if (request.op === 'describe') return this.describe(request)
    if (request.op === 'call') return this.call(request)
    this.answer(request.id, { error: `Unknown operation: '${request.op}'` })
  }

  describe({ id, config }) {
    if (isObject(config)) this.config = config
    this.answer(id, { result: { ...this.facts, tools: [...this.tools.values()].map((tool) => tool.about) } })
  }

  call(request) {
    const { id, name, kwargs = {}, context = {} } = request
    const tool = this.tools.get(name)
    if (!tool) return this.answer(id, { error: `Unknown tool: '${name}'` })
    if (this.running.size >= this.most) return this.waiting.push(request)
    const controller = new AbortController()
    const call = { id, name, controller }
    this.running.set(id, call)
    try {
      const result = collect(tool.run(kwargs, { signal: controller.signal, context, config: this.config }))
      // What is there already is answered at once: the next line may be in hand.
      if (typeof result?.then !== 'function') return this.finish(call, { result })
      result.then(collect).then((result) => this.finish(call, { result }), (error) => this.fail(call, error))
    } catch (error) {
      this.fail(call, error)
    }
  }

  cancel(target) {
    const call = this.running.get(target)
    if (!call) return
    call.cancelled = true
    call.controller.abort()
    this.leaveIfDone()
  }

  fail(call, error) {
    if (this.running.get(call.id) !== call) return log(stackOf(error))
    if (!call.cancelled) log(stackOf(error))
    this.finish(call, { error: errorOf(error) })
  }

  finish(call, outcome) {
    // One that an uncaught exception has ended is answered already.
    if (this.running.get(call.id) !== call) return
    this.running.delete(call.id)
    this.answer(call.id, outcome)
    if (this.running.size === 0) this.idle?.()
    if (this.waiting.length > 0) this.call(this.waiting.shift())
    this.leaveIfDone()
  }

  answer(id, outcome) {
    let line
    try {
      const text = outcome.error ? toJson(outcome.error, 'error') : toJson(outcome.result ?? null)
      line = `{"id":${toJson(id)},"${outcome.error ? 'error' : 'result'}":${text}}`
    } catch (error) {
      line = `{"id":${toJson(id)},"error":${toJson(errorOf(error))}}`
    }
    this.write(line)
  }

  end() {
    this.ended = true
    this.leaveIfDone()
  }

  /** Exits once the input has ended and nobody waits: timers and servers of a tool do not keep the process. */
  leaveIfDone() {
    if (!this.ended || this.waiting.length > 0 || [...this.running.values()].some((call) => !call.cancelled)) return
    this.leaving = true
    process.exit(0)
  }
}

/** What nobody catches fails the call it can only come from, and ends nothing. */
function outlive(session) {
  const survive = (error) => {
    const [only, other] = session.running.values()
    if (only && !other) session.fail(only, error)
    else log(`uncaught, in no call that could be told: ${stackOf(error)}`)
  }
  process.on('uncaughtException', survive).on('unhandledRejection', survive)
}

function explainExit(session) {
  let waited = false
  process.on('beforeExit', () => (waited = true))
  process.on('exit', (code) => {
    const names = [...session.running.values()].map((call) => `'${call.name}'`).join(', ')
    if (session.leaving || !names) return
    const why = waited ? 'nothing is left that could answer for' : `process.exit(${code}) was called in`
    writeAll(2, Buffer.from(`${why} the tool ${names}\n`))
  })
}

/** Hands the lines of `stream` to `session`. */
function listen(stream, session) {
  let pieces = [] // of a line whose end has not come: joined once, however many there are
  const line = (end) => {
    pieces.push(end)
    const text = Buffer.concat(pieces).toString('utf8').replace(/^\ufeff/, '').trim()
    pieces = []
    if (text) session.take(text)
  }
  stream.on('data', (chunk) => {
    let from = 0
    for (let at; (at = chunk.indexOf(10, from)) >= 0; from = at + 1) line(chunk.subarray(from, at))
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  })
  let over = false
  const end = () => {
    if (over) return
    over = true
    line(Buffer.alloc(0))
    session.end()
  }
  stream.on('end', end).on('error', end).on('close', end)
}

/** Writes lines to a file descriptor, each at once and whole. */
function lineWriter(fd, mayBeInMidLine) {
  // A blank line is legal, and ends whatever somebody else left there.
  return (line) => writeAll(fd, Buffer.from(`${mayBeInMidLine() ? '\n' : ''}${line}\n`))
}

function writeAll(fd, bytes) {
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(fs.writeSync(fd, bytes))
    } catch (error) {
      if (error.code !== 'EAGAIN') process.exit(1) // nobody is there any more
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}

function log(text) {
  process.stderr.write(`${text}\n`)
}

/** An error as the protocol has it. */
function errorOf(error) {
  if (!(error instanceof Error) && !(isObject(error) && typeof error.message === 'string')) {
    return { type: 'Error', message: wellFormed(textOf(error)) }
  }
  const own = error.name && error.name !== 'Error' ? error.name : error.constructor?.name
  return { type: wellFormed(String(own || 'Error')), message: wellFormed(String(error.message)) }
}

/** The stack of an error as far as it is the tool's own. */
function stackOf(error) {
  if (!(error instanceof Error && error.stack)) return textOf(error)
  const foreign = /^\s+at .*(toolhost\.mjs:\d|\(?node:)/
  return String(error.stack).split('\n').filter((line) => !foreign.test(line)).join('\n')
}

/** `String(value)` of a value that may have no text at all. */
function textOf(value) {
  try {
    return isObject(value) && String(value) === '[object Object]' ? JSON.stringify(value) : String(value)
  } catch {
    return 'a value without text'
  }
}

/** What a generator makes, as an array; anything else as it is. */
function collect(value) {
  if (typeof value?.next !== 'function') return value
  if (typeof value[Symbol.iterator] === 'function') return [...value]
  return typeof value[Symbol.asyncIterator] === 'function' ? collectLater(value) : value
}

async function collectLater(values) {
  const all = []
  for await (const value of values) all.push(value)
  return all
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

/** How deep a result may nest (protocol/README.md, section 2). */
const DEEPEST = 127

/**
 * JSON as a value, where an integer that a number cannot hold is a bigint.
 *
 * @param {string} text
 * @returns {any}
 */
export function fromJson(text) {
  return /\d{16}|\d[eE]\+?\d\d/.test(text) ? fromJsonExact(text) : JSON.parse(text)
}

function fromJsonExact(text) {
  const mark = `\u0001${Math.random()}:`
  const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y
  let out = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    if (text[at] === '"') {
      at = endOfJsonString(text, at)
      continue
    }
    number.lastIndex = at
    const [token, fraction, exponent] = number.exec(text) ?? ['']
    if (!Number.isFinite(Number(token))) {
      if (fraction || exponent) throw new RangeError(`${clip(token)} is too large for a JavaScript number`)
    }
    if (token && !fraction && !exponent && !Number.isSafeInteger(Number(token))) {
      out += `${text.slice(copied, at)}${JSON.stringify(mark + token)}`
      copied = at + token.length
    }
    at += token.length || 1
  }
  const revive = (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
  return JSON.parse(out + text.slice(copied), revive)
}

function endOfJsonString(text, start) {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}

/**
 * A value as JSON; what JSON cannot carry is an error that says where it is.
 *
 * @param {any} value
 * @param {string} [where] What the value is called in that error.
 * @returns {string}
 */
export function toJson(value, where = 'the result') {
  return write(value, where, [])
}

function write(value, where, above) {
  switch (typeof value) {
    case 'string':
      if (wellFormed(value) !== value) throw cannot(where, 'text with half of a surrogate pair')
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw cannot(where, String(value))
      return Object.is(value, -0) ? '-0' : String(value)
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      return value === null ? 'null' : writeObject(value, where, above)
    default:
      throw cannot(where, typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`)
  }
}

function writeObject(value, where, above) {
  if (above.includes(value)) throw cannot(where, 'a circular reference')
  if (above.length >= DEEPEST) throw cannot(where, `nested deeper than ${DEEPEST} levels`)
  const inside = [...above, value]
  const plain = asPlain(value, where)
  if (plain !== value) return write(plain, where, typeof plain === 'object' ? above : inside)
  if (Array.isArray(value)) {
    return `[${Array.from(value, (one, index) => write(one, `${where}[${index}]`, inside)).join(',')}]`
  }
  const members = []
  for (const [key, member] of Object.entries(value)) {
    // A member that is undefined is one that is not there, as everywhere in JavaScript.
    if (member === undefined) continue
    members.push(`${write(key, `a key of ${where}`, inside)}:${write(member, `${where}.${key}`, inside)}`)
  }
  return `{${members.join(',')}}`
}

/** The nearest thing to `value` that JSON has; the value itself where it is a plain object or array. */
function asPlain(value, where) {
  if (Array.isArray(value)) return value
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw cannot(where, 'an invalid Date')
    return value.toISOString()
  }
  if (value instanceof Map) return mapAsObject(value, where)
  if (value instanceof Set) return [...value]
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64')
  if (value instanceof Uint8Array || value instanceof DataView) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  }
  if (ArrayBuffer.isView(value)) return Array.from(value)
  if (value instanceof URL) return value.href
  if (value instanceof RegExp) return value.flags ? String(value) : value.source
  if (value instanceof Error) return errorOf(value)
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf()
  if (typeof value.then === 'function') throw cannot(where, 'a promise nobody waited for')
  return typeof value.toJSON === 'function' ? value.toJSON() : value
}

function mapAsObject(map, where) {
  const members = new Map()
  for (const [key, value] of map) {
    if (typeof key === 'object' || typeof key === 'symbol' || typeof key === 'function') {
      throw cannot(where, 'a Map with keys that are no text')
    }
    if (members.has(String(key))) throw cannot(where, `a Map with two keys '${key}'`)
    members.set(String(key), value)
  }
  return Object.fromEntries(members)
}

function cannot(where, what) {
  return new TypeError(`${where} is ${what}, which JSON cannot carry`)
}

/** The text with U+FFFD for half of a surrogate pair. */
function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function clip(text) {
  return text.length > 40 ? `${text.slice(0, 40)}...` : text
}

function exactNumber(value, where) {
  const number = Number(value)
  if (Number.isFinite(number) && BigInt(number) === value) return number
  throw new RangeError(`${where}: ${clip(String(value))} does not fit a JavaScript number, only a bigint`)
}

// ---------------------------------------------------------------------------------------------------------------------
// A plain script

/**
 * Serves the exported functions of a script.
 *
 * @param {string} script Its path.
 * @param {object} options
 * @param {number} options.input Where the host's lines come from; 0, 1 and 2 are the script's own.
 * @param {number} options.output Where the answers go.
 * @param {number} [options.concurrent] How many calls may be at work at once. Left out: as many as come where a tool is
 *   asynchronous, else one.
 */
export async function runScript(script, { input, output, concurrent }) {
  globalThis[SCRIPT] = true
  const file = path.resolve(script)
  const name = path.basename(file)
  const loaded = watchLoading(name)
  const { tools, warnings } = await toolsOf(file).catch((error) => giveUp(error, name))
  loaded()
  const most = concurrent || ([...tools.values()].some((tool) => tool.later) ? Infinity : 1)
  const facts = { protocol: 1, capabilities: most > 1 ? ['concurrent'] : [] }
  if (warnings.length > 0) facts.warnings = warnings
  const session = new Session(tools, facts, lineWriter(output, () => false))
  session.most = most
  keepWorkingFolder(session)
  outlive(session)
  explainExit(session)
  listen(openInput(input), session)
}

/** A pipe by the event loop: a read of a file waits in a thread, which would have to end before the process can. */
function openInput(fd) {
  const kind = fs.fstatSync(fd)
  if (kind.isFIFO() || kind.isSocket()) return new net.Socket({ fd, readable: true, writable: false })
  return fs.createReadStream('', { fd })
}

/** After the last of the calls at work the working folder is what it was. */
function keepWorkingFolder(session) {
  const folder = process.cwd()
  session.idle = () => {
    try {
      if (process.cwd() !== folder) process.chdir(folder)
    } catch {
      process.chdir(folder) // the one it was in is gone
    }
  }
}

/** While the script is loaded: the process is not to end without a word, nor with success. */
function watchLoading(name) {
  const watch = {
    uncaughtException: (error) => giveUp(error, name),
    unhandledRejection: (error) => giveUp(error, name),
    beforeExit: () => giveUp(new Unfit('it waits for something that never comes, and has exported nothing yet'), name),
    exit: (code) => {
      log(`process.exit(${code}) was called while ${name} was loaded: a script that is served must not end itself`)
      process.exitCode = code || 1
    },
  }
  for (const [event, react] of Object.entries(watch)) process.on(event, react)
  return () => Object.entries(watch).forEach(([event, react]) => process.off(event, react))
}

/** Ends the process with the reason as the last line of its log. */
async function giveUp(error, name) {
  process.removeAllListeners('exit')
  if (!(error instanceof Unfit)) log(stackOf(error))
  log(await reasonOf(error, name))
  process.exit(1)
}

/** A script that can be loaded, and yet not be served. */
class Unfit extends Error {}

async function reasonOf(error, name) {
  if (error instanceof Unfit) return `${name}: ${error.message}`
  if (!(error instanceof Error)) return `Error: ${textOf(error)} (${name})`
  const message = error.message.split('\n')[0]
  const at = placeIn(error.stack) ?? (error instanceof SyntaxError ? await syntaxPlace(error) : undefined)
  if (!/MODULE_NOT_FOUND/.test(error.code ?? '')) return `${error.name}: ${message} (${at ?? name})`
  const [what, by] = message.replace('Cannot find package', 'Cannot find module').split(' imported from ')
  return `${what} (${at ?? path.basename(by ?? name)})`
}

/** `tools.js:3` of a stack: its head for a syntax error, else the first frame that is neither Node's nor ours. */
function placeIn(stack = '') {
  const [head, ...frames] = stack.split('\n')
  const places = [head, ...frames.filter((line) => /^\s+at /.test(line) && !/node:|toolhost\.mjs/.test(line))]
  const place = /(?:^|[ (])(?:file:\/\/)?\/(?:.*\/)?([^/]+?:\d+)(?::\d+)?\)?$/
  return places.map((line) => place.exec(line)?.[1]).find(Boolean)
}

/** Node tells the line of a syntax error in an ES module to nobody but its own `--check`. */
async function syntaxPlace(error) {
  if (!error.toolhostFile) return undefined
  const { spawnSync } = await import('node:child_process')
  const { stderr } = spawnSync(process.execPath, ['--check', error.toolhostFile], { encoding: 'utf8', timeout: 5000 })
  return placeIn(stderr ?? '')
}

/** The tools of a script, by name, and what of it is no tool, and why. */
async function toolsOf(file) {
  const text = readIfThere(file)
  if (text === undefined) throw new Unfit(`there is no such file that can be read: ${file}`)
  const source = readSource(text)
  const exported = await load(file, source)
  const chosen = choose(exported, source)
  const types = new Types(source, (what) => log(`${path.basename(file)}: ${what}`))
  const tools = new Map()
  for (const [name, entry] of chosen) addTool(tools, name, entry, types, stemOf(file))
  if (tools.size === 0) throw new Unfit(nothingIn(exported, types.leftOut))
  const [only] = tools.keys()
  const warnings = [...undocumented(exported, source), ...types.leftOut].map((what) => `no tool: ${what}`)
  return { tools: only === 'run' && tools.size === 1 ? renamed(tools.get(only), stemOf(file)) : tools, warnings }
}

/** The exported functions nobody said anything of; where TOOLS says which are tools, none. */
function undocumented(exported, source) {
  if (exported.some(([name, { value }]) => name === 'TOOLS' && Array.isArray(value))) return []
  const silent = exported.filter(([name]) => !/^(TOOLS|main)$/.test(name) && source.docOf(name).doc === undefined)
  return silent.map(([name]) => `${name}: it has no JSDoc comment right before it; give it one, or name it in TOOLS`)
}

function addTool(tools, exportName, entry, types, stem) {
  const { run, owner, doc } = entry
  const given = exportName === 'default' ? (/^(default|)$/.test(run.name) ? stem : run.name) : exportName
  const name = fitName(given)
  if (tools.has(name)) return types.leftOut.push(`${name}: another tool has this name, and the first is served`)
  try {
    tools.set(name, makeTool(name, run, owner, parseDoc(doc ?? ''), types))
  } catch (error) {
    if (!(error instanceof Unfit)) throw error
    types.leftOut.push(`${name}: ${error.message}`)
  }
}

function renamed(tool, name) {
  tool.about.name = name
  return new Map([[name, tool]])
}

function stemOf(file) {
  return fitName(path.basename(file, path.extname(file)))
}

function fitName(name) {
  return name.replace(/[^A-Za-z0-9_-]/g, '_')
}

/** Why there is no tool. */
function nothingIn(exported, leftOut) {
  if (leftOut.length > 0) return `no tools: ${leftOut.join('; ')}`
  const names = exported.map(([name]) => name)
  if (names.length > 0) {
    return `no tools: none of the exported functions (${names.join(', ')}) has a JSDoc comment right before it`
  }
  return 'no tools: it exports no function'
}

/** Loads a script as `node` would, but as a module: what it does only when it is run itself, it does not do. */
async function load(file, source) {
  const extension = path.extname(file)
  const isModule = extension === '.mjs' || (extension !== '.cjs' && (source.isModule || inModulePackage(file)))
  try {
    // `require`, because a module loaded so has a parent, which some look at to see whether they are run themselves.
    return exportsOf(isModule ? await importModule(file, source) : createRequire(file)(file))
  } catch (error) {
    if (isModule && /Cannot use import statement|Unexpected token 'export'/.test(error?.message)) {
      throw new Unfit('this Node takes an ES module only as .mjs, or beside a package.json with "type": "module"')
    }
    if (error instanceof SyntaxError) error.toolhostFile = file
    throw error
  }
}

async function importModule(file, source) {
  const argv = [...process.argv]
  // An ES module sees whether it is run itself by comparing its own address with this.
  if (source.asksWhoRuns) process.argv[1] = path.join(path.dirname(file), path.sep)
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    process.argv.splice(0, process.argv.length, ...argv)
  }
}

function inModulePackage(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const text = readIfThere(path.join(folder, 'package.json'))
    if (text !== undefined) return /"type"\s*:\s*"module"/.test(text)
    if (folder === path.dirname(folder)) return false
  }
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Everything exported, as pairs of a name and `{ value, owner }`. A default object counts as its members. */
function exportsOf(module) {
  const found = new Map()
  const add = (owner) => {
    for (const key of Object.keys(owner)) if (!found.has(key)) found.set(key, { value: owner[key], owner })
  }
  if (typeof module === 'function') found.set('default', { value: module, owner: undefined })
  if (module !== null && /object|function/.test(typeof module)) add(module)
  const main = found.get('default')?.value
  if (isObject(main)) add(main)
  const others = [...found].filter(([name, { value }]) => name !== 'default' && value === main)
  if (others.length > 0) found.delete('default')
  return [...found].filter(([name, { value }]) => name === 'TOOLS' || (typeof value === 'function' && !isClass(value)))
}

function isClass(value) {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

/** The exports that are tools, in the order they stand in the source. */
function choose(exported, source) {
  const wanted = exported.find(([name]) => name === 'TOOLS')?.[1].value
  const functions = exported.filter(([name]) => name !== 'TOOLS')
  const entryOf = ([name, { value, owner }]) => [name, { run: value, owner, ...source.docOf(name) }]
  const entries = new Map(functions.map(entryOf))
  if (Array.isArray(wanted)) return wanted.map((name) => [name, named(entries, name)])
  const isMeant = ([, { doc }]) => doc !== undefined && !/@(private|ignore|internal)\b/.test(doc)
  const documented = [...entries].filter(isMeant)
  return documented.sort(([, a], [, b]) => a.at - b.at)
}

function named(entries, name) {
  const entry = entries.get(name)
  if (!entry) throw new Unfit(`TOOLS names '${name}', which is no exported function`)
  return entry
}

// ---------------------------------------------------------------------------------------------------------------------
// The source text

/** Words after which a slash begins a regular expression, though they look like a value. */
const BEFORE_REGEX = new Set(
  'return typeof case in of delete void throw new else do instanceof yield await export default'.split(' '),
)

/** The marks of several characters that matter. */
const WIDE = ['=>', '...', '++', '--']

/**
 * The tokens of a source text: `{ kind, text, doc }`, where `doc` is the JSDoc block right before it, and `close` of an
 * opening bracket the index of its partner. Just enough of JavaScript not to be fooled by strings, templates, regular
 * expressions and comments.
 */
export function tokenize(text, start = 0, inTemplate = false) {
  const tokens = []
  const docs = [] // every JSDoc block, also those before nothing
  const open = [] // indices of the brackets that are open
  let doc
  let at = start
  const push = (kind, end) => {
    tokens.push({ kind, text: text.slice(at, end), at, doc })
    doc = undefined
    at = end
  }
  if (text.startsWith('#!')) at = Math.max(at, lineEnd(text, 0))
  const blanks = /\s+/y
  while (at < text.length) {
    blanks.lastIndex = at
    if (blanks.test(text)) at = blanks.lastIndex
    const c = text[at]
    if (c === undefined) break
    if (text.startsWith('//', at)) at = lineEnd(text, at)
    else if (text.startsWith('/*', at)) {
      const end = after(text, '*/', at + 2)
      if (/^\/\*\*[^*/]/.test(text.slice(at, at + 4))) docs.push((doc = text.slice(at, end)))
      at = end
    } else if (c === '"' || c === "'") push('string', stringEnd(text, at))
    else if (c === '`') push('template', templateEnd(text, at))
    else if (/[\w$#\\\u0080-\uffff]/.test(c)) push(/\d/.test(c) ? 'number' : 'word', wordEnd(text, at))
    else if (c === '/' && regexMayStart(tokens)) push('regex', regexEnd(text, at))
    else if (inTemplate && c === '}' && open.length === 0) return { tokens, docs, end: at + 1 }
    else {
      if ('([{'.includes(c)) open.push(tokens.length)
      const partner = ')]}'.includes(c) ? tokens[open.pop()] : undefined
      if (partner) partner.close = tokens.length
      const wide = WIDE.find((mark) => text.startsWith(mark, at))
      const before = tokens.at(-1)
      push('mark', at + (wide ?? c).length)
      tokens.at(-1).opened = partner
      tokens.at(-1).before = before
    }
  }
  return { tokens, docs, end: at }
}

function lineEnd(text, at) {
  const end = /[\n\r\u2028\u2029]/g
  end.lastIndex = at
  return end.exec(text)?.index ?? text.length
}

function after(text, what, at) {
  const found = text.indexOf(what, at)
  return found < 0 ? text.length : found + what.length
}

function stringEnd(text, at) {
  const quote = text[at]
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === quote) return i + 1
    else if (text[i] === '\n') return i
  }
  return text.length
}

function templateEnd(text, at) {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '`') return i + 1
    else if (text.startsWith('${', i)) i = tokenize(text, i + 2, true).end - 1
  }
  return text.length
}

function wordEnd(text, at) {
  const word = /\d/.test(text[at]) ? /[\w$.]+/y : /[\w$#\\\u0080-\uffff]+/y
  word.lastIndex = at
  return at + word.exec(text)[0].length
}

function regexMayStart(tokens) {
  const last = tokens.at(-1)
  if (!last) return true
  if (last.kind === 'word') return BEFORE_REGEX.has(last.text) && tokens.at(-2)?.text !== '.'
  if (last.kind !== 'mark') return false
  if (last.text === ')') return /^(if|while|for|with)$/.test(last.opened?.before?.text ?? '')
  if (last.text === '}') return beginsBlock(last.opened)
  return last.text !== ']' && last.text !== '++' && last.text !== '--'
}

/** Whether an opening brace begins a block, and no object. */
function beginsBlock(brace) {
  const before = brace?.before
  return !before || /^([);{}]|=>|else|do|try|finally)$/.test(before.text)
}

function regexEnd(text, at) {
  let inClass = false
  for (let i = at + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '[') inClass = true
    else if (text[i] === ']') inClass = false
    else if (text[i] === '/' && !inClass) return i + /^\w*/.exec(text.slice(i + 1, i + 12))[0].length + 1
  }
  return at + 1
}

/** What the source says of its exports: their JSDoc blocks, the typedefs, and what kind of module it is. */
function readSource(text) {
  const { tokens, docs } = tokenize(text)
  const source = { exports: new Map(), locals: new Map(), enums: new Map(), blocks: docs, isModule: false }
  source.asksWhoRuns = /\bimport\.meta\b/.test(text) && /\bargv\b/.test(text)
  let depth = 0
  tokens.forEach((token, index) => {
    if (')]}'.includes(token.text)) depth--
    readDeclaration(source, tokens, index, depth)
    if ('([{'.includes(token.text)) depth++
  })
  source.docOf = (name) => docOf(source, name)
  return source
}

function docOf(source, name) {
  const entry = source.exports.get(name)
  const local = source.locals.get(entry?.local ?? name)
  return { doc: entry?.doc ?? local?.doc, at: entry?.at ?? local?.at ?? Number.MAX_SAFE_INTEGER }
}

function readDeclaration(source, tokens, index, depth) {
  const token = tokens[index]
  const before = tokens[index - 1]?.text
  if (token.kind !== 'word' || before === '.') return
  if (token.text === 'exports' || (token.text === 'module' && textsAt(tokens, index + 1, '.', 'exports'))) {
    return readAssignment(source, tokens, index)
  }
  if (depth > 0) return
  if (token.text === 'export') return readExport(source, tokens, index)
  if (token.text === 'import' && !['(', '.'].includes(tokens[index + 1]?.text)) source.isModule = true
  if (/^(const|let|var)$/.test(token.text)) return readVariables(source, tokens, index, token.doc)
  if (token.text === 'function') addLocal(source, functionName(tokens, index), functionDoc(tokens, index), index)
}

function textsAt(tokens, index, ...texts) {
  return texts.every((text, offset) => tokens[index + offset]?.text === text)
}

function addLocal(source, name, doc, at) {
  const known = source.locals.get(name)
  if (name && (!known || !known.doc)) source.locals.set(name, { doc, at })
}

function addExport(source, name, entry) {
  const known = source.exports.get(name)
  if (!known || (!known.doc && !known.local)) source.exports.set(name, entry)
}

/** `function name`, `function* name`. */
function functionName(tokens, index) {
  const next = tokens[index + 1]?.text === '*' ? index + 2 : index + 1
  return tokens[next]?.kind === 'word' ? tokens[next].text : undefined
}

function functionDoc(tokens, index) {
  const first = tokens[index - 1]?.text === 'async' ? index - 1 : index
  return tokens[first].doc ?? tokens[index].doc
}

/** `const a = ..., b = ...`: the doc of the statement is the first one's. */
function readVariables(source, tokens, index, doc) {
  const names = []
  for (let at = index + 1; at < tokens.length && !endsVariables(tokens, at); at = (tokens[at].close ?? at) + 1) {
    const { kind, text } = tokens[at]
    const isFirst = at === index + 1
    if (kind !== 'word' || !(isFirst || tokens[at - 1].text === ',')) continue
    const value = valueAt(tokens, at + 2)
    const own = tokens[at].doc ?? (isFirst ? doc : undefined) ?? value.doc
    addLocal(source, text, own ?? source.locals.get(value.local)?.doc, index)
    if (/@enum\b/.test(own ?? '')) source.enums.set(text, enumValues(tokens, at + 2))
    names.push(text)
  }
  return names
}

/** A semicolon, or, where there is none, a word that begins a statement. */
function endsVariables(tokens, at) {
  const { text } = tokens[at]
  if (text === ';') return true
  return /^(const|let|var|export|import|return|if|for|while|switch|try)$/.test(text) && tokens[at - 1].text !== '.'
}

/** What stands on the right of an assignment, as far as it matters. */
function valueAt(tokens, index) {
  const first = tokens[index]
  if (!first) return {}
  const isName = first.kind === 'word' && !/^(async|function|class|new|await|typeof)$/.test(first.text)
  const next = tokens[index + 1]?.text
  const alone = isName && !['(', '.', '=>', '[', '`'].includes(next)
  return { doc: first.doc, local: alone ? first.text : undefined }
}

function readExport(source, tokens, index) {
  source.isModule = true
  const doc = tokens[index].doc
  let at = index + 1
  const isDefault = tokens[at]?.text === 'default'
  if (isDefault) at++
  if (tokens[at]?.text === 'async') at++
  if (tokens[at]?.text === 'function') {
    const name = functionName(tokens, at)
    const own = doc ?? functionDoc(tokens, at)
    addLocal(source, name, own, index)
    return addExport(source, isDefault ? 'default' : name, { doc: own, at: index })
  }
  if (isDefault) return readDefault(source, tokens, at, doc, index)
  if (/^(const|let|var)$/.test(tokens[at]?.text)) {
    const names = readVariables(source, tokens, at, doc ?? tokens[at].doc)
    for (const name of names) addExport(source, name, { local: name, at: index })
  }
  if (tokens[at]?.text === '{') readExportList(source, tokens, at)
}

function readDefault(source, tokens, at, doc, index) {
  if (tokens[at]?.text === '{') return readMembers(source, tokens, at)
  const value = valueAt(tokens, at)
  addExport(source, 'default', { doc: doc ?? value.doc, local: value.local, at: index })
}

/** `export { a, b as c }` */
function readExportList(source, tokens, at) {
  const end = tokens[at].close ?? at
  for (let i = at + 1; i < end; i++) {
    if (tokens[i - 1].text !== '{' && tokens[i - 1].text !== ',') continue
    const name = tokens[i + 1]?.text === 'as' ? tokens[i + 2].text : tokens[i].text
    addExport(source, name, { doc: tokens[i].doc, local: tokens[i].text, at: i })
  }
}

/** `exports.a = module.exports.b = ...`, `module.exports = ...` */
function readAssignment(source, tokens, index) {
  const names = []
  const doc = tokens[index].doc
  let at = index
  for (;;) {
    let next = at
    if (textsAt(tokens, next, 'module', '.', 'exports')) next += 2
    else if (tokens[next]?.text !== 'exports') break
    next++
    let name = 'default'
    if (tokens[next]?.text === '.') [name, next] = [tokens[next + 1]?.text, next + 2]
    else if (tokens[next]?.text === '[' && tokens[next + 1]?.kind === 'string') {
      ;[name, next] = [tokens[next + 1].text.slice(1, -1), next + 3]
    }
    if (tokens[next]?.text !== '=' || tokens[next + 1]?.text === '=') break
    names.push(name)
    at = next + 1
  }
  if (names.length === 0) return
  if (tokens[at]?.text === '{' && names.includes('default')) return readMembers(source, tokens, at)
  const value = valueAt(tokens, at)
  const inner = tokens[at]?.text === 'async' ? tokens[at + 1]?.doc : undefined
  for (const name of names) addExport(source, name, { doc: doc ?? value.doc ?? inner, local: value.local, at: index })
}

/** `{ a, b: c, d() {}, async e() {}, f: function () {} }` */
function readMembers(source, tokens, at) {
  const end = tokens[at].close ?? at
  for (let i = at + 1; i < end; i++) {
    if (tokens[i - 1].text === ',' || i === at + 1) readMember(source, tokens, i)
    if (tokens[i].close) i = tokens[i].close
  }
}

function readMember(source, tokens, first) {
  let at = first
  const isKey = (token) => token && token.kind !== 'mark'
  while ((tokens[at]?.text === 'async' && !/^[:(,}]$/.test(tokens[at + 1]?.text)) || tokens[at]?.text === '*') at++
  if (!isKey(tokens[at])) return
  const key = tokens[at]
  const name = key.kind === 'string' ? key.text.slice(1, -1) : key.text
  const value = tokens[at + 1]?.text === ':' ? valueAt(tokens, at + 2) : {}
  const isShort = /^[,}]$/.test(tokens[at + 1]?.text)
  addExport(source, name, { doc: tokens[first].doc ?? value.doc, local: isShort ? name : value.local, at: first })
}

/** The literal values of `{ RED: 'red', ... }`, also within Object.freeze(). */
function enumValues(tokens, index) {
  const start = tokens.findIndex((token, at) => at >= index && token.text === '{')
  const values = []
  for (let i = start + 1; i < (tokens[start]?.close ?? 0); i++) {
    if (tokens[i].text === ':') values.push(literalOf(tokens.slice(i + 1, i + 3)))
  }
  return values.filter((value) => value !== undefined)
}

/** The value of the tokens of a literal, as far as JSON has it; else undefined. */
function literalOf(tokens) {
  const [first, second] = tokens
  if (first?.kind === 'string') return unquote(first.text)
  if (first?.kind === 'number') return jsonOr(first.text)
  if (first?.text === '-' && second?.kind === 'number') return jsonOr(`-${second.text}`)
  return /^(true|false|null)$/.test(first?.text ?? '') ? JSON.parse(first.text) : undefined
}

function unquote(text) {
  const inner = text.slice(1, -1)
  const bare = inner.replace(/\\'/g, "'").replace(/(^|[^\\])"/g, '$1\\"')
  return inner.includes('\\') || inner.includes('"') ? jsonOr(`"${bare}"`) ?? inner : inner
}

function jsonOr(text, otherwise) {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// JSDoc

/** The names under which one tag is known. */
const TAGS = {
  arg: 'param', argument: 'param', return: 'returns', prop: 'property', desc: 'description', yield: 'yields',
}

/** A JSDoc block: `{ text, tags: [{ tag, type, name, optional, default, text }] }`. */
export function parseDoc(block) {
  const inside = block.replace(/^\/\*\*/, '').replace(/\*\/$/, '')
  // Several on one line, where the brace shows that a tag is meant.
  const body = inside.replace(/[ \t]@(param|arg|argument|returns?|yields?|prop|property|typedef)(?=\s+\{)/g, '\n@$1')
  const lines = body.split(/\r?\n/).map((line) => line.replace(/^\s*\*?[ \t]?/, '').trimEnd())
  const parts = [[]]
  for (const line of lines) {
    if (/^\s*@\w/.test(line)) parts.push([])
    parts.at(-1).push(line)
  }
  const [text, ...tags] = parts.map((part) => part.join('\n').trim())
  const parsed = tags.map(parseTag)
  const described = parsed.filter((tag) => tag.tag === 'description').map((tag) => tag.text)
  return { text: paragraph([text, ...described].filter(Boolean).join('\n\n')), tags: parsed }
}

function parseTag(text) {
  const [whole, word] = /^@(\w+)[ \t]*/.exec(text)
  const tag = TAGS[word] ?? word
  let rest = text.slice(whole.length).trimStart()
  let type
  if (rest.startsWith('{')) {
    const end = bracketEnd(rest, 0)
    type = rest.slice(1, end - 1).trim()
    rest = rest.slice(end).trimStart()
  }
  const found = { tag, type }
  if (/^(param|property|typedef|callback)$/.test(tag)) rest = takeName(found, rest)
  return { ...found, text: paragraph(rest.replace(/^-\s+/, '')) }
}

/** `name`, `[name]` or `[name=default]`. */
function takeName(found, rest) {
  if (rest.startsWith('[')) {
    const end = bracketEnd(rest, 0)
    const [, name, , given] = /^\s*([^=\s]+)\s*(=\s*([^]*))?$/.exec(rest.slice(1, end - 1)) ?? []
    Object.assign(found, { name, optional: true, default: given?.trim() || undefined })
    return rest.slice(end).trimStart()
  }
  found.name = /^\S*/.exec(rest)[0]
  return rest.slice(found.name.length).trimStart()
}

/** Where the bracket that opens at `start` is closed. */
function bracketEnd(text, start) {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const c = text[at]
    if (c === '"' || c === "'" || c === '`') at = stringEnd(text, at) - 1
    else if ('{[('.includes(c)) depth++
    else if ('}])'.includes(c) && --depth === 0) return at + 1
  }
  return text.length
}

/** Text as it was meant: lines joined, empty lines kept between paragraphs, `{@link x}` as `x`. */
function paragraph(text) {
  const link = /\{@(?:link|linkcode|linkplain|tutorial)\s+([^}|\s]+)[|\s]*([^}]*)\}/g
  const plain = text.replace(link, (_, to, as) => as || to)
  return plain.split(/\n\s*\n/).map((part) => part.replace(/\s*\n\s*/g, ' ').trim()).filter(Boolean).join('\n\n')
}

// ---------------------------------------------------------------------------------------------------------------------
// Type expressions

const LEXEME = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d[\w.]*|[\w$]+(?:[.~#][\w$]+)*|=>|\.\.\.|\.<|\S/g

/**
 * Reads a type expression: `{ kind: 'name', name, args }`, `{ kind: 'union', of }`, `{ kind: 'literal', value }`,
 * `{ kind: 'array', of }`, `{ kind: 'tuple', items }`, `{ kind: 'object', props }`, `{ kind: 'function' }`, and
 * `{ kind: 'optional', of }`.
 *
 * @param {string} text
 */
export function parseType(text) {
  const lexemes = text.match(LEXEME) ?? []
  const reader = { lexemes, at: 0 }
  const type = readUnion(reader)
  if (reader.at < lexemes.length) throw new SyntaxError(`'${lexemes[reader.at]}' was not expected`)
  return type
}

const ANY = { kind: 'name', name: 'any', args: [] }
const NULL = { kind: 'literal', value: null }
const asName = (name, args = []) => ({ kind: 'name', name, args })

function peek(reader, ...texts) {
  return texts.includes(reader.lexemes[reader.at])
}

function skip(reader, text) {
  return peek(reader, text) && ++reader.at > 0
}

function expect(reader, text) {
  if (skip(reader, text)) return
  throw new SyntaxError(`'${text}' is missing before '${reader.lexemes[reader.at] ?? 'the end'}'`)
}

function readUnion(reader) {
  skip(reader, '|')
  const of = [readIntersection(reader)]
  while (skip(reader, '|')) of.push(readIntersection(reader))
  return of.length > 1 ? { kind: 'union', of } : of[0]
}

function readIntersection(reader) {
  const of = [readPostfix(reader)]
  while (skip(reader, '&')) of.push(readPostfix(reader))
  return of.length > 1 ? { kind: 'all', of } : of[0]
}

function readPostfix(reader) {
  if (skip(reader, '...')) return { kind: 'array', of: readPostfix(reader) }
  if (skip(reader, '!')) return readPostfix(reader)
  if (peek(reader, '?')) {
    reader.at++
    const isAlone = /^[|,>)\]}=]?$/.test(reader.lexemes[reader.at] ?? '')
    return isAlone ? ANY : { kind: 'union', of: [readPostfix(reader), NULL] }
  }
  let type = readPrimary(reader)
  for (;;) {
    if (peek(reader, '[') && reader.lexemes[reader.at + 1] === ']') {
      reader.at += 2
      type = { kind: 'array', of: type }
    } else if (skip(reader, '=')) type = { kind: 'optional', of: type }
    else if (skip(reader, '?')) type = { kind: 'union', of: [type, NULL] }
    else if (!skip(reader, '!')) return type
  }
}

function readPrimary(reader) {
  const token = reader.lexemes[reader.at++]
  if (token === undefined) throw new SyntaxError('it ends too early')
  if (token === '(') return readParenthesis(reader)
  if (token === '{') return readRecord(reader)
  if (token === '[') return { kind: 'tuple', items: readList(reader, ']') }
  if (token === '*') return ANY
  if (/^["']/.test(token)) return { kind: 'literal', value: unquote(token) }
  if (/^-?\d/.test(token)) return readNumber(token)
  if (/^(true|false|null)$/.test(token)) return { kind: 'literal', value: JSON.parse(token) }
  if (token === 'function' || token === 'new') return readFunction(reader)
  if (token === 'readonly') return readPostfix(reader)
  if (/^(keyof|typeof|import|asserts|infer|unique)$/.test(token)) return readForeign(reader, token)
  if (!/^[\w$]/.test(token)) throw new SyntaxError(`'${token}' was not expected`)
  const args = skip(reader, '<') || skip(reader, '.<') ? readList(reader, '>') : []
  return asName(token, args)
}

function readNumber(token) {
  const value = /^-?\d+n$/.test(token) ? BigInt(token.slice(0, -1)) : Number(token)
  return { kind: 'literal', value }
}

/** Up to `end`, which is taken; names of tuple members and of parameters are passed over. */
function readList(reader, end) {
  const items = []
  while (!skip(reader, end)) {
    const [, second, third] = reader.lexemes.slice(reader.at, reader.at + 3)
    if (second === ':' || (second === '?' && third === ':')) reader.at = reader.lexemes.indexOf(':', reader.at) + 1
    items.push(readUnion(reader))
    if (!peek(reader, end)) expect(reader, ',')
  }
  return items
}

/** `(A|B)`, or the parameters of `(a: A) => B`. */
function readParenthesis(reader) {
  const items = readList(reader, ')')
  if (!skip(reader, '=>')) {
    if (items.length !== 1) throw new SyntaxError("'=>' is missing")
    return items[0]
  }
  readUnion(reader)
  return { kind: 'function' }
}

function readFunction(reader) {
  if (skip(reader, '(')) readList(reader, ')')
  if (skip(reader, ':') || skip(reader, '=>')) readUnion(reader)
  return { kind: 'function' }
}

function readForeign(reader, token) {
  if (token === 'import') {
    expect(reader, '(')
    readList(reader, ')')
    if (skip(reader, '.')) reader.at++
    return asName("import(...)", peek(reader, '<') && ++reader.at ? readList(reader, '>') : [])
  }
  readPostfix(reader)
  return asName(`${token} ...`)
}

/** `{ a: A, b?: B, [key: string]: C }`, as JSDoc also `{ a, b }`. */
function readRecord(reader) {
  const type = { kind: 'object', props: [] }
  while (!skip(reader, '}')) {
    skip(reader, 'readonly')
    if (skip(reader, '[')) {
      reader.at++
      expect(reader, ':')
      readUnion(reader)
      expect(reader, ']')
      expect(reader, ':')
      type.others = readUnion(reader)
    } else {
      const key = reader.lexemes[reader.at++] ?? '}'
      const optional = skip(reader, '?')
      const of = skip(reader, ':') ? readUnion(reader) : ANY
      type.props.push({ name: /^["']/.test(key) ? unquote(key) : key, type: of, optional })
    }
    if (!peek(reader, '}') && !skip(reader, ',') && !skip(reader, ';')) expect(reader, '}')
  }
  return type
}

// ---------------------------------------------------------------------------------------------------------------------
// Types as schemas

const same = (value) => value
const simple = (type, fits, read = same) => ({ schema: { type }, fits, read })
const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint'
const isText = (value) => typeof value === 'string'
const isWhole = (value) => typeof value === 'bigint' || Number.isInteger(value)
const number = (type, fits) =>
  simple(type, fits, (value, where) => (typeof value === 'bigint' ? exactNumber(value, where) : value))
const text = (more, fits, read) => ({ schema: { type: 'string', ...more }, fits, read })
const base64 = (make) => text({ contentEncoding: 'base64' }, isText, (value) => make(Buffer.from(value, 'base64')))
const anything = { schema: {}, fits: () => true, read: same, isAny: true }
const object = { schema: { type: 'object' }, fits: isObject, read: same }
const nothing = { schema: { type: 'null' }, fits: (value) => value === null, read: same }

/** The types known by name: `{ schema, fits, read }`, where `read` makes the JavaScript value of a JSON one. */
const KNOWN = {
  string: simple('string', isText),
  number: number('number', isNumber),
  boolean: simple('boolean', (value) => typeof value === 'boolean'),
  integer: number('integer', isWhole),
  bigint: simple('integer', isWhole, (value) => BigInt(value)),
  any: anything,
  object,
  null: nothing,
  undefined: { ...nothing, read: () => undefined, isAbsent: true },
  Date: text({ format: 'date-time' }, isDate, readDate),
  URL: text({ format: 'uri' }, (value) => isText(value) && isUrl(value), (value) => new URL(value)),
  RegExp: text({ format: 'regex' }, isText, readRegExp),
  Buffer: base64(same),
  Uint8Array: base64((bytes) => new Uint8Array(bytes)),
  ArrayBuffer: base64((bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
}

/** Other names of theirs. */
const ALSO = {
  String: 'string', str: 'string', Number: 'number', float: 'number', double: 'number', Boolean: 'boolean',
  bool: 'boolean',
  int: 'integer', Integer: 'integer', BigInt: 'bigint', Bigint: 'bigint', unknown: 'any', mixed: 'any', Any: 'any',
  Object: 'object', void: 'undefined', date: 'Date', regexp: 'RegExp', Url: 'URL',
}

const ARRAYS = new Set(['Array', 'array', 'ReadonlyArray', 'Iterable', 'Iterator', 'IterableIterator', 'Generator',
  'AsyncIterable', 'AsyncIterator', 'AsyncIterableIterator', 'AsyncGenerator'])
const MAPS = new Set(['Object', 'object', 'Record', 'Map', 'ReadonlyMap'])
const SETS = new Set(['Set', 'ReadonlySet'])
const THROUGH = new Set(['Promise', 'PromiseLike', 'Awaited', 'Readonly', 'NonNullable'])
const REFUSED = new Set(['Symbol', 'symbol', 'Function', 'function', 'WeakMap', 'WeakSet', 'WeakRef', 'never'])

function isDate(value) {
  return isText(value) && /^\d{4}-\d\d/.test(value) && !Number.isNaN(Date.parse(value))
}

function readDate(value, where) {
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) throw new TypeError(`${where}: '${clip(value)}' is no date`)
  return date
}

function readRegExp(value) {
  const [, source, flags] = /^\/([^]+)\/([a-z]*)$/.exec(value) ?? [null, value, '']
  return new RegExp(source, flags)
}

function isUrl(value) {
  try {
    return Boolean(new URL(value))
  } catch {
    return false
  }
}

/** The types of one script. */
class Types {
  typedefs = new Map()
  warned = new Set()
  leftOut = []

  constructor(source, warn) {
    this.warn = (what) => this.warned.has(what) || (this.warned.add(what), warn(what))
    for (const block of source.blocks) this.define(parseDoc(block))
    for (const [name, values] of source.enums) {
      this.typedefs.set(name, { type: { kind: 'union', of: values.map((value) => ({ kind: 'literal', value })) } })
    }
  }

  /** Takes the typedefs of a block: each has the properties that follow it. */
  define({ text, tags }) {
    tags.forEach((tag, index) => {
      if (tag.tag === 'callback') this.typedefs.set(tag.name, { type: { kind: 'function' } })
      if (tag.tag !== 'typedef' || !tag.name) return
      const next = tags.findIndex((other, at) => at > index && /^(typedef|callback)$/.test(other.tag))
      const properties = tags.slice(index + 1, next < 0 ? undefined : next).filter((one) => one.tag === 'property')
      const type = properties.length > 0 ? this.objectOf(properties, tag.type) : this.parse(tag.type, tag.name)
      this.typedefs.set(tag.name, { type, text: tag.text || text })
    })
  }

  /** The object that `name`, `name.part` and `list[].part` in tags describe. */
  objectOf(tags, base) {
    const top = tags.filter((tag) => tag.name && !tag.name.includes('.'))
    const props = top.map((tag) => {
      const { name, optional, default: given, text } = tag
      return { name, optional, default: given, text, type: this.withParts(tag, tags) }
    })
    const list = /^(Array|Object\[\]|object\[\])/.test(base ?? '')
    return list ? { kind: 'array', of: { kind: 'object', props } } : { kind: 'object', props }
  }

  /** The type of a tag, in full where further tags name its parts. */
  withParts(tag, tags) {
    const type = this.parse(tag.type, tag.name)
    const parts = tags.filter((one) => one.name?.startsWith(`${tag.name}.`) || one.name?.startsWith(`${tag.name}[].`))
    if (parts.length === 0) return type
    const bare = parts.map((one) => ({ ...one, name: one.name.slice(tag.name.length).replace(/^(\[\])?\./, '') }))
    const object = this.objectOf(bare)
    const isList = parts[0].name.startsWith(`${tag.name}[]`)
    const full = isList ? { kind: 'array', of: object } : object
    return type.kind === 'optional' ? { kind: 'optional', of: full } : full
  }

  parse(expression, what) {
    if (!expression) return ANY
    try {
      return parseType(expression)
    } catch (error) {
      this.warn(`the type {${clip(expression)}} of '${what}' cannot be read (${error.message}): any value is taken`)
      return ANY
    }
  }

  /** What a type is for JSON. `out` is for results, which may have members nobody announced. */
  lower(type, out = false) {
    const scope = { out, path: [], defs: {} }
    const lowered = this.lowerIn(type, scope)
    const schema = Object.keys(scope.defs).length > 0 ? { ...lowered.schema, $defs: scope.defs } : lowered.schema
    return { ...lowered, schema }
  }

  lowerIn(type, scope) {
    switch (type.kind) {
      case 'literal':
        return literal(type.value)
      case 'optional':
        return { ...this.lowerIn(type.of, scope), optional: true }
      case 'union':
        return this.lowerUnion(type, scope)
      case 'array':
        return this.deeper(scope, () => listOf(this.lowerIn(type.of, scope)))
      case 'tuple':
        return this.deeper(scope, () => tupleOf(type.items.map((item) => this.lowerIn(item, scope))))
      case 'object':
        return this.deeper(scope, () => this.lowerObject(type, scope))
      case 'all':
        return this.lowerAll(type, scope)
      case 'function':
        throw new Unfit('a function cannot come from JSON')
      default:
        return this.lowerName(type, scope)
    }
  }

  deeper(scope, make) {
    scope.path.push(null)
    const made = make()
    scope.path.pop()
    return made
  }

  lowerUnion({ of }, scope) {
    const lowered = flatten(of).map((one) => this.lowerIn(one, scope))
    const branches = lowered.filter((one) => !one.isAbsent || scope.out)
    const optional = branches.length < lowered.length || branches.some((one) => one.optional)
    if (branches.some((one) => one.isAny)) return { ...anything, optional }
    const fits = (value) => branches.some((one) => one.fits(value))
    const read = (value, where) => (branches.find((one) => one.fits(value))?.read ?? same)(value, where)
    return { schema: unionSchema(branches), fits, read, optional }
  }

  lowerObject({ props, others, open, text }, scope) {
    const lowered = props.map((prop) => [prop.name, this.lowerMember(prop, scope)])
    const members = new Map(lowered.filter(([, member]) => member))
    const rest = others ? this.lowerIn(others, scope) : undefined
    const required = [...members].filter(([, member]) => !member.optional).map(([name]) => name)
    const schema = { type: 'object', ...(text ? { description: text } : {}) }
    schema.properties = Object.fromEntries([...members].map(([name, member]) => [name, member.schema]))
    if (required.length > 0) schema.required = required
    if (rest) schema.additionalProperties = rest.schema
    else if (!scope.out && !open) schema.additionalProperties = false
    const of = (key) => members.get(key) ?? rest ?? (open || scope.out ? anything : undefined)
    const fits = (value) => isObject(value) && required.every((key) => Object.hasOwn(value, key)) &&
      Object.entries(value).every(([key, one]) => of(key)?.fits(one))
    const read = (value, where) => Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, (of(key) ?? anything).read(one, `${where}.${key}`)]))
    return { schema, fits, read }
  }

  /** A member with its description and default; none where it may be left out and cannot come from JSON. */
  lowerMember(prop, scope) {
    let member
    try {
      member = this.lowerIn(prop.type, scope)
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      if (prop.optional || prop.type.kind === 'optional') return undefined
      throw new Unfit(`'${prop.name}': ${error.message}`)
    }
    const optional = Boolean(prop.optional || member.optional || prop.default !== undefined)
    const schema = { ...member.schema }
    if (prop.text) schema.description = prop.text
    const given = prop.value !== undefined ? prop.value : defaultOf(prop.default, member)
    if (given !== undefined && member.fits(given)) schema.default = given
    return { ...member, schema, optional }
  }

  /** `A & B`: of objects, all their members. */
  lowerAll({ of }, scope) {
    const objects = of.map((one) => this.asObject(one))
    if (objects.some((one) => !one)) return anything
    return this.lowerIn({ kind: 'object', props: objects.flatMap((one) => one.props) }, scope)
  }

  lowerName(type, scope) {
    const { name, args } = type
    if (this.typedefs.has(name)) return this.lowerTypedef(name, scope)
    if (REFUSED.has(name)) throw new Unfit(`a ${name} cannot be written as JSON`)
    if (THROUGH.has(name)) return args[0] ? this.lowerIn(args[0], scope) : anything
    if (ARRAYS.has(name)) return args[0] ? this.lowerIn({ kind: 'array', of: args[0] }, scope) : listOf(anything)
    if (SETS.has(name)) return this.deeper(scope, () => setOf(this.lowerIn(args[0] ?? ANY, scope)))
    const isMap = MAPS.has(name) && (args.length > 0 || /Map$/.test(name))
    if (isMap) return this.deeper(scope, () => this.lowerMap(type, scope))
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : KNOWN[Object.hasOwn(ALSO, name) ? ALSO[name] : '']
    if (known) return known
    const members = this.asObject(type)
    if (members) return this.lowerIn(members, scope)
    this.warn(`the type '${name}' is not known here: any value is taken`)
    return anything
  }

  /** A type that is met within itself stands in $defs, so that it can be named again. */
  lowerTypedef(name, scope) {
    const { type, text } = this.typedefs.get(name)
    const above = scope.path.findLast((one) => one?.name === name)
    if (above) {
      if (!scope.path.slice(scope.path.indexOf(above)).includes(null)) {
        this.warn(`the type '${name}' is nothing but itself: any value is taken`)
        return anything
      }
      above.again = true
      const fits = (value) => above.lowered.fits(value)
      return { schema: { $ref: `#/$defs/${name}` }, fits, read: (...given) => above.lowered.read(...given) }
    }
    const entry = { name }
    scope.path.push(entry)
    const lowered = this.lowerIn(type.kind === 'object' && text ? { ...type, text } : type, scope)
    scope.path.pop()
    entry.lowered = lowered
    if (!entry.again) return lowered
    scope.defs[name] = lowered.schema
    return { ...lowered, schema: { $ref: `#/$defs/${name}` } }
  }

  /** Record<K, V>, Object<K, V>, Object<V>, Map<K, V>. */
  lowerMap({ name, args }, scope) {
    const isMap = /Map$/.test(name)
    const keys = this.keysOf(args.length > 1 ? args[0] : asName('string'), scope)
    const values = this.lowerIn(args.at(-1) ?? ANY, scope)
    if (!isMap && name === 'Record' && keys.names) {
      return this.lowerObject({ props: keys.names.map((key) => ({ name: key, type: args[1] ?? ANY })) }, scope)
    }
    const schema = { type: 'object', ...(keys.schema ? { propertyNames: keys.schema } : {}) }
    if (!values.isAny) schema.additionalProperties = values.schema
    const fitsMember = ([key, one]) => keys.fits(key) && values.fits(one)
    const fits = (value) => isObject(value) && Object.entries(value).every(fitsMember)
    const read = (value, where) => {
      const entries = Object.entries(value).map(([key, one]) =>
        [isMap ? keys.read(key, where) : key, values.read(one, `${where}.${key}`)])
      return isMap ? new Map(entries) : Object.fromEntries(entries)
    }
    return { schema, fits, read }
  }

  /** The keys of a map: always text in JSON, but perhaps the text of a number. */
  keysOf(type, scope) {
    const lowered = this.lowerIn(type, scope)
    const { enum: names, const: only, type: kind } = lowered.schema
    const all = names ?? (isText(only) ? [only] : undefined)
    if (all?.every(isText)) return { names: all, schema: { enum: all }, fits: (key) => all.includes(key), read: same }
    if (kind !== 'number' && kind !== 'integer') return { fits: () => true, read: same }
    const whole = kind === 'integer'
    const pattern = whole ? '^-?\\d+$' : '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$'
    const read = (key, where) => lowered.read(whole ? BigInt(key) : Number(key), where)
    return { schema: { pattern }, fits: (key) => new RegExp(pattern).test(key), read }
  }

  /** The type as an object with members, if it is one: by its own braces, a typedef, Partial<T> and the like. */
  asObject(type, seen = []) {
    if (type.kind === 'object') return type
    if (type.kind === 'optional') return this.asObject(type.of, seen)
    if (type.kind === 'all') {
      const parts = type.of.map((one) => this.asObject(one, seen))
      return parts.every(Boolean) ? { kind: 'object', props: parts.flatMap((one) => one.props) } : undefined
    }
    if (type.kind !== 'name' || seen.includes(type.name)) return undefined
    const typedef = this.typedefs.get(type.name)
    if (typedef) {
      const members = this.asObject(typedef.type, [...seen, type.name])
      return members && { text: typedef.text, ...members }
    }
    return this.utility(type, seen)
  }

  utility({ name, args: [of, keys] }, seen) {
    if (!/^(Partial|Required|Readonly|Pick|Omit)$/.test(name) || !of) return undefined
    const members = this.asObject(of, seen)
    if (!members) return undefined
    const named = keys ? flatten([keys]).map((key) => key.value) : []
    const props = members.props
      .filter((prop) => (name === 'Pick' ? named.includes(prop.name) : name !== 'Omit' || !named.includes(prop.name)))
      .map((prop) => {
        // What is left out of a part is to stay as it is: a default would change it.
        if (name === 'Partial') return { ...prop, optional: true, default: undefined }
        return name === 'Required' ? { ...prop, optional: false, default: undefined } : prop
      })
    return { ...members, props }
  }
}

/** The members of unions within a union. */
function flatten(types) {
  return types.flatMap((type) => (type.kind === 'union' ? flatten(type.of) : [type]))
}

function literal(value) {
  if (value === null) return nothing
  return { schema: { const: value }, fits: (other) => other === value, read: same }
}

/** The shortest schema of a union: one enum for literals, one list for bare types, else anyOf. */
function unionSchema(branches) {
  const literals = branches.filter((one) => 'const' in one.schema || 'enum' in one.schema || one.schema.type === 'null')
  const schemas = branches.map((one) => one.schema)
  if (literals.length === branches.length && !schemas.every((one) => one.type === 'null')) {
    const values = schemas.flatMap((one) => one.enum ?? ('const' in one ? [one.const] : [null]))
    if (values.length === 1) return { const: values[0] }
    return values.every(isText) ? { type: 'string', enum: values } : { enum: values }
  }
  if (schemas.length === 1) return schemas[0]
  if (schemas.every((one) => isText(one.type) && Object.keys(one).length === 1)) {
    const types = [...new Set(schemas.map((one) => one.type))]
    return { type: types.length > 1 ? types : types[0] }
  }
  return { anyOf: schemas }
}

function listOf(item) {
  const schema = item.isAny ? { type: 'array' } : { type: 'array', items: item.schema }
  const fits = (value) => Array.isArray(value) && value.every(item.fits)
  return { schema, fits, read: (value, where) => value.map((one, index) => item.read(one, `${where}[${index}]`)) }
}

function setOf(item) {
  const list = listOf(item)
  const read = (...given) => new Set(list.read(...given))
  return { schema: { ...list.schema, uniqueItems: true }, fits: list.fits, read }
}

function tupleOf(items) {
  const least = items.filter((item) => !item.optional).length
  const prefixItems = items.map((item) => item.schema)
  const schema = { type: 'array', prefixItems, items: false, minItems: least, maxItems: items.length }
  const fits = (value) => Array.isArray(value) && value.length >= least && value.length <= items.length &&
    value.every((one, index) => items[index].fits(one))
  const read = (value, where) => value.map((one, index) => items[index].read(one, `${where}[${index}]`))
  return { schema, fits, read }
}

/** The default that a JSDoc comment states: JSON, or the text itself where text is wanted. */
function defaultOf(given, member) {
  if (given === undefined) return undefined
  const isCode = /[()]|^[A-Za-z_$][\w$]*(\.[\w$]+)+$/.test(given)
  const candidates = [jsonOr(given), /^(['"`])[^]*\1$/.test(given) ? unquote(given) : undefined]
  if (!isCode && !member.isAny) candidates.push(given)
  return candidates.find((value) => value !== undefined && value !== null && member.fits(value))
}

// ---------------------------------------------------------------------------------------------------------------------
// A function as a tool

/** `{ about, run, later }` of an exported function and its JSDoc comment. */
function makeTool(name, run, owner, doc, types) {
  const { type, spread } = argumentsOf(run, doc, types)
  const given = types.lower(type)
  const about = { name, description: doc.text || undefined, argument_schema: given.schema }
  const result = resultOf(doc, types)
  if (result.schema) about.output_schema = result.schema
  const call = (kwargs) => run.apply(owner, spread(given.read(kwargs, name)))
  const later = /^Async/.test(run.constructor.name) || /^(Promise|Async)/.test(returnsTag(doc)?.type ?? '')
  return { about, later, run: result.isVoid ? (kwargs) => forget(call(kwargs)) : call }
}

function forget(result) {
  return typeof result?.then === 'function' ? result.then(() => null) : null
}

function returnsTag(doc) {
  return doc.tags.find((tag) => tag.tag === 'returns')
}

/** The schema of the result. What a generator yields is an array of it. */
function resultOf(doc, types) {
  const told = returnsTag(doc) ?? doc.tags.find((tag) => tag.tag === 'yields')
  if (!told) return {}
  const type = types.parse(told.type, 'the result')
  try {
    const { schema } = types.lower(told.tag === 'yields' ? { kind: 'array', of: type } : type, true)
    const whole = told.text ? { ...schema, description: told.text } : schema
    return { schema: Object.keys(whole).length > 0 ? whole : undefined, isVoid: isNothing(type) }
  } catch (error) {
    throw error instanceof Unfit ? new Unfit(`its result: ${error.message}`) : error
  }
}

/** void, undefined, and a promise of them. */
function isNothing({ kind, name, args }) {
  return kind === 'name' && (/^(void|undefined)$/.test(name) || (THROUGH.has(name) && args.some(isNothing)))
}

/** The arguments as one object type, and how they are spread over the parameters. */
function argumentsOf(run, doc, types) {
  const tags = doc.tags.filter((tag) => tag.tag === 'param' && tag.name)
  const documented = tags.filter((tag) => !tag.name.includes('.'))
  const fields = parametersOf(run, documented).map((field) => ({ ...field, type: typeOf(field, tags, types) }))
  const [only, second] = fields
  const members = only && !second && !only.rest ? membersOf(only, types) : undefined
  if (members) return { type: members, spread: (kwargs) => [kwargs] }
  const props = fields.map(({ name, type, rest, optional, tag, value, pattern }) => ({
    name,
    // An object that is taken apart, and of which nothing is said.
    type: pattern && type === ANY ? asName('object') : type,
    optional: optional || rest || tag?.optional,
    value,
    default: tag?.default,
    text: tag?.text,
  }))
  const spread = (kwargs) => fields.flatMap((field) => (field.rest ? kwargs[field.name] ?? [] : [kwargs[field.name]]))
  return { type: { kind: 'object', props }, spread }
}

function typeOf({ tag, rest }, tags, types) {
  const type = tag ? types.withParts(tag, tags) : ANY
  if (!rest) return type
  return type.kind === 'array' || (type.kind === 'name' && ARRAYS.has(type.name)) ? type : { kind: 'array', of: type }
}

/** The members of the only parameter, where it is an object that has some: they are the arguments. */
function membersOf({ type, pattern, tag }, types) {
  const known = types.asObject(type)
  if (known?.props.length > 0 && !pattern) return { ...known, text: undefined }
  if (!pattern) return undefined
  const props = new Map((known?.props ?? []).map((prop) => [prop.name, prop]))
  for (const { key, optional, value } of pattern.keys) {
    const prop = props.get(key) ?? { name: key, type: ANY }
    props.set(key, { ...prop, optional: prop.optional || optional, value })
  }
  return { kind: 'object', props: [...props.values()], open: pattern.rest && !known }
}

/** The parameters of the function, each with its tag: by name, and what has no name by its place. */
function parametersOf(run, documented) {
  const real = readParameters(Function.prototype.toString.call(run))
  const isWrapped = !real || (real.length === 0 && documented.length > 0) ||
    (real.length === 1 && real[0].rest && !documented.some((tag) => tag.name === real[0].name))
  if (isWrapped && (documented.length > 0 || !real)) {
    return documented.map((tag) => ({ name: tag.name, tag, rest: /^\.\.\./.test(tag.type ?? '') }))
  }
  const names = new Set(real.map((one) => one.name))
  return real.map((one, index) => {
    const byName = documented.find((tag) => tag.name === one.name)
    const byPlace = documented[index] && !names.has(documented[index].name) ? documented[index] : undefined
    const tag = byName ?? byPlace
    return { ...one, tag, name: one.name ?? tag?.name ?? `arg${index + 1}` }
  })
}

/** The parameters that the text of a function declares; none for one that is not written in JavaScript. */
function readParameters(text) {
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) return undefined
  const { tokens } = tokenize(text)
  let at = tokens[0]?.text === 'async' && !/^(=>|\()$/.test(tokens[1]?.text) ? 1 : 0
  if (tokens[at]?.kind === 'word' && tokens[at + 1]?.text === '=>') return [{ name: tokens[at].text }]
  if (tokens[at]?.text === '[') at = tokens[at].close
  const open = tokens.findIndex((token, index) => index >= at && token.text === '(')
  return splitList(tokens, open).map(readParameter)
}

/** What stands between commas within the bracket at `open`. */
function splitList(tokens, open) {
  const parts = [[]]
  const end = tokens[open]?.close ?? open
  let depth = 0
  for (let at = open + 1; at < end; at++) {
    if (')]}'.includes(tokens[at].text)) depth--
    if (tokens[at].text === ',' && depth === 0) parts.push([])
    else parts.at(-1).push(tokens[at])
    if ('([{'.includes(tokens[at].text)) depth++
  }
  return parts.filter((part) => part.length > 0)
}

function readParameter(tokens) {
  if (tokens[0].text === '...') return { name: tokens[1].text, rest: true }
  const isPattern = tokens[0].text === '{' || tokens[0].text === '['
  const end = isPattern ? partnerOf(tokens, 0) : 0
  const optional = tokens[end + 1]?.text === '='
  const value = optional ? literalOf(wholeOf(tokens, end + 2)) : undefined
  if (tokens[0].text === '{') return { optional, pattern: readPattern(tokens.slice(0, end + 1)) }
  return { name: isPattern ? undefined : tokens[0].text, optional, value }
}

/** The rest of the tokens, where it is short enough to be one literal. */
function wholeOf(tokens, at) {
  const rest = tokens.slice(at)
  return rest.length === 1 || (rest.length === 2 && rest[0].text === '-') ? rest : []
}

function partnerOf(tokens, open) {
  let depth = 0
  return tokens.findIndex((token, at) => {
    if (at >= open && '([{'.includes(token.text)) depth++
    return at >= open && ')]}'.includes(token.text) && --depth === 0
  })
}

/** `{ a, b: c = 3, ...rest }` */
function readPattern(tokens) {
  const inside = splitList([{ ...tokens[0], close: tokens.length - 1 }, ...tokens.slice(1)], 0)
  const keys = inside.filter((part) => part[0].text !== '...').map((part) => {
    const key = part[0].kind === 'string' ? unquote(part[0].text) : part[0].text
    const isNested = /^[{[]$/.test(part[2]?.text ?? '')
    const end = part[1]?.text !== ':' ? 1 : isNested ? partnerOf(part, 2) + 1 : 3
    const optional = part[end]?.text === '='
    return { key, optional, value: optional ? literalOf(wholeOf(part, end + 1)) : undefined }
  })
  return { keys, rest: inside.length > keys.length }
}
