import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { setNewest } from '../../codec/bounded-map.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { type Call, calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import { externalKeyOf, shownRecord } from './shown-records.ts'

/** Maximum number of cached courses, users, groups and terms, each: schools have few courses, and users come in runs. */
const remembered = 10_000

/** Names of courses, users, groups and terms in files. */
export interface Names {
  /** Returns `ext:` and the external id of a course; its id if it has none. */
  courseKey(id: string): Promise<string>
  /** Returns `ext:` and the external id of a user, else `email:` and the address. */
  userKey(id: string): Promise<string>
  /** Returns the referenced course as the API shows it; null if there is none. */
  course(reference: string): Promise<JsonObject | null>
  /** Returns the referenced user as the API shows it; null if there is none. */
  user(reference: string): Promise<JsonObject | null>
  /** Returns the referenced group as the API shows it; null if there is none. */
  group(reference: string): Promise<JsonObject | null>
  /** Returns the referenced term as the API shows it; null if there is none. */
  term(reference: string): Promise<JsonObject | null>
  /** Clears the cache of courses after a change. */
  forgetCourses(): void
}

/** Creates names that are read from a platform and cached. */
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

/** Returns the name of a course for references: its external id, else its id. */
export function courseKeyOf(shown: JsonObject): string {
  return `ext:${externalKeyOf(shown)}`
}

/** Returns the name of the term of a course for references: its external id, else its id; null for none. */
export function termKeyIn({ termId, termExternalId }: JsonObject): string | null {
  return termId === null ? null : `ext:${termExternalId ?? termId}`
}

/** Returns the name of a user for references: the external id, else the e-mail address, else the id. */
export function userKeyOf({ externalId, email, id }: JsonObject): string {
  if (typeof externalId === 'string') return `ext:${externalId}`
  return typeof email === 'string' ? `email:${email}` : String(id)
}

/** Returns the name of a record's course: from the record if it contains it, else looked up. */
export async function courseKeyIn(shown: JsonObject, names: Names): Promise<string> {
  const { courseExternalId: externalId, courseId: id } = shown
  return externalId === undefined ? names.courseKey(String(id)) : courseKeyOf({ externalId, id })
}

/** Returns the name of a record's user; `field` holds the user's id. */
export async function userKeyIn(shown: JsonObject, field: string, names: Names): Promise<string> {
  const { userExternalId: externalId, userEmail: email, [field]: id } = shown
  return externalId === undefined ? names.userKey(String(id)) : userKeyOf({ externalId, email, id })
}

/** Caches the last `remembered` results of a reader. */
function remembering<Value>(read: (key: string) => Promise<Value>) {
  const known = new Map<string, Promise<Value>>()
  return {
    get(key: string): Promise<Value> {
      const found = known.get(key)
      if (found) return found
      const value = read(key)
      setNewest(known, key, value, remembered)
      // Do not cache failures.
      value.catch(() => known.delete(key))
      return value
    },
    clear: () => known.clear(),
  }
}
