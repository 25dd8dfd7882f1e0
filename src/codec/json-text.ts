/** Values in values, further than anything that people or programs mean; what reads them calls itself as often. */
export const deepest = 200

/** JSON that is too much to be read, though it may be well-formed; the message is the reason alone. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError'
}

/**
 * The value of a JSON text. Integers that a number cannot hold exactly are a bigint: rounded, an id would be that of
 * another thing. Throws SyntaxError, and JsonLimitError on text that nests too deeply or has a number beyond 1.8e308.
 */
export function parseJson(text: string): unknown {
  const { tooDeep, inexact } = looked(text)
  if (tooDeep) throw new JsonLimitError(`it is nested more than ${deepest} levels deep`)
  // The source of a value (ECMAScript 2026) takes five times as long, which few texts need.
  return inexact ? withSources.parse(text, exact) : JSON.parse(text)
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
  return typeof value === 'bigint' ? withSources.rawJSON(String(value)) : value
}

/** What the compiler's library does not know yet of JSON (ECMAScript 2026). */
interface SourceAccess {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
const withSources = JSON as unknown as SourceAccess

function exact(_: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  if (/^-?\d+$/.test(source)) return BigInt(source)
  if (Number.isFinite(value)) return value
  throw new JsonLimitError(`${source.slice(0, 40)} is out of range for a number`)
}

const quote = 0x22
const backslash = 0x5c
/** The smallest integer that a double cannot hold has so many digits. */
const inexactDigits = 16

/** What begins a level of nesting; a text with few of them, strings included, needs no second look. */
const opening = /[[{]/
/** Where a number begins that a double may not hold, if it is no part of a string. */
const notable = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE])/

/**
 * What a JSON text has outside of its strings: more nesting than is read, and numbers that a double may not hold, which
 * are long integers and any with an exponent.
 */
function looked(text: string): { readonly tooDeep: boolean; readonly inexact: boolean } {
  if (text.split(opening, deepest + 1).length <= deepest && !notable.test(text)) {
    return { tooDeep: false, inexact: false }
  }
  let depth = 0
  let digits = 0
  let inexact = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      digits += 1
      if (digits === inexactDigits) inexact = true
      continue
    }
    if (code === quote) {
      at = endOfString(text, at)
      if (at < 0) break
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > deepest) return { tooDeep: true, inexact }
    } else if (code === 0x7d || code === 0x5d) depth -= 1
    else if ((code | 0x20) === 0x65 && digits !== 0) inexact = true
    // Those of a fraction are rounded by every reader.
    digits = code === 0x2e ? -text.length : 0
  }
  return { tooDeep: false, inexact }
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
