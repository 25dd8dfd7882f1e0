/** Values in values, further than anything that people or programs mean; what reads them calls itself as often. */
export const deepest = 200

/** JSON that is too much to be read, though it may be well-formed; the message is the reason alone. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError'
}

/** An integer has no more digits than this: making a bigint takes a time that grows faster than its length. */
export const maxDigits = 1000
/** Reason of a JsonLimitError for an integer that is too long. */
export const tooManyDigits = `it has an integer of more than ${maxDigits} digits`

/**
 * The value of a JSON text. Integers that a number cannot hold exactly are a bigint: rounded, an id would be that of
 * another thing. Throws SyntaxError, and JsonLimitError on text that nests too deeply or has a number beyond 1.8e308 or
 * an integer of more than 1,000 digits.
 */
export function parseJson(text: string): unknown {
  const marked = text.split(opening, deepest + 1).length <= deepest && !notable.test(text) ? text : mark(text)
  if (marked === text) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(marked)
  } catch {
    // The engine's words are to be about the text as it came.
    return JSON.parse(text)
  }
  return unmark(value)
}

/** The same; null for what is no JSON, or more than can be read. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

/** A value as JSON text, bigints as the integers that they are. Throws TypeError on a cycle. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? 'null'
  } catch (error) {
    // It refuses a bigint by itself, as it does a cycle.
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, (_, member: unknown) => rawInteger(member), indent)
  }
}

/** What JSON.stringify is to write for a value: a bigint as an integer, anything else as it is. */
export function rawInteger(value: unknown): unknown {
  return typeof value === 'bigint' ? withRaw.rawJSON(String(value)) : value
}

/** The compiler's library does not know this part of JSON yet (ECMAScript 2026). */
const withRaw = JSON as unknown as { rawJSON(text: string): unknown }

const quote = 0x22
const backslash = 0x5c
/** The smallest integer that a double cannot hold has so many digits. */
const inexactDigits = 16

/** What begins a level of nesting; a text with few of them, strings included, needs no second look. */
const opening = /[[{]/
/** Where a number begins that a double may not hold, if it is no part of a string. */
const notable = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE])/
const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * What the text of a marked number begins with. JSON has this character as an escape alone, which is always written so;
 * a text that begins with it is given one more.
 */
const marker = '\\u0001'
const markerCode = 1

/**
 * The same JSON with a text in place of each number that a double may not hold, which is a long integer or any with an
 * exponent: asking the engine for the source of every value takes twenty times as long. Text that is no JSON does not
 * become JSON. Throws JsonLimitError.
 */
function mark(text: string): string {
  const pieces: string[] = []
  let taken = 0
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (end < 0) break
      if (text.startsWith(marker, at + 1) && !isName(text, end + 1)) {
        pieces.push(text.slice(taken, at + 1), marker)
        taken = at + 1
      }
      at = end
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > deepest) throw new JsonLimitError(`it is nested more than ${deepest} levels deep`)
    } else if (code === 0x7d || code === 0x5d) depth -= 1
    else if (isDigit(code) || code === 0x2d) {
      const { end, mayBeInexact } = numberAt(text, at)
      const source = mayBeInexact ? text.slice(at, end) : ''
      if (wholeNumber.test(source) && !isName(text, end)) {
        pieces.push(text.slice(taken, at), `"${marker}`, source, '"')
        taken = end
      }
      at = end - 1
    }
  }
  return taken === 0 ? text : pieces.join('') + text.slice(taken)
}

/** Where that ends which may be a number. Throws JsonLimitError on an integer that is too long. */
function numberAt(text: string, start: number): { readonly end: number; readonly mayBeInexact: boolean } {
  let end = start + 1
  let isInteger = true
  let hasExponent = false
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (isDigit(code)) continue
    if (code === 0x2e) isInteger = false
    else if ((code | 0x20) === 0x65) hasExponent = true
    else if (code !== 0x2b && code !== 0x2d) break
  }
  if (hasExponent) return { end, mayBeInexact: true }
  const digits = end - start - (text[start] === '-' ? 1 : 0)
  if (isInteger && digits > maxDigits) throw new JsonLimitError(tooManyDigits)
  // The digits of a fraction are rounded by every reader.
  return { end, mayBeInexact: isInteger && digits >= inexactDigits }
}

/** The value with its numbers in place of their texts. */
function unmark(value: unknown): unknown {
  if (typeof value === 'string') return value.charCodeAt(0) === markerCode ? unmarked(value.slice(1)) : value
  if (typeof value !== 'object' || value === null) return value
  setMembers(value, unmark)
  return value
}

/** Puts in place of each member of an object or array that which is made from it. */
export function setMembers(parent: object, ownOf: (member: unknown) => unknown): void {
  if (Array.isArray(parent)) {
    for (let index = 0; index < parent.length; index += 1) parent[index] = ownOf(parent[index])
    return
  }
  for (const name of Object.keys(parent)) {
    const member = (parent as Record<string, unknown>)[name]
    const value = ownOf(member)
    // Set in the usual way, a member named __proto__ would be the prototype.
    if (!Object.is(value, member)) {
      Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true })
    }
  }
}

function unmarked(text: string): unknown {
  if (text.charCodeAt(0) === markerCode) return text
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  if (/^-?\d+$/.test(text)) return BigInt(text)
  if (Number.isFinite(number)) return number
  throw new JsonLimitError(`${text.slice(0, 40)} is out of range for a number`)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** True where the name of a member ends at this place. */
function isName(text: string, end: number): boolean {
  let at = end
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1
  return text[at] === ':'
}

/** Where a string ends that begins at `start`; -1 where it does not. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before -= 1
  return (at - before) % 2 === 0
}
