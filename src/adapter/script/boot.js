// Run by `node -e`, with the protocol on descriptor 3 and 4, and the arguments N and SCRIPT. The first N bytes of the
// input are the text of toolhost.mjs, which serves the script; so nothing has to be installed anywhere.
{
  const fs = require('node:fs')
  const [size, script] = process.argv.slice(1)
  const source = Buffer.alloc(Number(size))
  for (let read = 0; read < source.length; ) {
    const more = fs.readSync(3, source, read, source.length - read, null)
    if (more === 0) process.exit(0) // the host changed its mind
    read += more
  }
  // The script finds what `node script.js` would give it, and none of the globals of `node -e`.
  process.argv = [process.argv[0], require('node:path').resolve(script)]
  process.execArgv = []
  const usual = ['console', 'process', 'crypto']
  const extra = require('node:module').builtinModules.filter((name) => !usual.includes(name))
  for (const name of [...extra, 'require', 'exports', '__filename', '__dirname']) delete globalThis[name]
  // The last line is the name of this text in a stack.
  const url = `data:text/javascript;base64,${Buffer.concat([source, Buffer.from('\n//# sourceURL=toolhost.mjs\n')]).toString('base64')}`
  import(url).then((toolhost) => toolhost.runScript(script, { input: 3, output: 4 }))
}
