import { isJsonObject } from '../codec/json-object.ts'
import { bareName } from './member.ts'
import { wordsOf } from './nouns.ts'

/** What an envelope is called where it is not called after the thing in it. */
const envelopes: ReadonlySet<string> = new Set([
  ...['data', 'result', 'results', 'response', 'payload', 'item', 'record', 'resource', 'object', 'body'],
])
/** What an envelope says about the call, rather than about the thing. */
const remarks: ReadonlySet<string> = new Set([
  ...['success', 'ok', 'status', 'statuscode', 'code', 'message', 'msg', 'error', 'errors', 'warnings'],
  ...['meta', 'metadata', 'links', 'included', 'jsonapi', 'timestamp', 'requestid', 'took'],
])
const deepest = 3

/** True for the name, without case and separators, of what an envelope says about the call. */
export function isRemark(name: string): boolean {
  return remarks.has(name)
}

/**
 * The thing in an answer about one thing: out of an object with a single member, such as `{"data": {…}}` or
 * `{"course": {…}}`, also where that says `"success": true` besides, and out of an array of one. Anything else as it is.
 */
export function thingIn(body: unknown, noun: string, depth = deepest): unknown {
  const inner = depth === 0 ? undefined : contentOf(body, noun)
  return inner === undefined ? body : thingIn(inner, noun, depth - 1)
}

function contentOf(body: unknown, noun: string): unknown {
  if (Array.isArray(body)) return body.length === 1 && isJsonObject(body[0]) ? body[0] : undefined
  if (!isJsonObject(body)) return undefined
  const names = Object.keys(body)
  const name = names.find((each) => !isRemark(bareName(each)))
  if (name === undefined || names.some((each) => each !== name && !isRemark(bareName(each)))) return undefined
  const value = body[name]
  const alone = names.length === 1
  const expected = envelopes.has(bareName(name)) || wordsOf(noun).map(bareName).includes(bareName(name))
  if (isJsonObject(value)) return alone || expected ? value : undefined
  return expected && Array.isArray(value) && value.length === 1 && isJsonObject(value[0])
    ? value[0]
    : undefined
}
