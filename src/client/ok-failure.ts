import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { isRemark } from './envelope.ts'
import { bareName } from './member.ts'

/** Words by which a `status` says that it failed. */
const failed = /^(error|errors|fail|failed|failure)$/i
/** What else an answer without a thing in it says. */
const explanations: ReadonlySet<string> = new Set([
  ...['path', 'detail', 'details', 'title', 'description', 'type', 'instance', 'reason', 'success'],
])

/** The status that the body of a failure has, though it came as a success; null where it has none. */
export interface FailureStatus {
  readonly said: number | null
}

/** Members that tell an error; Moodle has the exception and its code. */
const telling = ['error', 'errors', 'exception', 'fault', 'errorcode', 'errcode', 'errormessage', 'errormsg']
const worked = ['success', 'ok', 'succeeded']

/**
 * The failure that a body tells of, though its status is one of success: by `success: false`, `error`, `errors` and
 * their relatives; null where it tells of none. A thing may have errors of its own: one with an id is a thing, and a
 * `status` counts only where nothing else is there.
 */
export function failureIn(body: unknown): FailureStatus | null {
  if (!isJsonObject(body) || saysNothing(body)) return null
  const said = new Map(Object.entries(body).map(([name, value]) => [bareName(name), value]))
  const status = statusIn(body, said)
  const isThing = [said.get('id'), said.get('uuid')].some((id) => id !== undefined && id !== null)
  const bare = [...said].every(([name, value]) => value === null || isRemark(name) || explanations.has(name))
  const failing =
    worked.some((name) => /^(false|no|0)$/i.test(String(said.get(name)))) ||
    (!isThing && telling.some((name) => isSaid(said.get(name)))) ||
    (bare && (status !== null || failed.test(String(said.get('status') ?? ''))))
  return failing ? { said: status } : null
}

const outcomeNames: ReadonlySet<string> = new Set([...telling, ...worked])

/** True for a body that has something to show and no member about how it went, as nearly all have. */
function saysNothing(body: JsonObject): boolean {
  let shows = false
  for (const key of Object.keys(body)) {
    const name = bareName(key)
    if (outcomeNames.has(name)) return false
    shows ||= body[key] !== null && !isRemark(name) && !explanations.has(name)
  }
  return shows
}

/** Members that count the things a write found, and those it changed. */
const matches = ['matchedcount', 'matched', 'found']
const changes = [
  ...['deletedcount', 'insertedcount', 'modifiedcount', 'updatedcount', 'affectedrows', 'rowsaffected'],
  ...['affected', 'rowcount', 'deleted', 'updated', 'inserted', 'modified', 'changed'],
]

/**
 * True for the answer to a write that says it had no effect: `false`, `{"deletedCount": 0}`. What was found and needed
 * no change is none; a thing with an id tells of itself.
 */
export function saysNothingDone(body: unknown): boolean {
  if (body === false || body === 0) return true
  if (!isJsonObject(body)) return false
  if (Object.keys(body).some((name) => ['id', 'uuid'].includes(bareName(name)))) return false
  const said = new Map(Object.entries(body).map(([name, value]) => [bareName(name), value]))
  const countsIn = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = said.get(name)
      return typeof value === 'boolean' || typeof value === 'number' ? [Number(value)] : []
    })
  const found = countsIn(matches)
  const counts = found.length > 0 ? found : countsIn(changes)
  return counts.length > 0 && counts.every((count) => count === 0)
}

/** True for the answer to a write that says it had an effect: `true`, `"success": true`, `{"affectedRows": 1}`. */
export function saysDone(body: unknown): boolean {
  if (body === true || body === 1) return true
  if (!isJsonObject(body)) return false
  return Object.entries(body).some(([key, value]) => {
    const name = bareName(key)
    if (worked.includes(name) || name === 'acknowledged') return /^(true|yes|1)$/i.test(String(value))
    return (
      [...matches, ...changes].includes(name) && (value === true || (typeof value === 'number' && value > 0))
    )
  })
}

/** True for what tells an error: neither nothing, nor a word for nothing, nor a count. */
function isSaid(value: unknown): boolean {
  if (typeof value === 'string') return !/^(|0|false|no|none|null|ok)$/i.test(value)
  if (Array.isArray(value)) return value.length > 0
  return value === true || (isJsonObject(value) && Object.keys(value).length > 0)
}

/** The phrases of HTTP (RFC 9110 §15) and the canonical codes of gRPC, in small letters and without separators. */
const statusOfWord: ReadonlyMap<string, number> = new Map([
  ['badrequest', 400],
  ['invalidargument', 400],
  ['unauthenticated', 401],
  ['unauthorized', 401],
  ['forbidden', 403],
  ['permissiondenied', 403],
  ['notfound', 404],
  ['alreadyexists', 409],
  ['conflict', 409],
  ['resourceexhausted', 429],
  ['toomanyrequests', 429],
  ['serviceunavailable', 503],
  ['unavailable', 503],
])

/** A status of HTTP that means an error: as a number, as text, or else by its word alone. */
function statusIn({ error, errors }: JsonObject, said: ReadonlyMap<string, unknown>): number | null {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const inner = [error, first].flatMap((each) =>
    isJsonObject(each) ? [each['status'], each['code'], each['type']] : [each],
  )
  const told = [said.get('statuscode'), said.get('status'), said.get('code'), ...inner]
  const number = told.map(Number).find((each) => Number.isInteger(each) && each >= 400 && each <= 599)
  if (number !== undefined) return number
  const words = [...told, said.get('message')].filter((each) => typeof each === 'string')
  const named = words.map((each) => statusOfWord.get(each.replace(/[_\-\s]/g, '').toLowerCase()))
  return named.find((each) => each !== undefined) ?? null
}
