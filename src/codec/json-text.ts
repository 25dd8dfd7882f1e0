export type JsonObject = Record<string, unknown>

/** True for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Code that reads nested values recurses as deeply. */
export const maxJsonDepth = 200

/** JSON beyond a limit of depth or size, well-formed or not; the message is the reason alone. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError'
}

/** Maximum digits of an integer: making a bigint takes time that grows faster than its length. */
const maxDigits = 1000
const tooManyDigits = `it has an integer of more than ${maxDigits} digits`

/**
 * Parses a JSON text. An integer that a number cannot hold exactly becomes a bigint: a rounded id would name
 * another record. Throws SyntaxError, and JsonLimitError on text that nests too deeply or has a number beyond
 * 1.8e308 or an integer of more than 1,000 digits.
 */
export function parseJson(text: string): unknown {
  const marked =
    text.split(opening, maxJsonDepth + 1).length <= maxJsonDepth && !inexactNumber.test(text)
      ? text
      : markNumbers(text)
  if (marked === text) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(marked)
  } catch {
    // Parse the original, so that the message is about that.
    return JSON.parse(text)
  }
  return unmarkNumbers(value)
}

/** Null for text that is not JSON, or beyond a limit. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

/** Writes bigints as integers. Throws TypeError on a cycle. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? 'null'
  } catch (error) {
    // JSON.stringify throws the same error for a bigint as for a cycle.
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, (_, member: unknown) => rawInteger(member), indent)
  }
}

/** Replacer for JSON.stringify: writes a bigint as an integer. */
export function rawInteger(value: unknown): unknown {
  return typeof value === 'bigint' ? withRaw.rawJSON(String(value)) : value
}

/** JSON.rawJSON (ECMAScript 2026) is missing from the compiler's library. */
const withRaw = JSON as unknown as { rawJSON(text: string): unknown }

const quote = 0x22
const backslash = 0x5c
/** Number of digits of the smallest integer that a double cannot hold. */
const inexactDigits = 16

/** Beginning of a nested value. A text with few of them, even within strings, needs no exact count. */
const opening = /[[{]/
/** Beginning of a number that a double may not hold, unless it is within a string. */
const inexactNumber = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE])/
const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Prefix of the string that stands for a marked number. JSON can contain this character only as this escape;
 * a string that begins with it gets one more.
 */
const marker = '\\u0001'
const markerCode = 1

/**
 * Replaces each number that a double may not hold (a long integer, or any with an exponent) with a string.
 * Asking the engine for the source of every value takes twenty times as long. Text that is not JSON does not
 * become JSON. Throws JsonLimitError.
 */
function markNumbers(text: string): string {
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
      if (depth > maxJsonDepth) throw new JsonLimitError(`it is nested more than ${maxJsonDepth} levels deep`)
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

/** Finds the end of a possible number. Throws JsonLimitError on an integer that is too long. */
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
  // Every reader rounds fractions.
  return { end, mayBeInexact: isInteger && digits >= inexactDigits }
}

function unmarkNumbers(value: unknown): unknown {
  if (typeof value === 'string')
    return value.charCodeAt(0) === markerCode ? parseMarked(value.slice(1)) : value
  if (typeof value !== 'object' || value === null) return value
  setMembers(value, unmarkNumbers)
  return value
}

export function setMembers(parent: object, replace: (member: unknown) => unknown): void {
  if (Array.isArray(parent)) {
    for (let index = 0; index < parent.length; index += 1) parent[index] = replace(parent[index])
    return
  }
  for (const name of Object.keys(parent)) {
    const member = (parent as Record<string, unknown>)[name]
    const value = replace(member)
    // defineProperty, because assigning a member named __proto__ sets the prototype.
    if (!Object.is(value, member)) {
      Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true })
    }
  }
}

function parseMarked(text: string): unknown {
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

/** True where the name of a member ends at `end`. */
function isName(text: string, end: number): boolean {
  let at = end
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1
  return text[at] === ':'
}

/** Finds the end of the string that begins at `start`; -1 if it is unterminated. */
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
