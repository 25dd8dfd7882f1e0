import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'
import { hostOf, lineOf, PlatformError, type RawAnswer, type Target } from '../errors.ts'
import { isIdentifier, isTime, memberOf } from './fields.ts'
import type { FoundCall } from './operations.ts'

/** Fields that no answer shows. */
const writeOnly: ReadonlySet<string> = new Set(['password', 'extraCredit'])

export interface AnsweredWrite {
  readonly target: Target
  readonly found: FoundCall
  /** The body that was sent, in the fields of ours. */
  readonly sent: unknown
  /** The record that the answer shows, in the fields of ours; null without one. */
  readonly shown: JsonObject | null
  /** An object directly inside it may show the modified attributes. */
  readonly body: unknown
  readonly answer: RawAnswer
}

/**
 * Throws PlatformError unless the answer to a write shows the record: a value that was sent, or its id and nothing else. An
 * id beside other values may be that of an error or a job. Throws it as well for an answer that names an error, for one
 * with another id, and for one with another value than the one that was sent.
 */
export function assertDone(write: AnsweredWrite): void {
  const { target, found, sent, shown, body, answer } = write
  const inside = isJsonObject(body) ? Object.values(body).filter(isJsonObject) : []
  const own = ownId(found)
  const id = shown?.[found.operation.identifier ?? 'id']
  if (own !== null && isIdentifier(id) && String(id) !== own) {
    throw unclear(write, `showed the record ${id}, not ${own}`)
  }
  const values = isJsonObject(sent) ? sent : {}
  const compared = shown ? compare(values, shown, '') : []
  const isShown =
    compared.some(({ same }) => same) ||
    inside.some((each) => compare(values, each, '').some(({ same }) => same))
  const isRecord = !hasValues(values) || compared.length > 0 || Object.keys(shown ?? {}).length === 1
  // The id in the path of `…/replay` says nothing about what was done there.
  const isNamed = isIdentifier(id) && isRecord && (own !== null || found.operation.method === 'POST')
  if (answer.status === 202 || namesError(body) || !(isNamed || isShown)) {
    throw unclear(write, `returned ${answer.status} ${said(answer.body)}`)
  }
  const other = compared.filter(({ same }) => !same)
  if (other.length === 0) return
  const fields = other.map(({ field, sent, shown }) => `${field} is ${short(shown)}, not ${short(sent)}`)
  const message = `${hostOf(target)} did not set what was sent: ${fields.join('; ')}`
  throw new PlatformError(target, message, 'records: { …: { …: { at: /… } } }', 'not_set', answer)
}

/** Null if the path ends otherwise, or with a reference. */
function ownId({ operation, params }: FoundCall): string | null {
  const name = /\{(\w+)\}$/.exec(operation.path)?.[1]
  const id = name === undefined ? undefined : params[name]
  return id === undefined || parseReference(id).by !== 'id' ? null : id
}

/** `error` or `errors` with content, or `success` or `ok` that is false. */
function namesError(body: unknown): boolean {
  const errors = ['error', 'errors'].map((name) => memberOf(body, name))
  const isFalse = ['success', 'ok'].some((name) => memberOf(body, name) === false)
  return isFalse || errors.some((each) => (typeof each === 'object' ? hasMembers(each) : Boolean(each)))
}

function hasMembers(value: object | null): boolean {
  return value !== null && Object.keys(value).length > 0
}

/** False if an answer shows none of the values. */
function hasValues(sent: JsonObject): boolean {
  return Object.entries(sent).some(
    ([name, value]) =>
      value !== null && !writeOnly.has(name) && !(Array.isArray(value) && !value.every(isPlain)),
  )
}

interface Compared {
  readonly field: string
  readonly sent: unknown
  readonly shown: unknown
  readonly same: boolean
}

/** Compares values that both have. */
function compare(sent: JsonObject, shown: JsonObject, parent: string): Compared[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    const found = memberOf(shown, name)
    const field = parent + name
    if (value === null || found === undefined || found === null || writeOnly.has(field)) return []
    if (isJsonObject(value)) return isJsonObject(found) ? compare(value, found, `${field}.`) : []
    if (Array.isArray(value)) {
      const comparable = Array.isArray(found) && [...value, ...found].every(isPlain)
      return comparable ? [{ field, sent: value, shown: found, same: isSameSet(value, found) }] : []
    }
    // A reference is shown as the id that it stands for.
    if (typeof value === 'string' && /Id$/.test(name) && parseReference(value).by !== 'id') return []
    return [{ field, sent: value, shown: found, same: isSame(field, value, found) }]
  })
}

function isSame(field: string, sent: unknown, shown: unknown): boolean {
  if (isTime(field)) return Date.parse(String(sent)) === Date.parse(String(shown))
  if (typeof sent === 'number') return sent === Number(shown)
  return plainText(sent) === plainText(shown)
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object'
}

function isSameSet(sent: readonly unknown[], shown: readonly unknown[]): boolean {
  const words = (list: readonly unknown[]) => JSON.stringify(list.map((each) => plainText(each)).sort())
  return words(sent) === words(shown)
}

function plainText(value: unknown): string {
  return String(value).trim().toLowerCase()
}

function unclear({ target, answer }: AnsweredWrite, why: string): PlatformError {
  const message = `${hostOf(target)} did not confirm ${lineOf(target)}: it ${why}`
  return new PlatformError(
    target,
    message,
    'writes: { shows: nothing }   # if the status alone shows it',
    'not_shown',
    answer,
  )
}

export function said(body: string): string {
  const [line = ''] = body.trim().split('\n', 1)
  if (line === '') return 'without a body'
  return `with: ${line.length > 300 ? `${line.slice(0, 299)}…` : line}`
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
