import { ApiError, isOurs } from '../../client/errors.ts'
import { shellWord } from '../../codec/shell-word.ts'
import type { Fault } from '../../contract/errors.ts'
import type { Argument, Given } from '../command/command.ts'
import type { BoundFlag } from '../command/flag.ts'
import { fieldPath } from './field-path.ts'
import { bodyFlag, ifVersionFlag } from './operation-flags.ts'

/** What stood on the command line, by the places of the request that it went to. */
export interface Sources {
  readonly fields: readonly BoundFlag[]
  readonly query: readonly BoundFlag[]
  readonly positions: readonly (readonly [parameter: string, argument: Argument])[]
}

/** A refusal of the API, in the words of the command line that led to it. */
export class RefusedCallError extends Error {
  override readonly name = 'RefusedCallError'
  readonly refusal: ApiError
  /** What to type instead; null where that is not known. */
  readonly hint: string | null
  readonly #sources: Sources
  readonly #given: Given

  constructor(refusal: ApiError, sources: Sources, given: Given) {
    super(inFlags(refusal.message, sources, given), { cause: refusal })
    this.refusal = refusal
    // Ours looks for what has no prefix by itself, and those without a code know nothing of prefixes.
    const missing = refusal.status === 404 && refusal.coded && !isOurs(refusal)
    this.hint =
      tokenHint(refusal) ??
      trashHint(refusal) ??
      setUpHint(refusal) ??
      creditHint(refusal) ??
      (missing ? referenceHint(refusal, sources, given) : archiveHint(refusal, given))
    this.#sources = sources
    this.#given = given
  }

  /** The flag that a fault is about, `--passing-score`; null where it was not typed as one. */
  readonly flagOf = ({ pointer, parameter }: Fault): string | null => {
    const { fields, query } = this.#sources
    const place = parameter ?? camelCase(fieldPath(pointer ?? ''))
    const flags = parameter === undefined ? fields : query
    const found = flags.find((each) => place === each.place || place.startsWith(`${each.place}.`))
    if (!found) return secretIn(place, this.#given)
    const { name } = found.flag
    const typed = parameter !== undefined || this.#given.flags[name] !== undefined
    if (!typed && this.#given.flags[bodyFlag.name] !== undefined) return null
    const inside = place.slice(found.place.length + 1)
    const value = this.#given.flags[name]
    // Without a place inside, it is known which value is meant only where there is one.
    const items: readonly unknown[] =
      Array.isArray(value) && (inside !== '' || value.length === 1) ? value : []
    const item = items[Number(inside)]
    if (typeof item === 'string') return `--${name} ${JSON.stringify(item)}`
    return inside === '' ? `--${name}` : `--${name}: ${inside}`
  }
}

/** A secret is no value of a flag, and so it is called by its words: `The webhook secret` for `webhookSecrets.0`. */
function secretIn(place: string, { flags }: Given): string | null {
  const kebab = place.replace(/\..*/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const [, name] =
    Object.keys(flags)
      .filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
      .map((flag) => /^(.+)-(?:stdin|env)$/.exec(flag))
      .find((match) => match?.[1] !== undefined && kebab.startsWith(match[1])) ?? []
  return name === undefined ? null : `The ${name.replaceAll('-', ' ')}`
}

/** The name of a field as the contract has it: other platforms may write `external_id`. */
function camelCase(path: string): string {
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Advice such as `use force=true` names the flag that stands for the parameter; `If-Match` was typed as `--if-version`. */
function inFlags(message: string, { query }: Sources, { flags }: Given): string {
  const advised = query.map(({ place, flag }) => [`${place}=true`, flag] as const)
  const typed = flags[ifVersionFlag.name] === undefined ? [] : [['If-Match', ifVersionFlag] as const]
  return [...advised, ...typed].reduce(
    (text, [said, { name }]) => text.replaceAll(said, `--${name}`),
    // A version was typed without the quotes of an entity tag.
    typed.length > 0 ? message.replace(/(?<=If-Match requires )"(\d+)"/, '$1') : message,
  )
}

/** The error that a command ends with: of a refusal it is what that means for the command line. */
export function withSources(error: unknown, sources: Sources, given: Given): unknown {
  return error instanceof ApiError ? new RefusedCallError(error, sources, given) : error
}

/** A course that can no longer be a draft can still be closed. */
function archiveHint({ code, message }: ApiError, { arguments: { course } }: Given): string | null {
  if (code !== 'invalid_transition' || course === undefined || !message.includes('progress')) return null
  return `To close it to changes: learnctl courses archive ${shellWord(course)}`
}

/** What has an external id in the trash can be restored; what is not there is not among what can be. */
function trashHint({ code, message, problem }: ApiError): string | null {
  const [, thing] = /^(?:A|Deleted) (course|lesson) /.exec(message) ?? []
  if (thing === undefined) return null
  if (code === 'not_found') return `To list deleted ${thing}s: learnctl ${thing}s list --deleted`
  const id = problem?.['id']
  if (code !== 'duplicate' || problem?.['existingStatus'] !== 'deleted' || typeof id !== 'string') return null
  return `To restore it: learnctl ${thing}s restore ${shellWord(id)}`
}

/** A stored access token goes to no other address: it is typed again, or removed. */
function tokenHint({ faults }: ApiError): string | null {
  if (!faults.some(({ code }) => code === 'access_token_required')) return null
  return 'Give it with --access-token-stdin or --access-token-env, or remove it with --remove-secret access-token'
}

/** There is one integration of each kind; one that is not there was not set up. */
function setUpHint({ code, message }: ApiError): string | null {
  const [, kind] = /^Integration (\w+) not found/.exec(message) ?? []
  return code === 'not_found' && kind !== undefined ? `Set it up: learnctl integrations set ${kind}` : null
}

function creditHint({ faults }: ApiError): string | null {
  const isAbove = faults.some(({ code }) => code === 'above_maximum')
  return isAbove ? 'Record it as extra credit with --extra-credit' : null
}

const known = /^(ext:|email:)|^[a-z]{3}_/

/** A reference that is no id of ours was probably meant as one's own, or as an e-mail address. */
function referenceHint({ message }: ApiError, sources: Sources, given: Given): string | null {
  const { fields, query, positions } = sources
  const typed = [
    ...positions.map(([place, { name }]) => [place, given.arguments[name]] as const),
    ...[...fields, ...query].map(({ place, flag }) => [place, given.flags[flag.name]] as const),
  ]
  const bare = typed.flatMap(([place, value]) => {
    const kind = /^(course|lesson|user|learner)_?id$/i.exec(place)?.[1]
    if (!kind) return []
    const references = [value].flat().flatMap((each) => String(each ?? '').split(','))
    return references.flatMap((value) => (value === '' || known.test(value) ? [] : [{ kind, value }]))
  })
  const named = bare.find(({ value }) => message.includes(value))
  if (!named) return null
  const person = /^(user|learner)$/.test(named.kind) && named.value.includes('@')
  return `Did you mean ${shellWord(`${person ? 'email' : 'ext'}:${named.value}`)}?`
}
