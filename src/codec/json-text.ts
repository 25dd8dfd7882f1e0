export type JsonObject = Record<string, unknown>

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
  const value: unknown = JSON.parse(text)
  // A text with few opening brackets, even within strings, is not nested deeply.
  if (text.split(opening, maxJsonDepth + 1).length > maxJsonDepth) assertDepth(value, maxJsonDepth)
  return inexactNumber.test(text) ? withSources.parse(text, exactNumber) : value
}

const opening = /[[{]/
/** Beginning of a number that a double may not hold, unless it is within a string. */
const inexactNumber = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE])/

function assertDepth(value: unknown, left: number): void {
  if (typeof value !== 'object' || value === null) return
  if (left === 0) throw new JsonLimitError(`it is nested more than ${maxJsonDepth} levels deep`)
  for (const member of Object.values(value)) if (typeof member === 'object') assertDepth(member, left - 1)
}

/** Texts of numbers (ECMAScript 2026) are missing from the compiler's library. */
const withSources = JSON as unknown as {
  parse(text: string, revive: (name: string, value: unknown, at: { source: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

function exactNumber(_: string, value: unknown, { source }: { source: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  // A search for digits to the end would need memory for each of them.
  if (!/[.eE]/.test(source)) {
    if (source.replace('-', '').length > maxDigits) throw new JsonLimitError(tooManyDigits)
    return BigInt(source)
  }
  if (Number.isFinite(value)) return value
  throw new JsonLimitError(`${source.slice(0, 40)} is out of range for a number`)
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

export function rawInteger(value: unknown): unknown {
  return typeof value === 'bigint' ? withSources.rawJSON(String(value)) : value
}
