import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Grade } from '../../contract/grades.ts'
import { maxWeighedGrades, weightWarnings } from '../../contract/weight-warnings.ts'
import { thingName } from '../operation/thing-name.ts'
import type { Change } from './compare.ts'
import type { Plan } from './plan.ts'

/**
 * Returns what an update of a course would say about its weights: those that name no item, and graded items without one.
 * None where the weights stay, for a new course, and for other platforms, which may weigh in other ways.
 */
export async function weightNotes(
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  {
    current,
    changes,
    record,
  }: { current: JsonObject | null; changes: readonly Change[]; record: JsonObject },
): Promise<string[]> {
  const criteria = record['assessmentCriteria']
  const isChanged = changes.some(({ field }) => field.split('.', 1)[0] === 'assessmentCriteria')
  if (!current || !isChanged || !isJsonObject(criteria) || !caller.isOurs()) return []
  const weights = (Array.isArray(criteria['weights']) ? criteria['weights'] : []) as {
    name: string
    weight: number
  }[]
  if (weights.length === 0) return []
  const grades: Grade[] = []
  let isCut = false
  const query = { course_id: String(current['id']), limit: maxPageSize }
  for await (const { data } of caller.pages(calls.grades.list, { query, signal })) {
    grades.push(...data)
    isCut = grades.length > maxWeighedGrades
    if (isCut) break
  }
  // Beyond the limit, items may be missing: no weight counts as unknown.
  const names = isCut ? weights.map(({ name }) => name) : null
  const rows = grades.map(({ learnerId, itemId, label, weight, published, scoreGiven }) => ({
    ...{ userId: learnerId, itemId, label, weight },
    counts: published && scoreGiven !== null,
  }))
  return weightWarnings(weights, rows, names).map(({ detail }) => `Course ${thingName(current)}: ${detail}`)
}

export async function withWeightNotes(
  reader: { readonly caller: Caller; readonly signal: AbortSignal },
  plan: Plan,
): Promise<Plan> {
  const notes: string[] = []
  for (const { dataset, entry, current, changes } of plan.actions) {
    if (dataset === 'courses' && entry) {
      notes.push(...(await weightNotes(reader, { current, changes, record: entry.record })))
    }
  }
  return notes.length === 0 ? plan : { ...plan, notes: [...plan.notes, ...notes] }
}
