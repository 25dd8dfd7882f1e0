import type { CallOptions, Result } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { externalKeyOf, shownRecord } from './shown-records.ts'

/** So many courses and users are remembered: a school has few courses, and users come in runs. */
const remembered = 10_000

/** What ids are called in files. */
export interface Names {
  /** `ext:` and the external id of a course; its id where it has none. */
  courseKey(id: string): Promise<string>
  /** `ext:` and the external id of a user, else `email:` and the address. */
  userKey(id: string): Promise<string>
  /** The course that a reference means, as the API shows it; null where there is none. */
  course(reference: string): Promise<JsonObject | null>
  /** The user whom a reference means, as the API shows them; null where there is none. */
  user(reference: string): Promise<JsonObject | null>
  /** Reads a course again when it is next asked for, because it was changed. */
  forgetCourses(): void
}

/** The names that a platform gives; each thing is asked for once. */
export function createNames(caller: Caller, signal: AbortSignal): Names {
  const course = remembering(async (reference: string) =>
    one(calls.courses.list, (options) =>
      caller.call(calls.courses.get, { params: { courseId: reference }, ...options }),
    ),
  )
  const user = remembering(async (reference: string) =>
    one(calls.users.list, (options) =>
      caller.call(calls.users.get, { params: { userId: reference }, ...options }),
    ),
  )

  async function one(
    list: Call,
    read: (options: CallOptions) => Promise<Pick<Result<unknown>, 'data' | 'strict'>>,
  ): Promise<JsonObject | null> {
    try {
      const shown = shownRecord(caller, list, await read({ handling: 'strict', signal }))
      return isJsonObject(shown) ? shown : null
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  }

  return {
    course: course.get,
    user: user.get,
    courseKey: async (id) => courseKeyOf((await course.get(id)) ?? { id }),
    userKey: async (id) => userKeyOf((await user.get(id)) ?? { id }),
    forgetCourses: course.clear,
  }
}

/** What a course is called by others: its external id, else its id in the place of one. */
export function courseKeyOf(shown: JsonObject): string {
  return `ext:${externalKeyOf(shown)}`
}

/** What a user is called by others: the external id, else the e-mail address, else the id. */
export function userKeyOf({ externalId, email, id }: JsonObject): string {
  if (typeof externalId === 'string') return `ext:${externalId}`
  return typeof email === 'string' ? `email:${email}` : String(id)
}

/** What the course of an enrolment or of progress is called: told by the record where it says that, else looked up. */
export async function courseKeyIn(shown: JsonObject, names: Names): Promise<string> {
  const { courseExternalId: externalId, courseId: id } = shown
  return externalId === undefined ? names.courseKey(String(id)) : courseKeyOf({ externalId, id })
}

/** The same of its user, whose id stands in `field`. */
export async function userKeyIn(shown: JsonObject, field: string, names: Names): Promise<string> {
  const { userExternalId: externalId, userEmail: email, [field]: id } = shown
  return externalId === undefined ? names.userKey(String(id)) : userKeyOf({ externalId, email, id })
}

/** A reader that remembers what it read, the last `remembered` of it. */
function remembering<Value>(read: (key: string) => Promise<Value>) {
  const known = new Map<string, Promise<Value>>()
  return {
    get(key: string): Promise<Value> {
      const found = known.get(key)
      if (found) return found
      const [oldest] = known.keys()
      if (known.size >= remembered && oldest !== undefined) known.delete(oldest)
      const value = read(key)
      known.set(key, value)
      // What failed once may be there the next time.
      value.catch(() => known.delete(key))
      return value
    },
    clear: () => known.clear(),
  }
}
