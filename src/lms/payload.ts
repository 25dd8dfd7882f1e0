import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { JsonLimitError, parseJson } from '../codec/json-text.ts'
import { decodeUtf8, isStorableText, NotUtf8Error } from '../codec/unicode-text.ts'
import { malformedPayload } from './delivery-fault.ts'

/** Limits beyond what any of the systems sends. */
const maxDepth = 32
const maxMembers = 1000

/**
 * Parses the JSON object of a payload. Throws DeliveryFault `malformed_payload` on anything else, and beyond
 * the limits.
 */
export function parsePayload(bytes: Uint8Array): JsonObject {
  let value: unknown
  try {
    value = parseJson(decodeUtf8(bytes))
  } catch (cause) {
    // Other messages quote the text, which may contain a secret.
    const isLimit = cause instanceof JsonLimitError || cause instanceof NotUtf8Error
    throw malformedPayload(`The payload is not valid JSON${isLimit ? `: ${cause.message}` : ''}.`, cause)
  }
  if (!isJsonObject(value)) throw malformedPayload('The payload is not a JSON object.')
  assertBounded(value, 1)
  return value
}

function assertBounded(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (!isStorableText(value))
      throw malformedPayload('The payload has text that is not well-formed Unicode without U+0000.')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw malformedPayload(`The payload is nested deeper than ${maxDepth} levels.`)
  const entries = Object.entries(value)
  if (entries.length > maxMembers) {
    throw malformedPayload(`The payload has a list or object of more than ${maxMembers} members.`)
  }
  for (const [name, member] of entries) {
    assertBounded(name, depth)
    assertBounded(member, depth + 1)
  }
}
