import type { Caller } from '../../client/caller.ts'
import { leave } from '../../client/decode.ts'
import { encodePath } from '../../client/encode.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { jsonText } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { loadPart } from './load-part.ts'
import type { Action } from './plan.ts'
import type { Reader } from './reader.ts'
import { referencesOf } from './references.ts'

/**
 * Returns the first course reference that is not an id in the records of a plan, `ext:BIO-101`; undefined if there is
 * none.
 */
export function namedCourse(actions: readonly Action[]): string | undefined {
  for (const { dataset, kind, entry } of actions) {
    if (kind === 'delete' || entry === null) continue
    const fields = referencesOf({ dataset }).flatMap(([field, to]) => (to === 'courses' ? [field] : []))
    const name = fields.map((field) => String(entry.record[field])).find((text) => text.startsWith('ext:'))
    if (name !== undefined) return name
  }
  return undefined
}

/**
 * Returns whether a platform resolves `ext:` references to courses: its OpenAPI document says so, or an existing
 * course is tried. Null if no course has an external id, or the platform shows no single course.
 */
export async function understandsExternalIds(
  { caller, signal }: Reader,
  document: JsonObject | null,
): Promise<boolean | null> {
  if (document && jsonText(document).includes('ext:<externalId>')) return true
  const { operations } = await loadPart('courses')
  const { get } = operations
  if (!get) return null
  for await (const { data } of caller.pages<Operation>(operations.list, { signal })) {
    const known = data.filter(isJsonObject).find(({ externalId }) => typeof externalId === 'string')
    if (!known) return null
    const shows = (courseId: string) => isShown(caller, encodePath(get.path, { courseId }), signal)
    if (await shows(`ext:${known['externalId']}`)) return true
    return (await shows(String(known['id']))) ? false : null
  }
  return null
}

/** True if the platform shows a record at this path; throws any fault that leaves that open. */
async function isShown(caller: Caller, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await leave(await caller.send({ method: 'GET', path, signal }))
    return true
  } catch (error) {
    if (error instanceof ApiError && [400, 404, 405, 422].includes(error.status)) return false
    throw error
  }
}
