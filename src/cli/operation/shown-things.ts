import type { AnyInput } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, isOurs, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { matchesReference, parseReference } from '../../codec/reference.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { valueAt } from '../output/columns.ts'
import { UsageError } from '../terminal/errors.ts'

/** What a parameter or a field of this name refers to, and the operation that shows such a thing. */
export const referred: Readonly<Record<string, { readonly noun: string; readonly shownBy: string }>> = {
  courseId: { noun: 'course', shownBy: 'courses.get' },
  lessonId: { noun: 'lesson', shownBy: 'lessons.get' },
  userId: { noun: 'user', shownBy: 'users.get' },
  learnerId: { noun: 'user', shownBy: 'users.get' },
}

/** What a platform shows of a thing, or why it does not; `ours` is a refusal in the API's own words. */
export type Shown =
  | { readonly kind: 'shown'; readonly data: unknown; readonly etag: string | null }
  | { readonly kind: 'hidden'; readonly why: string }
  | { readonly kind: 'ours' }

/** Things of a platform elsewhere; each is looked at once. */
export interface ShownThings {
  readonly host: string
  /** The thing at the path of an operation, as its GET shows it. */
  at(operation: Operation, params: AnyInput['params']): Promise<Shown>
  /**
   * The id of what `ext:…` or `email:…` refers to in a field of this name; null where the platform has its own word
   * on that, as ours has. Throws a UsageError where it shows no such thing.
   */
  idBehind(field: string, reference: string): Promise<string | null>
}

/** What the platform of this session shows. Reads only. */
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

/** Resolves references as `idBehind` does; nothing is read before it is needed. */
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

/** How platforms say that they have no such thing, or no such operation. */
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
    // Some platforms refuse with the status of a success.
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
  // Somewhere an id may look like a reference of ours.
  return id === reference || matchesReference(meant, value)
}
