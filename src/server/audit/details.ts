import { isDeepStrictEqual } from 'node:util'
import { sha256 } from './entry.ts'

/** A thing, as the API shows it. */
type Shown = Readonly<Record<string, unknown>>

/** A change as far as it is kept, as JSON. */
interface KeptChange {
  readonly before: string
  readonly after: string
}

/** JSON of one field, in characters: what is longer is kept as its digest. */
const longestField = 4096
/** The time of a change is that of its entry. */
const untold: ReadonlySet<string> = new Set(['updatedAt'])
/** Fields that no answer has but the first one, nor any entry. */
const secrets = ['password', 'key', 'clientSecret', 'accessToken', 'webhookSecrets', 'secret'] as const
const masked = '***'

/**
 * What is kept of a change: of an update what differs, of all else the whole thing; long texts as their digest, no secret.
 *
 * @param fields those that differ, where that is known
 */
export function keptOf(before: object | null, after: object | null, fields?: readonly string[]): KeptChange {
  const [from, to] = [before as Shown | null, after as Shown | null]
  if (!from || !to) return { before: textOf(from), after: textOf(to) }
  const changed = fields ?? Object.keys(to).filter((field) => differs(from[field], to[field]))
  const told = changed.filter((field) => !untold.has(field))
  return { before: textOf(only(from, told)), after: textOf(only(to, told)) }
}

/** True where two values of a field are not the same; most are found to be by one look. */
export function differs(one: unknown, other: unknown): boolean {
  return one !== other && !isDeepStrictEqual(one, other)
}

function only(thing: Shown, fields: readonly string[]): Shown {
  return Object.fromEntries(fields.map((field) => [field, thing[field] ?? null]))
}

function textOf(thing: Shown | null): string {
  if (!thing) return 'null'
  const open = secrets.some((field) => thing[field] != null) ? withoutSecrets(thing) : thing
  const text = JSON.stringify(open)
  // Nearly everything is short, and known to be by one look.
  if (text.length <= longestField) return text
  return JSON.stringify(
    Object.fromEntries(Object.entries(open).map(([field, value]) => [field, short(value)])),
  )
}

function withoutSecrets(thing: Shown): Shown {
  const hidden = secrets.filter((field) => thing[field] != null).map((field) => [field, masked])
  return { ...thing, ...Object.fromEntries(hidden) }
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length <= longestField) return value
  return { omitted: true, bytes: Buffer.byteLength(text), sha256: sha256(text) }
}

/** What a thing is called: a title, an address, a name, the operation of a request, the kind of another system; null for what has none. */
export function nameOf(thing: object | null): string | null {
  const { title, courseTitle, userEmail, email, name, url, lmsKind, operation } = (thing ?? {}) as Shown
  const text = title ?? email ?? name ?? url ?? operation
  if (typeof text === 'string') return text
  const both = [courseTitle, userEmail].filter((one) => typeof one === 'string')
  if (both.length > 0) return both.join(' · ')
  return typeof lmsKind === 'string' ? lmsKind : null
}

/** The user whom a thing is about that is no user itself; null for nobody. */
export function userIn(thing: object | null): string | null {
  const { userId, learnerId } = (thing ?? {}) as Shown
  const found = userId ?? learnerId
  return typeof found === 'string' ? found : null
}
