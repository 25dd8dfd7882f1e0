import type { Caller } from '../../client/caller.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Grade } from '../../contract/grades.ts'
import { maxWeighedGrades, weightWarnings } from '../../contract/weight-warnings.ts'
import { thingName } from '../operation/thing-name.ts'
import type { Action, Plan } from './plan.ts'

/** Adds what the updates of courses would say about their weights to the notes of a plan. */
export async function withWeightNotes(
  reader: { readonly caller: Caller; readonly signal: AbortSignal },
  plan: Plan,
): Promise<Plan> {
  const notes = [...plan.notes]
  for (const action of plan.actions) {
    if (action.dataset === 'courses') notes.push(...(await weightNotes(reader, action)))
  }
  return { ...plan, notes }
}

/** Names weights without an item, and graded items without a weight; nothing where the weights stay, and for a new course. */
async function weightNotes(
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
  { current, changes, entry }: Action,
): Promise<string[]> {
  const criteria = entry?.record['assessmentCriteria']
  const isChanged = changes.some(({ field }) => field.split('.', 1)[0] === 'assessmentCriteria')
  if (!current || !isChanged || !isJsonObject(criteria)) return []
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
