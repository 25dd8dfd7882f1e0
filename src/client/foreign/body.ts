import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { ProtocolError, type Target } from '../errors.ts'
import { subjectOf } from '../reply.ts'
import { bareName, listNamesOf, nounOf, wordsOf } from './names.ts'
import { memberOf } from './record.ts'

/** Names of envelopes, besides that of the record in it. */
const envelopes: ReadonlySet<string> = new Set([
  ...['data', 'result', 'results', 'response', 'payload', 'item', 'record', 'resource', 'object', 'body'],
])
/** Members of an envelope that describe the call, not the record. */
const remarks: ReadonlySet<string> = new Set([
  ...['success', 'ok', 'status', 'statuscode', 'code', 'message', 'msg', 'error', 'errors', 'warnings'],
  ...['meta', 'metadata', 'links', 'included', 'jsonapi', 'timestamp', 'requestid', 'took'],
])
const maxDepth = 3

/** True for a normalised name (`bareName`) of a member that describes the call. */
export function isRemark(name: string): boolean {
  return remarks.has(name)
}

/**
 * Returns the record in a response: from an object with a single member, such as `{"data": {…}}` or `{"course": {…}}`,
 * also with `"success": true` beside it, or from an array of one item. Returns anything else unchanged.
 */
export function thingIn(body: unknown, noun: string, depth = maxDepth): unknown {
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

/** A list in the form of this API: the items, and the cursor of the next page if the body has one. */
export interface ListBody {
  readonly data: readonly unknown[]
  readonly nextCursor: string | null
  readonly [member: string]: unknown
}

/** A list found in a body. */
interface FoundList {
  readonly items: readonly unknown[]
  /** Objects that enclose the list, the outermost first; empty for a bare array. */
  readonly around: readonly JsonObject[]
}

/** General names of lists, in the order in which they are preferred. */
const generalNames = [
  ...['data', 'items', 'results', 'records', 'rows', 'entries', 'content', 'value', 'values', 'docs'],
  ...['documents', 'list', 'collection', 'elements', 'members', 'hits', 'nodes', 'objects', 'resources'],
]
/** Names of lists that accompany the requested list. */
const besideNames: ReadonlySet<string> = new Set([
  ...['errors', 'error', 'warnings', 'links', 'tags', 'messages', 'notices', 'included', 'meta'],
  ...['facets', 'filters', 'columns', 'fields', 'headers', 'roles', 'scopes', 'permissions', 'sort'],
])
/** Names of objects that may contain a list. `_embedded` is HAL's. */
const listEnvelopes = [
  'data',
  'result',
  'results',
  'response',
  'payload',
  'body',
  'embedded',
  'content',
  'page',
]
/** Fields of which a record of the API has at least one; errors and links have none. */
const recordFields = ['id', 'title', 'email', 'courseId', 'learnerId']

/** Returns the list in the response to an operation. Throws ProtocolError if the body has none. */
export function foundList(
  target: Target,
  body: unknown,
  operation: Pick<Operation, 'id' | 'path'>,
): FoundList {
  const found = listIn(body, listNamesOf(operation), nounOf(operation))
  if (found) return found
  throw new ProtocolError(target, 'unexpected_shape', `${subjectOf(target)} contains no list`)
}

/** Returns a list as a body with its items in `data`; keeps the other members of the enclosing object. */
export function listBodyOf({ items, around }: FoundList): ListBody {
  const holder = around.at(-1) ?? {}
  const cursor = holder['nextCursor']
  return { ...holder, data: items, nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null }
}

/**
 * Finds the list in a body: a bare array, a member with the name of the list, or an object's only array if it contains
 * records of the API; also inside an envelope. Null if there is none: errors, links and tags are not lists.
 *
 * @param names possible names of the list, such as `courses`
 */
function listIn(body: unknown, names: readonly string[], noun?: string): FoundList | null {
  if (Array.isArray(body)) return { items: body, around: [] }
  const known = [...new Set(['data', ...names, ...generalNames].map(bareName))]
  return isJsonObject(body) ? inObject(body, known, names.map(bareName), noun, maxDepth) : null
}

function inObject(
  body: JsonObject,
  known: readonly string[],
  own: readonly string[],
  noun: string | undefined,
  depth: number,
): FoundList | null {
  const members = Object.entries(body).map(([name, value]) => ({ name: bareName(name), value }))
  const lists = members.flatMap(({ name, value }) => (Array.isArray(value) ? [{ name, value }] : []))
  const named = known.flatMap((name) => lists.filter((list) => list.name === name))
  const unnamed = lists.filter(({ name }) => !besideNames.has(name) && !known.includes(name))
  const [only, ...others] = unnamed
  const like = only && others.length === 0 && holdsRecords(only.value, noun) ? only : undefined
  const found = named[0] ?? like
  if (found) return { items: found.value, around: [body] }
  // Go encodes an empty list as null.
  if (members.some(({ name, value }) => value === null && own.includes(name))) {
    return { items: [], around: [body] }
  }
  if (depth === 0) return null
  const objects = members.filter(({ name, value }) => isJsonObject(value) && !besideNames.has(name))
  const inner = objects.length === 1 ? objects : objects.filter(({ name }) => listEnvelopes.includes(name))
  for (const { value } of inner) {
    const deeper = isJsonObject(value) ? inObject(value, known, own, noun, depth - 1) : null
    if (deeper) return { ...deeper, around: [body, ...deeper.around] }
  }
  return null
}

function holdsRecords([first]: readonly unknown[], noun: string | undefined): boolean {
  return recordFields.some((field) => memberOf(first, field, noun) !== undefined)
}
