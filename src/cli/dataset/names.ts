import type * as z from 'zod'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

export interface Names {
  /** Returns `ext:` and the external id of a course; its id if it has none. */
  courseKey(id: string): Promise<string>
  /** Returns `ext:` and the external id of a user, else `email:` and the address. */
  userKey(id: string): Promise<string>
  /** Returns the referenced course as the API shows it; null if there is none. */
  course(reference: string): Promise<JsonObject | null>
  user(reference: string): Promise<JsonObject | null>
  group(reference: string): Promise<JsonObject | null>
  term(reference: string): Promise<JsonObject | null>
  forgetCourses(): void
}

export function createNames(caller: Caller, signal: AbortSignal): Names {
  const reader = (list: Call, get: Call, parameter: string) =>
    remembering(async (reference) => {
      try {
        const shown = await caller.call<Operation>(get, { params: { [parameter]: reference }, signal })
        const record = shownRecord(caller, list, shown)
        return isJsonObject(record) ? record : null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    })
  const course = reader(calls.courses.list, calls.courses.get, 'courseId')
  const user = reader(calls.users.list, calls.users.get, 'userId')
  const group = reader(calls.groups.list, calls.groups.get, 'groupId')
  const term = reader(calls.terms.list, calls.terms.get, 'termId')

  return {
    course: course.get,
    user: user.get,
    group: group.get,
    term: term.get,
    courseKey: async (id) => courseKeyOf((await course.get(id)) ?? { id }),
    userKey: async (id) => userKeyOf((await user.get(id)) ?? { id }),
    forgetCourses: course.clear,
  }
}

export function courseKeyOf(shown: JsonObject): string {
  return `ext:${externalKeyOf(shown)}`
}

/** Returns the name of the term of a course for references: its external id, else its id; null for none. */
export function termKeyIn({ termId, termExternalId }: JsonObject): string | null {
  return termId === null ? null : `ext:${termExternalId ?? termId}`
}

/** Returns the name of a user for references: the external id, else the e-mail address, else the id. */
function userKeyOf({ externalId, email, id }: JsonObject): string {
  if (typeof externalId === 'string') return `ext:${externalId}`
  return typeof email === 'string' ? `email:${email}` : String(id)
}

/** Returns the name of a record's course: from the record if it contains it, else looked up. */
export async function courseKeyIn(shown: JsonObject, names: Names): Promise<string> {
  const { courseExternalId: externalId, courseId: id } = shown
  return externalId === undefined ? names.courseKey(String(id)) : courseKeyOf({ externalId, id })
}

/** `field` holds the user's id. */
export async function userKeyIn(shown: JsonObject, field: string, names: Names): Promise<string> {
  const { userExternalId: externalId, userEmail: email, [field]: id } = shown
  return externalId === undefined ? names.userKey(String(id)) : userKeyOf({ externalId, email, id })
}

function remembering<Value>(read: (key: string) => Promise<Value>) {
  const known = new Map<string, Promise<Value>>()
  return {
    get(key: string): Promise<Value> {
      const found = known.get(key)
      if (found) return found
      const value = read(key)
      known.set(key, value)
      // Do not cache failures.
      value.catch(() => known.delete(key))
      return value
    },
    clear: () => known.clear(),
  }
}

/** Holds the URL of a remote record without an external id: unlike an id, it cannot match one of another platform. */
const addressField = '@id'

/** True for an id in this API's format, which is valid on one platform only. */
function isOwnId(value: unknown): boolean {
  return /^[a-z]{3}_[0-9A-Za-z]{20,}$/.test(String(value))
}

/** Returns the external id of a record in files: its own, else its URL on a remote platform, else its id. */
export function externalKeyOf(shown: JsonObject): string {
  return String(shown['externalId'] ?? shown[addressField] ?? shown['id'])
}

export function paramsOf(parameter: string) {
  return ({ id }: JsonObject) => ({ [parameter]: String(id) })
}

export function byExternalId(parameter: string, query: Readonly<Record<string, string>> = {}) {
  return ({ externalId }: JsonObject) =>
    typeof externalId === 'string'
      ? {
          reference: { [parameter]: `ext:${externalId}` },
          query: { external_id: externalId, ...query },
          matches: (shown: JsonObject) => externalId === externalKeyOf(shown),
        }
      : null
}

/** Null for any other text. */
export function idAtAddress(caller: Caller, list: Call, text: unknown): string | null {
  if (typeof text !== 'string' || !/^https?:/.test(text)) return null
  const base = `${addressOf(caller, list)}/`
  const rest = text.startsWith(base) ? text.slice(base.length) : ''
  try {
    return rest === '' || /[/?#]/.test(rest) ? null : decodeURIComponent(rest)
  } catch {
    return null
  }
}

/**
 * Adds the URL on the platform to records that have neither an external id nor an id in this API's format. Records of
 * a server of this API stay unchanged.
 *
 * @param list list that shows such records, without a path parameter if they can have external ids
 */
export function shownRecords(
  caller: Caller,
  list: Call,
  { data }: { readonly data: readonly unknown[] },
): readonly unknown[] {
  if (caller.isOurs()) return data
  const named = list.holds.answer.includes('externalId')
  return data.map((record) => {
    if (!isJsonObject(record)) return record
    const { id, externalId } = record
    if (!named || (externalId ?? '') !== '' || id === undefined || isOwnId(id)) return record
    const address = `${addressOf(caller, list)}/${encodeURIComponent(String(id))}`
    return { ...record, ...(externalId === '' && { externalId: null }), [addressField]: address }
  })
}

export function shownRecord(caller: Caller, list: Call, { data }: { readonly data: unknown }): unknown {
  const [record] = shownRecords(caller, list, { data: [data] })
  return record
}

export async function* recordPages<P extends { readonly data: readonly unknown[] }>(
  caller: Caller,
  list: Call,
  pages: AsyncIterable<P>,
): AsyncGenerator<P> {
  for await (const page of pages) yield { ...page, data: shownRecords(caller, list, page) }
}

function addressOf(caller: Caller, list: Call): string {
  return caller.request<Operation>(list).url
}

/** Returns the fields of a schema that a shown value has; write-only fields are never shown. */
export function ofFields(schema: z.ZodObject, shown: JsonObject): JsonObject {
  const record: JsonObject = {}
  for (const field in schema.shape) if (shown[field] !== undefined) record[field] = shown[field]
  return record
}

/** Drops an external id that is the id or URL of the current record, as exports write it for records without one. */
export function withoutOwnId(record: JsonObject, current: JsonObject | null): JsonObject {
  if (current === null || ![current['id'], current[addressField]].includes(record['externalId']))
    return record
  const { externalId: _, ...rest } = record
  return rest
}

export function withoutIds(list: unknown, inside?: string): unknown {
  if (!Array.isArray(list)) return list
  return list.map((item) => {
    if (!isJsonObject(item)) return item
    const { id: _, ...rest } = item
    return inside === undefined || rest[inside] === undefined
      ? rest
      : { ...rest, [inside]: withoutIds(rest[inside]) }
  })
}
