import { isDeepStrictEqual } from 'node:util'
import { sha256 } from './entry.ts'

/** A record as the API shows it. */
type Shown = Readonly<Record<string, unknown>>

/** The recorded part of a change, as JSON. */
interface KeptChange {
  readonly before: string
  readonly after: string
}

/** Maximum characters of a field's JSON; longer ones are replaced by a digest. */
const maxFieldLength = 4096
/** Fields left out of updates: the entry has its own time. */
const omittedFields: ReadonlySet<string> = new Set(['updatedAt'])
/** Secret fields, which are masked. */
const secrets = ['password', 'key', 'clientSecret', 'accessToken', 'webhookSecrets', 'secret'] as const
const masked = '***'

/**
 * Returns the recorded part of a change: the fields that differ of an update, else the whole record; long values as a
 * digest, secrets masked.
 *
 * @param fields fields that differ, if known
 */
export function keptOf(before: object | null, after: object | null, fields?: readonly string[]): KeptChange {
  const [from, to] = [before as Shown | null, after as Shown | null]
  if (!from || !to) return { before: textOf(from), after: textOf(to) }
  const changed = fields ?? Object.keys(to).filter((field) => differs(from[field], to[field]))
  const kept = changed.filter((field) => !omittedFields.has(field))
  return { before: textOf(only(from, kept)), after: textOf(only(to, kept)) }
}

/** True if two values of a field differ; compares identity first, which is fast. */
export function differs(one: unknown, other: unknown): boolean {
  return one !== other && !isDeepStrictEqual(one, other)
}

function only(record: Shown, fields: readonly string[]): Shown {
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]))
}

function textOf(record: Shown | null): string {
  if (!record) return 'null'
  const open = secrets.some((field) => record[field] != null) ? withoutSecrets(record) : record
  const text = JSON.stringify(open)
  // Nearly all records are short as a whole.
  if (text.length <= maxFieldLength) return text
  return JSON.stringify(
    Object.fromEntries(Object.entries(open).map(([field, value]) => [field, short(value)])),
  )
}

function withoutSecrets(record: Shown): Shown {
  const hidden = secrets.filter((field) => record[field] != null).map((field) => [field, masked])
  return { ...record, ...Object.fromEntries(hidden) }
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= maxFieldLength) return value
  return { omitted: true, bytes: Buffer.byteLength(text), sha256: sha256(text) }
}

/** Returns the name of a record: title, e-mail address, name, URL, operation or system; null if it has none. */
export function nameOf(record: object | null): string | null {
  const { title, courseTitle, userEmail, email, name, url, lmsKind, operation } = (record ?? {}) as Shown
  const text = title ?? email ?? name ?? url ?? operation
  if (typeof text === 'string') return text
  const both = [courseTitle, userEmail].filter((one) => typeof one === 'string')
  if (both.length > 0) return both.join(' · ')
  return typeof lmsKind === 'string' ? lmsKind : null
}

/** Returns the id of the user that a record belongs to; null if none. */
export function userIn(record: object | null): string | null {
  const { userId, learnerId } = (record ?? {}) as Shown
  const found = userId ?? learnerId
  return typeof found === 'string' ? found : null
}
