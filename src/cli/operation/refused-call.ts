import { ApiError, isOurs } from '../../client/errors.ts'
import { formatCount, shellWord } from '../../codec/display-text.ts'
import type { Fault } from '../../contract/errors.ts'
import type { Argument, Given } from '../command/command.ts'
import type { BoundFlag } from '../command/flag.ts'
import { bodyFlag, ifVersionFlag } from './operation-flags.ts'

/** Flags and arguments of the command line, by request field. */
export interface Sources {
  readonly fields: readonly BoundFlag[]
  readonly query: readonly BoundFlag[]
  readonly positions: readonly (readonly [parameter: string, argument: Argument])[]
}

/** A refusal of the API, in terms of the command line. */
export class RefusedCallError extends Error {
  override readonly name = 'RefusedCallError'
  readonly refusal: ApiError
  /** Command or flag to try next; null if unknown. */
  readonly hint: string | null
  readonly #sources: Sources
  readonly #given: Given

  /** @param near suggestion of a record in place of one that was not found */
  constructor(refusal: ApiError, sources: Sources, given: Given, near: string | null = null) {
    super(inFlags(refusal.message, sources, given), { cause: refusal })
    this.refusal = refusal
    // Our server resolves references without a prefix itself, and platforms without error codes know no prefixes.
    const missing = refusal.status === 404 && refusal.coded && !isOurs(refusal)
    this.hint =
      near ??
      tokenHint(refusal) ??
      trashHint(refusal) ??
      setUpHint(refusal) ??
      creditHint(refusal) ??
      (missing ? referenceHint(refusal, sources, given) : archiveHint(refusal, given))
    this.#sources = sources
    this.#given = given
  }

  /** Returns the flag that a fault concerns, `--passing-score`; null if no flag gave the field. */
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
      .map((flag) => /^(.+)-(?:stdin|env)$/.exec(flag))
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

/** Returns the error for a command to end with: a refusal becomes one in terms of the command line. */
export function withSources(
  error: unknown,
  sources: Sources,
  given: Given,
  near: string | null = null,
): unknown {
  return error instanceof ApiError ? new RefusedCallError(error, sources, given, near) : error
}

function archiveHint({ code, message }: ApiError, { arguments: { course } }: Given): string | null {
  if (code !== 'invalid_transition' || course === undefined || !message.includes('progress')) return null
  return `To close it to changes: learnctl courses archive ${shellWord(course)}`
}

/** Suggests restoring a thing in the trash that holds the external id, or listing the trash for a missing thing. */
function trashHint({ code, message, problem }: ApiError): string | null {
  const [, thing] = /^(?:A|Deleted) (course|lesson|group) /.exec(message) ?? []
  if (thing === undefined) return null
  if (code === 'not_found') return `To list deleted ${thing}s: learnctl ${thing}s list --deleted`
  const id = problem?.['id']
  if (code !== 'duplicate' || problem?.['existingStatus'] !== 'deleted' || typeof id !== 'string') return null
  return `To restore it: learnctl ${thing}s restore ${shellWord(id)}`
}

/** Explains that a stored access token is not sent to a new address: enter it again or remove it. */
function tokenHint({ faults }: ApiError): string | null {
  if (!faults.some(({ code }) => code === 'access_token_required')) return null
  return 'Give it with --access-token-stdin or --access-token-env, or remove it with --remove-secret access-token'
}

/** Suggests setting up a missing integration; there is one of each kind. */
function setUpHint({ code, message }: ApiError): string | null {
  const [, kind] = /^Integration (\w+) not found/.exec(message) ?? []
  return code === 'not_found' && kind !== undefined ? `Set it up: learnctl integrations set ${kind}` : null
}

function creditHint({ faults }: ApiError): string | null {
  const isAbove = faults.some(({ code }) => code === 'above_maximum')
  return isAbove ? 'Record it as extra credit with --extra-credit' : null
}

const knownReference = /^(ext:|email:)|^[a-z]{3}_/

/** Suggests `ext:` or `email:` for a reference that is not an id of our server. */
function referenceHint({ message }: ApiError, sources: Sources, given: Given): string | null {
  const { fields, query, positions } = sources
  const typed = [
    ...positions.map(([place, { name }]) => [place, given.arguments[name]] as const),
    ...[...fields, ...query].map(({ place, flag }) => [place, given.flags[flag.name]] as const),
  ]
  const bare = typed.flatMap(([place, value]) => {
    const kind = /^(course|lesson|group|user|learner)_?id$/i.exec(place)?.[1]
    if (!kind) return []
    const references = [value].flat().flatMap((each) => String(each ?? '').split(','))
    return references.flatMap((value) =>
      value === '' || knownReference.test(value) ? [] : [{ kind, value }],
    )
  })
  const named = bare.find(({ value }) => message.includes(value))
  if (!named) return null
  const person = /^(user|learner)$/.test(named.kind) && named.value.includes('@')
  return `Did you mean ${shellWord(`${person ? 'email' : 'ext'}:${named.value}`)}?`
}

/** Flags, hint and message of a refusal, from the command line. */
export type RefusalView = Pick<RefusedCallError, 'flagOf' | 'hint'> & {
  readonly givenFor?: RefusedCallError['givenFor']
  readonly message?: string
}

/** Maximum problems that are printed; a platform may list more. */
const maxProblems = 100
/** Maximum unknown fields that are printed: a body of another kind has nothing but these. */
const maxUnknown = 10

/** Returns the faults of a request: a single one as the message, several counted and listed. */
export function describeFaults(
  { message: detail, faults, problem, status }: ApiError,
  { flagOf, givenFor, message = detail }: RefusalView,
): { readonly message: string; readonly why: readonly string[] } {
  const lineOf = (fault: Fault) => problemLine(withValue(fault, givenFor?.(fault) ?? null), flagOf(fault))
  if (faults.length > 1) {
    const unknown = faults.filter(isUnknown).slice(maxUnknown)
    const shown = faults.filter((fault) => !unknown.includes(fault)).slice(0, maxProblems)
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

/** Returns a fault whose detail ends with the wrong value, unless it names it. */
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

/** True for the standard text of a status, which carries no detail. */
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

/** True for a detail that continues the name of a field: `must be at most 100`. */
function isPhrase({ detail }: Fault): boolean {
  return /^[a-z]/.test(detail)
}

/**
 * Converts a JSON pointer (RFC 6901), also in a fragment, to a dotted path: `#/profile/firstName` is
 * `profile.firstName`.
 */
export function fieldPath(pointer: string): string {
  const parts = pointer.replace(/^#?\/?/, '').split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}
