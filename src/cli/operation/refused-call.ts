import { ApiError } from '../../client/errors.ts'
import { formatCount, shellWord } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { findNearest } from '../../codec/nearest.ts'
import { parseReference } from '../../codec/reference.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Fault } from '../../contract/errors.ts'
import type { Operation } from '../../contract/operation.ts'
import { fieldPath } from '../../tables/column.ts'
import type { Argument, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { BoundFlag } from '../command/flag.ts'
import { bodyFlag, ifVersionFlag } from './operation-flags.ts'

export interface Sources {
  readonly fields: readonly BoundFlag[]
  readonly query: readonly BoundFlag[]
  readonly positions: readonly (readonly [parameter: string, argument: Argument])[]
}

export class RefusedCallError extends Error {
  override readonly name = 'RefusedCallError'
  readonly refusal: ApiError
  /** Null if unknown. */
  readonly hint: string | null
  readonly #sources: Sources
  readonly #given: Given

  constructor(refusal: ApiError, sources: Sources, given: Given, nearest: string | null = null) {
    super(inFlags(refusal.message, sources, given), { cause: refusal })
    this.refusal = refusal
    this.hint = nearest ?? hintFor(refusal, sources, given)
    this.#sources = sources
    this.#given = given
  }

  /** `--passing-score`; null if no flag gave the field. */
  readonly flagOf = (fault: Fault): string | null => {
    const { parameter } = fault
    const place = placeOf(fault)
    const found = this.#flagFor(fault)
    if (!found) return secretIn(place, this.#given)
    const { name } = found.flag
    const typed = parameter !== undefined || this.#given.flags[name] !== undefined
    if (!typed && this.#given.flags[bodyFlag.name] !== undefined) return null
    const inside = place.slice(found.place.length + 1)
    const value = this.#given.flags[name]
    // Without an index, the wrong value is known only if there is a single one.
    const items: readonly unknown[] =
      Array.isArray(value) && (inside !== '' || value.length === 1) ? value : []
    const item = items[Number(inside)]
    if (typeof item === 'string') return `--${name} ${JSON.stringify(item)}`
    return inside === '' ? `--${name}` : `--${name}: ${inside}`
  }

  /** Returns the value of the flag that a fault concerns, as JSON; null if no flag gave a single, short one. */
  readonly givenFor = (fault: Fault): string | null => {
    const found = this.#flagFor(fault)
    const value = found?.place === placeOf(fault) ? this.#given.flags[found.flag.name] : undefined
    if (typeof value !== 'string') return typeof value === 'number' ? String(value) : null
    return value.length > maxValue ? null : JSON.stringify(value)
  }

  #flagFor(fault: Fault): BoundFlag | undefined {
    const { fields, query } = this.#sources
    const place = placeOf(fault)
    const flags = fault.parameter === undefined ? fields : query
    return flags.find((each) => place === each.place || place.startsWith(`${each.place}.`))
  }
}

const maxValue = 60

function placeOf({ pointer, parameter }: Fault): string {
  return parameter ?? camelCase(fieldPath(pointer ?? ''))
}

/** Returns the words for a secret, which is not a flag's value: `The webhook secret` for `webhookSecrets.0`. */
function secretIn(place: string, { flags }: Given): string | null {
  const kebab = place.replace(/\..*/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const [, name] =
    Object.keys(flags)
      .filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
      .map((flag) => /^(.+)-stdin$/.exec(flag))
      .find((match) => match?.[1] !== undefined && kebab.startsWith(match[1])) ?? []
  return name === undefined ? null : `The ${name.replaceAll('-', ' ')}`
}

/** Converts a field name to the contract's form: other platforms may write `external_id`. */
function camelCase(path: string): string {
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Replaces parameters in advice such as `use force=true` by their flags; `If-Match` becomes `--if-version`. */
function inFlags(message: string, { query }: Sources, { flags }: Given): string {
  const advised = query.map(({ place, flag }) => [`${place}=true`, flag] as const)
  const typed = flags[ifVersionFlag.name] === undefined ? [] : [['If-Match', ifVersionFlag] as const]
  return [...advised, ...typed].reduce(
    (text, [said, { name }]) => text.replaceAll(said, `--${name}`),
    // --if-version takes the version without the quotes of an entity tag.
    typed.length > 0 ? message.replace(/(?<=If-Match requires )"(\d+)"/, '$1') : message,
  )
}

export function withSources(error: unknown, sources: Sources, given: Given): unknown {
  return error instanceof ApiError ? new RefusedCallError(error, sources, given) : error
}

/** As `withSources`, with the nearest record of our server in place of one that was not found. */
export async function withNearest(
  context: Context,
  error: unknown,
  sources: Sources,
  given: Given,
): Promise<unknown> {
  if (!(error instanceof ApiError)) return error
  const nearest = await nearestHint(context, missingReference(error, sources, given)).catch(() => null)
  return new RefusedCallError(error, sources, given, nearest)
}

const keyedNouns = ['courses', 'lessons', 'users', 'groups', 'terms'] as const

/** Compares external id, address, title and name on the first page of the list. */
async function nearestHint({ session, io }: Context, missing: Missing | null): Promise<string | null> {
  const noun = keyedNouns.find((each) => each === missing?.noun)
  const caller = await session.caller()
  if (!noun || !missing || missing.isDeleted || !caller.isOurs()) return null
  const { calls } = await import('../../contract/calls.ts')
  const list: Operation = calls[noun].list
  const { data } = await caller.call(list, { query: { limit: maxPageSize }, signal: io.signal })
  const names = ['externalId', 'email', 'title', 'name'] as const
  const references = new Map<unknown, string>()
  for (const record of (data as { readonly data: readonly JsonObject[] }).data) {
    const { id, email, externalId } = record
    const reference = externalId ? `ext:${externalId}` : String(email ?? id)
    for (const name of names)
      if (record[name] && !references.has(record[name])) references.set(record[name], reference)
  }
  const wanted = parseReference(missing.value).value
  const near = findNearest(wanted, [...references.keys()].map(String))
  const found = [...new Set(near.map((name) => shellWord(references.get(name) ?? name)))].join(' or ')
  if (found === '') return null
  const isName = near.some((name) => name.toLowerCase() === wanted.toLowerCase())
  return isName ? `A title is no reference: use ${found}` : `Did you mean ${found}?`
}

export const nounsByPlace: Readonly<Record<string, string>> = {
  courseId: 'courses',
  lessonId: 'lessons',
  groupId: 'groups',
  userId: 'users',
  termId: 'terms',
  learnerId: 'users',
  enrollmentId: 'enrollments',
  calendarId: 'calendars',
  keyId: 'keys',
  clientId: 'apps',
  grantId: 'auth grants',
  gradeId: 'grades',
}
const trashNouns: Readonly<Record<string, string>> = { crs: 'courses', les: 'lessons', grp: 'groups' }

function hintFor(refusal: ApiError, sources: Sources, given: Given): string | null {
  const { code, faults, problem } = refusal
  const { id, existingStatus, from, to, instance } = problem ?? {}
  const hasFault = (name: string) => faults.some((fault) => fault.code === name)
  if (hasFault('access_token_required'))
    return 'Give it with --access-token-stdin, or remove it with --remove-secret access-token'
  if (hasFault('above_maximum')) return 'Record it as extra credit with --extra-credit'
  if (code === 'duplicate' && existingStatus === 'deleted') {
    const noun = trashNouns[String(id).slice(0, 3)]
    return noun ? `To restore it: learnctl ${noun} restore ${shellWord(String(id))}` : null
  }
  const course = given.arguments['course']
  if (code === 'invalid_transition' && course !== undefined && from === 'published' && to === 'draft')
    return `To close it to changes: learnctl courses archive ${shellWord(course)}`
  const [, kind] = /\/integrations\/(\w+)(?:\/\w+)?$/.exec(String(instance)) ?? []
  if (code === 'other_system_refused' && kind !== undefined)
    return `Check it: learnctl integrations test ${kind}`
  if (code === 'not_found' && kind !== undefined) return `Set it up: learnctl integrations set ${kind}`
  const missing = missingReference(refusal, sources, given)
  if (missing === null) return null
  const { noun, isDeleted } = missing
  return `To list ${isDeleted ? `deleted ${noun}` : noun}: learnctl ${noun} list${isDeleted ? ' --deleted' : ''}`
}

interface Missing {
  readonly noun: string
  readonly value: string
  readonly isDeleted: boolean
}

/** Null for other refusals. */
function missingReference(
  { code, message }: ApiError,
  { positions, fields, query }: Sources,
  given: Given,
): Missing | null {
  if (code !== 'not_found') return null
  const typed = [
    ...positions.map(([place, { name }]) => [place, given.arguments[name]] as const),
    ...[...fields, ...query].map(({ place, flag }) => [place, given.flags[flag.name]] as const),
  ]
  for (const [place, value] of typed) {
    const [, deleted, name = ''] = /^(deleted)?(.*)$/.exec(camelCase(place)) ?? []
    const noun = nounsByPlace[`${name.charAt(0).toLowerCase()}${name.slice(1)}`]
    const named = [value].flat().find((each) => each && message.includes(String(each)))
    if (noun !== undefined && named) return { noun, value: String(named), isDeleted: deleted !== undefined }
  }
  return null
}

export type RefusalView = Pick<RefusedCallError, 'flagOf' | 'hint'> & {
  readonly givenFor?: RefusedCallError['givenFor']
  readonly message?: string
}

/** A body of another kind has only unknown fields. */
const maxUnknown = 10

/** Returns the faults of a request: a single one as the message, several counted and listed. */
export function describeFaults(
  { message: detail, faults, problem, status }: ApiError,
  { flagOf, givenFor, message = detail }: RefusalView,
): { readonly message: string; readonly why: readonly string[] } {
  const lineOf = (fault: Fault) => problemLine(withValue(fault, givenFor?.(fault) ?? null), flagOf(fault))
  if (faults.length > 1) {
    const unknown = faults.filter(isUnknown).slice(maxUnknown)
    const shown = faults.filter((fault) => !unknown.includes(fault))
    const untold = typeof problem?.['moreErrors'] === 'number' ? problem['moreErrors'] : 0
    const more = faults.length - shown.length + untold
    const rest = more > 0 ? [`… and ${formatCount(more)} more`] : []
    const count = formatCount(faults.length + untold)
    return { message: `${count} problems found:`, why: [...shown.map(lineOf), ...rest] }
  }
  const lines = faults.map(lineOf)
  const [fault] = faults
  const wrong = status === 400 || status === 422
  if (wrong && fault && flagOf(fault) !== null && isPhrase(fault)) return { message: lines.join(), why: [] }
  // Without a specific message, the only fault replaces it.
  if (wrong && fault && (message === fault.detail || isGeneric(message)))
    return { message: withoutStop(lines.join()), why: [] }
  return {
    message: withoutStop(message),
    why: fault && !message.includes(fault.detail) && !isUnknown(fault) ? lines : [],
  }
}

function withValue(fault: Fault, value: string | null): Fault {
  const { detail } = fault
  if (value === null || !detail.startsWith('must ') || detail.includes(value)) return fault
  const [message = '', ...guess] = detail.split(/(?=; did you mean)/)
  return { ...fault, detail: [`${message}, not ${value}`, ...guess].join('') }
}

function problemLine(fault: Fault, flag: string | null): string {
  const { pointer, parameter, detail } = fault
  const place = flag ?? (pointer === undefined ? parameter : fieldPath(pointer))
  if (!place) return detail
  if (isUnknown(fault)) {
    const [, suggestion = ''] = detail.split(/(?=; did you mean)/)
    return `Unknown ${parameter === undefined ? 'field' : 'parameter'}: ${place}${suggestion}`
  }
  // Some platforms begin the message with the field's name, which others omit.
  const leaf =
    fieldPath(pointer ?? parameter ?? '')
      .split('.')
      .at(-1) ?? ''
  if (leaf !== '' && detail.toLowerCase().startsWith(`${leaf.toLowerCase()} `))
    return `${place}${detail.slice(leaf.length)}`
  const goesOn = isPhrase(fault) && (leaf === '' || !detail.toLowerCase().startsWith(leaf.toLowerCase()))
  return goesOn ? `${place} ${detail}` : `${place}: ${detail}`
}

/** The standard text of a status carries no detail. */
function isGeneric(message: string): boolean {
  return /^(bad request|unprocessable (entity|content)|validation (failed|error)|invalid request)\.?$/i.test(
    message,
  )
}

/** Removes the full stop of a single sentence, as in the program's own messages; several sentences keep theirs. */
function withoutStop(text: string): string {
  return /[.?] \S/.test(text) ? text : text.replace(/\.$/, '')
}

function isUnknown({ code }: Fault): boolean {
  return code === 'unknown_field' || code === 'unknown_parameter'
}

/** True if it continues the name of a field: `must be at most 100`. */
function isPhrase({ detail }: Fault): boolean {
  return /^[a-z]/.test(detail)
}
