import { AmbiguousError, ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Dataset, keyOf } from '../dataset/dataset.ts'
import type { Match } from '../dataset/find.ts'
import { thingName } from '../operation/thing-name.ts'
import { columnsChanged, restoring } from './compare.ts'
import type { Outcome } from './outcome.ts'
import {
  createRecord,
  type OnExists,
  restoreRecord,
  updateRecord,
  versionOf,
  type Writer,
  write,
} from './write.ts'

/** A platform that is open for writing, and how an import recognises, creates and updates its records. */
export interface Putting extends Writer {
  readonly dataset: Dataset
  readonly abilities: { readonly find: boolean; readonly keys: boolean }
  readonly finder: {
    prepare(records: readonly JsonObject[]): Promise<void>
    find(record: JsonObject): Promise<Match>
  }
  readonly onExists: OnExists
  /** Replaces references that a remote platform may not know. */
  readonly resolve: (record: JsonObject) => Promise<JsonObject>
}

/** Rejection code of a record that may or may not have been written. */
export const unconfirmed = 'unconfirmed'

/** Creates the sender of single records: it looks each one up, and creates or changes it. */
export function createPut(putting: Putting) {
  const { dataset, abilities, finder, names, onExists } = putting
  /** True if the next record is probably new: it is then created at once, and looked up only on a conflict. */
  let isNextNew = true

  /** @param isDoubtful whether an earlier import may have written the record already */
  return async (given: JsonObject, isDoubtful: boolean): Promise<Outcome> => {
    const record = await putting.resolve(given)
    if (dataset.operations.update === undefined) return set(record)
    const findable = abilities.find && keyOf(dataset, record) !== null
    if (isDoubtful) {
      if (!findable) return unknownOutcome
      const { shown } = await finder.find(record)
      // Created by the earlier import.
      if (shown !== null && onExists !== 'update') return { kind: 'created' }
      if (shown !== null) return change(record, shown)
    }
    // Where idempotency keys are honoured, a creation that is repeated gets its first answer.
    const isSentFirst = abilities.keys && (onExists === 'fail' || (isNextNew && !mayBeId(record)))
    const isLookedFor = findable && !isSentFirst
    if (isLookedFor) {
      const { shown } = await finder.find(record)
      if (shown !== null) return change(record, shown)
      isNextNew = true
    }
    try {
      return await create(record, findable)
    } catch (error) {
      const refused = error instanceof ApiError && [400, 409, 422].includes(error.status)
      if (!refused || onExists === 'fail' || !findable) throw error
      if (isLookedFor) {
        // The record did not exist before the request: only a 409 can mean that another import has created it since.
        if (error.status !== 409) throw error
        await finder.prepare([record])
      }
      // The record may exist, or another one may have its name, such as the e-mail address.
      const found = (await finder.find(record)).shown
      const restored =
        found === null && onExists === 'update' ? await restoreTaken(putting, dataset, record, error) : null
      const shown = found ?? restored
      if (shown === null) throw error
      isNextNew = false
      const outcome = await change(record, shown)
      return restored && outcome.kind === 'unchanged' ? { kind: 'updated' } : outcome
    }
  }

  /** Returns the outcome for a record that exists and is not to be updated. */
  function existing(): Outcome {
    if (onExists === 'skip') return { kind: 'skipped' }
    return failed('duplicate', `the ${dataset.noun} already exists`)
  }

  async function change(record: JsonObject, shown: JsonObject): Promise<Outcome> {
    if (onExists !== 'update') return existing()
    const version = versionOf(shown)
    const restored = restoring(record, shown)
    // A learnctl server compares; another platform may not offer updates, or count each as a change.
    if (!abilities.keys && (await columnsChanged(putting, restored, shown)).length === 0) {
      return { kind: 'unchanged' }
    }
    const body = await dataset.toBody(restored, shown, names)
    const { data } = await updateRecord(putting, dataset, shown, body)
    const same = version !== undefined && versionOf(data) === version
    return { kind: same ? 'unchanged' : 'updated' }
  }

  /** Sends a record that is always set as a whole; repeating that is harmless. */
  async function set(record: JsonObject): Promise<Outcome> {
    if (onExists !== 'update' && (await finder.find(record)).shown !== null) return existing()
    const { data } = await createRecord(putting, dataset, { ...dataset.presumed, ...record })
    const warnings = isJsonObject(data) ? data['warnings'] : undefined
    const [warning] = Array.isArray(warnings) ? warnings.filter(isJsonObject) : []
    return {
      kind: 'updated',
      warning: warning === undefined ? null : String(warning['detail']),
    }
  }

  async function create(record: JsonObject, findable: boolean): Promise<Outcome> {
    try {
      await createRecord(putting, dataset, record)
    } catch (error) {
      if (!(error instanceof AmbiguousError) || abilities.keys) throw error
      if (!findable) return unknownOutcome
      // A missing record may still appear: the import stops, and the next one looks again.
      await finder.prepare([record])
      if ((await finder.find(record)).shown === null) throw error
    }
    return { kind: 'created' }
  }
}

/**
 * Restores the record in the trash whose external id the platform refused to give to another, with all that was deleted
 * with it; an archived course is published, so that it can be changed. Returns it as the API shows it; null if the error is
 * another one, and for a lesson of another course.
 */
async function restoreTaken(
  writer: Writer,
  dataset: Dataset,
  record: JsonObject,
  error: ApiError,
): Promise<JsonObject | null> {
  const { id, existingStatus } = error.problem ?? {}
  const { get, update, restore, params } = dataset.operations
  if (error.code !== 'duplicate' || existingStatus !== 'deleted' || !restore || !get) return null
  if (dataset.name === 'lessons' && !(await isDeletedFrom(writer, record['courseId'], id))) return null
  await restoreRecord(writer, dataset, { id })
  const { caller, notes, signal } = writer
  const shownNow = async () => (await caller.call<Operation>(get, { params: params({ id }), signal })).data
  let shown = await shownNow()
  if (!isJsonObject(shown)) return null
  notes.add(`Restored from the trash: ${dataset.noun} ${thingName(shown)}`)
  if (update && shown['status'] === 'archived') {
    await write(writer, update, { params: params(shown), body: { status: 'published' } })
    shown = await shownNow()
  }
  return isJsonObject(shown) ? shown : null
}

/** True for a lesson in the trash that was deleted from a course. */
async function isDeletedFrom(
  { caller, names, signal }: Writer,
  course: unknown,
  lessonId: unknown,
): Promise<boolean> {
  const course_id = String((await names.course(String(course)))?.['id'])
  const pages = caller.pages(calls.lessons.listDeleted, { query: { course_id, limit: maxPageSize }, signal })
  for await (const { data } of pages) if (data.some(({ id }) => id === lessonId)) return true
  return false
}

/** True if the external id may be the id of a record without one, as exports write it. */
function mayBeId({ externalId }: JsonObject): boolean {
  return typeof externalId === 'string' && /^[a-z]+_/.test(externalId)
}

function failed(code: string, detail: string): Outcome {
  return { kind: 'failed', code, detail, faults: [] }
}

/** Outcome of a record that may have been created and cannot be looked up: sending it again could duplicate it. */
const unknownOutcome = failed(
  unconfirmed,
  'may have been created: nothing shows it, and the platform cannot be asked; check before you retry',
)
