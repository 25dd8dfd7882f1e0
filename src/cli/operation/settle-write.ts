import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { idOf, memberOf } from '../../client/member.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

/** What a parameter or a field of this name refers to, and the operation that shows such a thing. */
const referred: Readonly<Record<string, { readonly noun: string; readonly shownBy: string }>> = {
  courseId: { noun: 'course', shownBy: 'courses.get' },
  lessonId: { noun: 'lesson', shownBy: 'lessons.get' },
  userId: { noun: 'user', shownBy: 'users.get' },
  learnerId: { noun: 'user', shownBy: 'users.get' },
}

/** A reference that is no id, and where in the input it stands. */
interface Place {
  readonly part: 'params' | 'body'
  readonly name: string
  readonly reference: string
}

/** What a platform showed of a thing, or why it did not; `ours` is a refusal in the API's own words. */
type Look =
  | { readonly kind: 'shown'; readonly data: unknown; readonly etag: string | null }
  | { readonly kind: 'hidden'; readonly why: string }
  | { readonly kind: 'ours' }

/**
 * A write to a platform elsewhere as it may be sent there: `ext:` and `email:` are replaced by the ids that the
 * platform shows for them, since it may keep them as text otherwise; a required version is compared with the one that
 * it shows, since it may ignore If-Match. Both are read before anything is written. Throws a UsageError where the
 * platform shows no such thing, and a CommandError where the version is another.
 */
export async function settleWrite(
  { session, io: { signal } }: Pick<Context, 'session' | 'io'>,
  caller: Caller,
  operation: Operation,
  input: AnyInput,
): Promise<AnyInput> {
  const places = placesIn(input)
  const target = session.target()
  if (target.kind === 'local' || (places.length === 0 && input.ifMatch === undefined)) return input
  const host = new URL(target.url).host
  const { operations } = await import('../../contract/index.ts')
  const looks = new Map<string, Promise<Look>>()

  /** Every thing is looked at once, though both its id and its version may be wanted. */
  function look(shows: Operation | undefined, params: Readonly<Record<string, string>>): Promise<Look> {
    const key = `${shows?.id} ${Object.values(params).join(' ')}`
    const found = looks.get(key) ?? (shows ? lookAt(caller, shows, params, signal) : nothingShows)
    looks.set(key, found)
    return found
  }

  async function settled({ part, name, reference }: Place): Promise<readonly [Place, string]> {
    const { noun, shownBy } = referred[name] ?? { noun: name, shownBy: '' }
    const shows = operations.find(({ id }) => id === shownBy)
    const parameter = /\{(\w+)\}/.exec(shows?.path ?? '')?.[1] ?? name
    const found = await look(shows, { [parameter]: reference })
    const place = { part, name, reference }
    if (found.kind === 'ours') return [place, reference]
    const id = found.kind === 'shown' ? idOf(found.data, noun) : null
    if (found.kind === 'shown' && id !== null && standsFor(found.data, noun, id, reference))
      return [place, id]
    throw new UsageError(`${host} does not resolve ${reference}`, {
      code: 'not_resolved',
      why: [found.kind === 'hidden' ? found.why : `It shows no ${noun} for it`],
      hint:
        noun === 'course' ? 'Use the id of the course: learnctl courses list' : `Use the id of the ${noun}`,
    })
  }

  async function requireVersion(version: string | number): Promise<void> {
    const shows = operations.find(({ method, path }) => method === 'GET' && path === operation.path)
    const found = await look(shows, input.params ?? {})
    if (found.kind === 'ours') return
    const current = found.kind === 'shown' ? versionOf(found) : null
    if (current === null) {
      throw new UsageError(`${host} does not support --if-version here`, {
        code: 'version_unknown',
        why: [found.kind === 'hidden' ? found.why : 'It shows no version to compare with'],
        hint: 'Run the command without --if-version',
      })
    }
    if (current === String(version)) return
    const message = `The current version is ${current}, but --if-version requires "${version}"`
    throw new CommandError('precondition_failed', 'conflict', message)
  }

  const [ids] = await Promise.all([
    Promise.all(places.map(settled)),
    input.ifMatch === undefined ? undefined : requireVersion(input.ifMatch),
  ])
  const idsIn = (part: Place['part']) =>
    Object.fromEntries(ids.flatMap(([place, id]) => (place.part === part ? [[place.name, id]] : [])))
  return {
    ...input,
    params: { ...input.params, ...idsIn('params') },
    ...(isJsonObject(input.body) && { body: { ...input.body, ...idsIn('body') } }),
  }
}

const nothingShows: Promise<Look> = Promise.resolve({ kind: 'hidden', why: 'Nothing shows it' })

function placesIn({ params = {}, body }: AnyInput): Place[] {
  const fields = isJsonObject(body) ? body : {}
  return Object.keys(referred).flatMap((name) =>
    (['params', 'body'] as const).flatMap((part) => {
      const value = part === 'params' ? params[name] : fields[name]
      return typeof value === 'string' && /^(ext|email):/.test(value)
        ? [{ part, name, reference: value }]
        : []
    }),
  )
}

async function lookAt(
  caller: Caller,
  shows: Operation,
  params: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Look> {
  try {
    const { data, etag } = await caller.call(shows, { params, signal })
    return { kind: 'shown', data, etag }
  } catch (error) {
    if (error instanceof ApiError && isOurs(error)) return { kind: 'ours' }
    if (error instanceof NotOfferedError || error instanceof ProtocolError)
      return { kind: 'hidden', why: error.message }
    if (!(error instanceof ApiError) || ![400, 404, 405, 422, 501].includes(error.status)) throw error
    const path = new URL(error.url).pathname
    return { kind: 'hidden', why: `${error.method} ${path} returned ${error.status}` }
  }
}

/** True for the problem details of a server like ours, which resolves references and obeys If-Match by itself. */
function isOurs({ coded, problem }: ApiError): boolean {
  return coded && problem?.['type'] === 'about:blank' && String(problem['requestId']).startsWith('req_')
}

function standsFor(thing: unknown, noun: string, id: string, reference: string): boolean {
  const [kind = '', ...rest] = reference.split(':')
  const value = memberOf(thing, kind === 'ext' ? 'externalId' : 'email', noun)
  const same = kind === 'ext' ? String : (text: unknown) => String(text).toLowerCase()
  // Somewhere an id may look like a reference of ours.
  return id === reference || same(value) === same(rest.join(':'))
}

/** A version as a number is one, whether in the body or as a strong or weak ETag; a hash is none. */
function versionOf({ data, etag }: { readonly data: unknown; readonly etag: string | null }): string | null {
  const version = String(memberOf(data, 'version') ?? '')
  if (/^\d+$/.test(version)) return version
  return /^(?:W\/)?"(\d+)"$/.exec(etag ?? '')?.[1] ?? null
}
