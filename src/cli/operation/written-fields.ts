import type { AnyInput } from '../../client/call-input.ts'
import { isRemark } from '../../client/envelope.ts'
import { bareName, memberOf, thingsIn } from '../../client/member.ts'
import { nounOf } from '../../client/nouns.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Sources } from './refused-call.ts'

/** What the answer to a write shows of the fields that were sent. */
export interface WrittenFields {
  /** Fields that have another value. */
  readonly other: readonly { readonly field: string; readonly sent: unknown; readonly shown: unknown }[]
  /** Fields that are not shown, or in a form that cannot be compared, though others are. */
  readonly unshown: readonly string[]
}

/** Fields that no answer shows. */
const writeOnly: ReadonlySet<string> = new Set(['password'])

/**
 * Compares what was sent with what the answer shows. An answer that shows no field at all, such as
 * `{"message": "updated"}`, says nothing against it.
 */
export function writtenFields(
  operation: Operation,
  { body, handling }: AnyInput,
  data: unknown,
): WrittenFields {
  const noun = nounOf(operation)
  // What is presumed (`lenient`) may be adjusted.
  const sent = handling === 'lenient' ? [] : leavesOf(body).filter(([field]) => !writeOnly.has(field))
  const things = [...thingsIn(data, noun)].filter(isThing)
  const verdicts = sent.map(([field, value]) => {
    const shown = things.map((thing) => memberOf(thing, field, noun)).find((each) => each !== undefined)
    return { field, sent: value, shown, verdict: verdictOn(value, shown) }
  })
  const silent = verdicts.every(({ verdict }) => verdict === null)
  return {
    other: verdicts.filter(({ verdict }) => verdict === false),
    unshown: silent ? [] : verdicts.flatMap(({ field, verdict }) => (verdict === null ? [field] : [])),
  }
}

/** The error of a write after which a platform shows other values than it was sent. */
export function notSetError(
  host: string,
  { other }: WrittenFields,
  sources: Sources,
  given: Given,
): CommandError {
  const names = other.map(({ field }) => typedName(field, sources, given))
  return new CommandError('not_set', 'failure', `${host} did not set ${names.join(', ')}`, {
    why: other.map(({ sent, shown }, index) => `${names[index]} is ${short(shown)}, not ${short(sent)}`),
  })
}

/** The flag that a field was given by, `--title`; its own name where it came otherwise. */
export function typedName(field: string, { fields }: Sources, { flags }: Given): string {
  const flag = fields.find(({ place }) => place === field)?.flag.name
  return flag === undefined || flags[flag] === undefined ? field : `--${flag}`
}

/** True for what has fields of its own, beside what it says about the call. */
function isThing(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value) && Object.keys(value).some((name) => !isRemark(bareName(name)))
}

/** The values in a body, by dotted path; `null` resets a field to what only the platform knows. */
function leavesOf(value: unknown, path = ''): (readonly [field: string, value: unknown])[] {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path ? `${path}.${name}` : name))
  }
  return value === null || value === undefined ? [] : [[path, value]]
}

/** True where both say the same, null where that cannot be told. */
function verdictOn(sent: unknown, shown: unknown): boolean | null {
  if (Array.isArray(sent)) {
    if (!Array.isArray(shown) || ![...sent, ...shown].every(isScalar)) return null
    const has = new Set(shown.map(plain))
    return has.size === new Set(sent.map(plain)).size && sent.every((each) => has.has(plain(each)))
  }
  if (!isScalar(sent) || !isScalar(shown)) return null
  if (plain(sent) === plain(shown)) return true
  if (typeof sent === 'boolean') return truth(shown) === null ? null : truth(shown) === sent
  if (typeof sent !== 'string') {
    const number = typeof shown === 'boolean' || plain(shown) === '' ? Number.NaN : Number(shown)
    return Number.isNaN(number) ? null : number === Number(sent)
  }
  // A number may stand for a word.
  if (typeof shown !== 'string') return null
  const [time, other] = [sent, shown].map((text) =>
    /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN,
  )
  // Without a zone it may be from anywhere.
  if (time !== undefined && other !== undefined && Math.abs(time - other) < dayMs) return true
  return doneWords.test(shown) ? null : false
}

const dayMs = 24 * 60 * 60 * 1000
/** What a `status` says about the call. */
const doneWords = /^(ok|success|successful|succeeded|done|created|updated)$/i

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
}

function truth(value: unknown): boolean | null {
  return /^(true|1|yes|on)$/i.test(String(value))
    ? true
    : /^(false|0|no|off)$/i.test(String(value))
      ? false
      : null
}

/** Text without what platforms change of it and mean the same: case, markup, spaces around. */
function plain(value: unknown): string {
  const text = String(value).replace(/<\/?[a-z][^<>]{0,200}>/gi, '')
  const entities: Readonly<Record<string, string>> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#39': "'",
    '#039': "'",
  }
  return text
    .replace(/&(amp|lt|gt|quot|#0?39);/g, (entity, name: string) => entities[name] ?? entity)
    .normalize('NFC')
    .trim()
    .toLowerCase()
}

/** A value as a line shows it. */
function short(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
