// The text of toolhost.mjs comes first on descriptor 3; then the protocol, answered on 4.
{
  const fs = require('node:fs')
  const path = require('node:path')
  const { builtinModules } = require('node:module')
  const [size, script, concurrent] = process.argv.slice(1)
  const source = Buffer.alloc(Number(size))
  for (let read = 0, more; read < source.length; read += more) {
    more = fs.readSync(3, source, read, source.length - read, null)
    if (more === 0) process.exit(0)
  }
  // What stacks call it.
  const named = Buffer.concat([source, Buffer.from('\n//# sourceURL=toolhost.mjs\n')])
  import(`data:text/javascript;base64,${named.toString('base64')}`).then((toolhost) => {
    // As for `node script.js`: without the globals of `node -e`, one of which is set again at its end.
    process.argv = [process.argv[0], path.resolve(script)]
    process.execArgv = []
    const extra = builtinModules.filter((name) => !['console', 'process', 'crypto'].includes(name))
    for (const name of [...extra, 'require', 'exports', '__filename', '__dirname']) delete globalThis[name]
    return toolhost.runScript(script, { input: 3, output: 4, concurrent: Number(concurrent) || undefined })
  })
}
