import { isJsonObject } from '../../codec/json-text.ts'
import { matchesReference, parseReference } from '../../codec/reference.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Result } from '../call.ts'
import { ApiError, isOurs, lineOf, NotOfferedError, ProtocolError, RequestError } from '../errors.ts'

/** Reads one record. */
export type ReadRecord = (
  operation: Operation,
  input: AnyInput,
) => Promise<Pick<Result<unknown>, 'data' | 'etag'>>

/** Resolves references for a platform that may store them as text; reads each record once. */
export interface References {
  /**
   * Returns the id for an `ext:…` or `email:…` reference in a field; null if the platform resolves references itself,
   * as ours does. Throws RequestError `not_resolved` for an unknown reference.
   */
  idOf(field: string, reference: string, signal?: AbortSignal): Promise<string | null>
  /**
   * Throws RequestError if the record at the path of a write shows another version than `ifMatch`, or none: the platform
   * may ignore If-Match.
   */
  requireVersion(operation: Operation, input: AnyInput): Promise<void>
}

/** Nouns and read operations of the records that parameters and fields refer to. */
const recordOfField: Readonly<Record<string, { readonly noun: string; readonly read: Operation }>> = {
  courseId: { noun: 'course', read: calls.courses.get },
  lessonId: { noun: 'lesson', read: calls.lessons.get },
  userId: { noun: 'user', read: calls.users.get },
  learnerId: { noun: 'user', read: calls.users.get },
}

/** A record that a platform shows, or the reason why it does not; `ours` for a refusal in our API's format. */
type Shown =
  | { readonly kind: 'shown'; readonly data: unknown; readonly etag: string | null }
  | { readonly kind: 'hidden'; readonly why: string }
  | { readonly kind: 'ours' }

/** Creates a resolver for the platform of a host. */
export function createReferences(host: string, read: ReadRecord): References {
  const shownByPath = new Map<string, Promise<Shown>>()

  function recordAt(shows: Operation | undefined, { params = {}, signal }: AnyInput): Promise<Shown> {
    const key = `${shows?.path} ${JSON.stringify(params)}`
    const shown = shownByPath.get(key) ?? (shows ? readShown(read, shows, { params, signal }) : notShown)
    shownByPath.set(key, shown)
    return shown
  }

  return {
    async idOf(field, reference, signal) {
      const { noun, read: shows } = recordOfField[field] ?? { noun: field, read: undefined }
      const parameter = /\{(\w+)\}/.exec(shows?.path ?? '')?.[1] ?? field
      const shown = await recordAt(shows, { params: { [parameter]: reference }, signal })
      if (shown.kind === 'ours') return null
      const id = shown.kind === 'shown' ? String(fieldOf(shown.data, 'id') ?? '') : ''
      if (shown.kind === 'shown' && id !== '' && standsFor(shown.data, id, reference)) return id
      const why = shown.kind === 'hidden' ? shown.why : `It shows no ${noun} for it`
      throw new RequestError('not_resolved', `${host} does not resolve ${reference}`, { why: [why], noun })
    },
    async requireVersion(operation, input) {
      const shows = operations.find(({ method, path }) => method === 'GET' && path === operation.path)
      const shown = await recordAt(shows, input)
      if (shown.kind === 'ours') return
      const current = shown.kind === 'shown' ? versionOf(shown) : null
      if (current === null) {
        const why = shown.kind === 'hidden' ? shown.why : 'It shows no version to compare with'
        throw new RequestError('version_unknown', `${host} does not support If-Match here`, { why: [why] })
      }
      if (current === String(input.ifMatch)) return
      const message = `The current version is ${current}, but If-Match requires ${input.ifMatch}`
      throw new RequestError('precondition_failed', message)
    },
  }
}

/**
 * Prepares a write for a platform of any style: replaces references by ids and requires the version. All of that is read
 * before anything is written.
 */
export async function prepareWrite(
  references: References,
  operation: Operation,
  input: AnyInput,
): Promise<AnyInput> {
  const places = placesIn(input)
  const [ids] = await Promise.all([
    Promise.all(places.map(({ field, reference }) => references.idOf(field, reference, input.signal))),
    input.ifMatch === undefined ? undefined : references.requireVersion(operation, input),
  ])
  const idsIn = (part: Place['part']) =>
    Object.fromEntries(
      places.flatMap((place, index) =>
        place.part === part ? [[place.field, ids[index] ?? place.reference]] : [],
      ),
    )
  return {
    ...input,
    params: { ...input.params, ...idsIn('params') },
    ...(isJsonObject(input.body) && { body: { ...input.body, ...idsIn('body') } }),
  }
}

/** A reference that is not an id, and its place in the input. */
interface Place {
  readonly part: 'params' | 'body'
  readonly field: string
  readonly reference: string
}

function placesIn({ params = {}, body }: AnyInput): Place[] {
  const fields = isJsonObject(body) ? body : {}
  return Object.keys(recordOfField).flatMap((field) =>
    (['params', 'body'] as const).flatMap((part) => {
      const value = part === 'params' ? params[field] : fields[field]
      return typeof value === 'string' && parseReference(value).by !== 'id'
        ? [{ part, field, reference: value }]
        : []
    }),
  )
}

const operations = Object.values(calls).flatMap((group) => Object.values<Operation>(group))

/** Statuses for a missing record or operation. */
const refusals = [400, 404, 405, 422, 501]

const notShown: Promise<Shown> = Promise.resolve({
  kind: 'hidden',
  why: 'It has no operation that shows it',
})

async function readShown(read: ReadRecord, shows: Operation, input: AnyInput): Promise<Shown> {
  try {
    const { data, etag } = await read(shows, input)
    return { kind: 'shown', data, etag }
  } catch (error) {
    if (error instanceof ApiError && isOurs(error)) return { kind: 'ours' }
    if (error instanceof NotOfferedError || error instanceof ProtocolError)
      return { kind: 'hidden', why: error.message }
    // Some platforms refuse with a success status.
    if (!(error instanceof ApiError && (error.status < 400 || refusals.includes(error.status)))) throw error
    const returned = error.status < 400 ? 'an error' : error.status
    return { kind: 'hidden', why: `${lineOf(error)} returned ${returned}` }
  }
}

/** True if a record is the one that a reference names. */
function standsFor(record: unknown, id: string, reference: string): boolean {
  const parsed = parseReference(reference)
  const value = fieldOf(record, parsed.by === 'email' ? 'email' : 'externalId')
  // Ids of other platforms may look like our references.
  return id === reference || matchesReference(parsed, value)
}

/** Returns a numeric version from the body or a strong or weak ETag; a hash is not a version. */
function versionOf({ data, etag }: { readonly data: unknown; readonly etag: string | null }): string | null {
  // Text may have the form `3.00`.
  const [, version] = /^(\d+)(?:\.0+)?$/.exec(String(fieldOf(data, 'version') ?? '')) ?? []
  if (version !== undefined) return version
  return /^(?:W\/)?"(\d+)"$/.exec(etag ?? '')?.[1] ?? null
}

function fieldOf(record: unknown, field: string): unknown {
  return isJsonObject(record) ? record[field] : undefined
}
