// @NAME@: each exported function with a JSDoc comment is a tool.

const birthdays = new Map([['Ada', '10 December'], ['Grace', '9 December']])

/**
 * Greets someone.
 *
 * @param {string} [name=world] Whom to greet.
 * @returns {string}
 */
export function hello(name = 'world') {
  return `Hello, ${name}!`
}

/**
 * Tells when someone has their birthday.
 *
 * @param {string} name Whose birthday it is.
 * @returns {string}
 */
export function birthday(name) {
  if (!birthdays.has(name)) throw new Error(`nobody called ${name} is in the book`) // the caller reads this
  return birthdays.get(name)
}
