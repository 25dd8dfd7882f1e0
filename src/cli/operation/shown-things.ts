import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { matchesReference, parseReference } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'

/** Nouns and read operations that parameters and fields refer to. */
export const referred: Readonly<Record<string, { readonly noun: string; readonly shownBy: string }>> = {
  courseId: { noun: 'course', shownBy: 'courses.get' },
  lessonId: { noun: 'lesson', shownBy: 'lessons.get' },
  userId: { noun: 'user', shownBy: 'users.get' },
  learnerId: { noun: 'user', shownBy: 'users.get' },
}

/** Thing that a platform shows, or the reason why not; `ours` is true for a refusal in our API's format. */
export type Shown =
  | { readonly kind: 'shown'; readonly data: unknown; readonly etag: string | null }
  | { readonly kind: 'hidden'; readonly why: string }
  | { readonly kind: 'ours' }

/** Things of a remote platform; each is read once. */
export interface ShownThings {
  readonly host: string
  /** Reads the thing at the path of an operation. */
  at(operation: Operation, params: AnyInput['params']): Promise<Shown>
  /**
   * Returns the id for an `ext:…` or `email:…` reference in a field; null if the platform resolves references itself,
   * as ours does. Throws a UsageError for an unknown reference.
   */
  idBehind(field: string, reference: string): Promise<string | null>
}

/** Opens the things of this session's platform. Reads only. */
export async function shownThings(
  { session, io: { signal } }: Pick<Context, 'session' | 'io'>,
  caller: Caller,
): Promise<ShownThings> {
  const host = platformName(session.target())
  const { operations } = await import('./operations.ts')
  const seen = new Map<string, Promise<Shown>>()

  function at({ path }: Pick<Operation, 'path'>, params: AnyInput['params'] = {}): Promise<Shown> {
    const shows = operations.find((each) => each.method === 'GET' && each.path === path)
    const key = `${path} ${JSON.stringify(params)}`
    const shown = seen.get(key) ?? (shows ? look(caller, shows, { params, signal }) : nothingShown)
    seen.set(key, shown)
    return shown
  }

  async function idBehind(field: string, reference: string): Promise<string | null> {
    const { noun = field, shownBy } = referred[field] ?? {}
    const { path = '/' } = operations.find(({ id }) => id === shownBy) ?? {}
    const parameter = /\{(\w+)\}/.exec(path)?.[1] ?? field
    const shown = await at({ path }, { [parameter]: reference })
    if (shown.kind === 'ours') return null
    const id = shown.kind === 'shown' ? String(valueAt(shown.data, 'id') ?? '') : ''
    if (shown.kind === 'shown' && id !== '' && standsFor(shown.data, id, reference)) return id
    throw new UsageError(`${host} does not resolve ${reference}`, {
      code: 'not_resolved',
      why: [shown.kind === 'hidden' ? shown.why : `It shows no ${noun} for it`],
      hint:
        noun === 'course' ? 'Use the id of the course: learnctl courses list' : `Use the id of the ${noun}`,
    })
  }

  return { host, at, idBehind }
}

/** Returns a function that resolves references like `idBehind`; reads nothing before it is called. */
export function referenceResolver(
  context: Pick<Context, 'session' | 'io'>,
  caller: Caller,
): ShownThings['idBehind'] {
  let things: Promise<ShownThings> | null = null
  return async (field, reference) => {
    things ??= shownThings(context, caller)
    return (await things).idBehind(field, reference)
  }
}

/** Statuses for a missing thing or operation. */
const refusals = [400, 404, 405, 422, 501]

const nothingShown: Promise<Shown> = Promise.resolve({
  kind: 'hidden',
  why: 'It has no operation that shows it',
})

async function look(caller: Caller, shows: Operation, input: AnyInput): Promise<Shown> {
  try {
    const { data, etag } = await caller.call(shows, input)
    return { kind: 'shown', data, etag }
  } catch (error) {
    if (error instanceof ApiError && isOurs(error)) return { kind: 'ours' }
    if (error instanceof NotOfferedError || error instanceof ProtocolError)
      return { kind: 'hidden', why: error.message }
    // Some platforms refuse with a success status.
    if (!(error instanceof ApiError && (error.status < 400 || refusals.includes(error.status)))) throw error
    const path = new URL(error.url).pathname
    return {
      kind: 'hidden',
      why: `${error.method} ${path} returned ${error.status < 400 ? 'an error' : error.status}`,
    }
  }
}

function standsFor(thing: unknown, id: string, reference: string): boolean {
  const meant = parseReference(reference)
  const value = valueAt(thing, meant.by === 'email' ? 'email' : 'externalId')
  // Ids of other platforms may look like our references.
  return id === reference || matchesReference(meant, value)
}
