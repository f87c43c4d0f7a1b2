const fs = require('node:fs')
const path = require('node:path')

/**
 * Convert money by the rates saved this morning.
 * @typedef {Object} Args
 * @property {number} amount How much
 * @property {string} from Currency code, e.g. EUR
 * @property {string} to Currency code
 * @property {('floor'|'round')} [rounding] How to get to cents
 * @param {Args} args
 */
exports.run = function (args) {
  const rates = JSON.parse(fs.readFileSync(path.join(process.env.HOME, 'rates.json'), 'utf8'))
  for (const code of [args.from, args.to]) {
    if (!(code in rates)) throw new Error(`no rate for ${code}`)
  }
  const round = Math[args.rounding ?? 'round']
  return `${round(args.amount / rates[args.from] * rates[args.to] * 100) / 100} ${args.to}`
}
