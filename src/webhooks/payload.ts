import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { JsonLimitError, parseJson } from '../codec/json-text.ts'
import { isStorableText, NotUtf8Error, utf8Text } from '../codec/unicode-text.ts'
import { malformed } from './delivery-fault.ts'

/** Deeper, and more in one list or object, than any of the systems sends. */
const maximumDepth = 32
const maximumMembers = 1000

/** The object that a payload is. Throws DeliveryFault `malformed_payload` on anything else, and on more than is read. */
export function parsePayload(bytes: Uint8Array): JsonObject {
  let value: unknown
  try {
    value = parseJson(utf8Text(bytes))
  } catch (cause) {
    // What a parser says of a text has a piece of it, and a secret may be in that.
    const isLimit = cause instanceof JsonLimitError || cause instanceof NotUtf8Error
    throw malformed(`The payload is not valid JSON${isLimit ? `: ${cause.message}` : ''}.`, cause)
  }
  if (!isJsonObject(value)) throw malformed('The payload is not a JSON object.')
  assertBounded(value, 1)
  return value
}

function assertBounded(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (!isStorableText(value))
      throw malformed('The payload has text that is not well-formed Unicode without U+0000.')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > maximumDepth) throw malformed(`The payload is nested deeper than ${maximumDepth} levels.`)
  const entries = Object.entries(value)
  if (entries.length > maximumMembers) {
    throw malformed(`The payload has a list or object of more than ${maximumMembers} members.`)
  }
  for (const [name, member] of entries) {
    assertBounded(name, depth)
    assertBounded(member, depth + 1)
  }
}
