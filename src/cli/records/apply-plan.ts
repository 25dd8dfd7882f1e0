import type { JsonObject } from '../../codec/json-text.ts'
import type { Names } from '../dataset/names.ts'
import { fieldPath } from '../operation/refused-call.ts'
import type { ApplyJournal, Opened } from './apply-journal.ts'
import { type Busy, busyIn, stagesOf, uniqueNames } from './apply-order.ts'
import type { Change } from './compare.ts'
import { type Entry, isSet, loadPart, type Part, type PartDataset, parts } from './entries.ts'
import { createExecutor, type Writing } from './execute.ts'
import { moveSteps } from './lesson-places.ts'
import type { Action, Plan } from './plan.ts'
import type { Deed, Refusal, Step } from './step.ts'
import { type BatchSize, batchSize, versionOf } from './write.ts'

/** Options for applying a plan. */
export interface Applying extends Writing {
  readonly journal: ApplyJournal
  /** Called with the number of finished actions. */
  readonly onDone: (done: number) => Promise<void>
}

/** An action that was refused or that the platform does not show as done. */
export interface Failure {
  readonly action: Action
  readonly code: string
  readonly message: string
}

/**
 * Applies a plan in this order: closed records are opened, users, courses, lessons, enrolments, progress and grades
 * written, records deleted, and finally records closed. Returns the refused actions, which wrote nothing; the next
 * plan contains them again.
 */
export async function applyPlan(applying: Applying, plan: Plan): Promise<readonly Failure[]> {
  const { journal } = applying
  const failures = new Map<Action, Failure>()
  const finished = new Set<Action>()
  const all = [...plan.actions, ...plan.closed]
  const busy = busyIn(plan)
  const stages = [...(await patchesIn(applying, all, busy)), ...(await leftOpen(journal))]
  const opened = new Map(stages.flatMap(openedBy))
  const openings = new Map(stages.map(({ action, opening }) => [action, opening]))
  const closings = new Set(stages.map(({ closing }) => closing))
  const executor = createExecutor<Action>({
    ...applying,
    attemptOf: (unit) => journal.attemptOf(unit, unit.steps[0] && opened.get(unit.steps[0])),
    finish: async (unit, outcomes) => {
      const [first] = unit.steps
      const isRefused = outcomes.some(({ kind }) => kind === 'failed')
      const isGone = first?.deed === 'delete' && !isRefused
      const isClosed = first && (isGone || closings.has(first) || (isRefused && opened.has(first)))
      journal.finish(unit, { isRefused, closed: isClosed ? String(first.current?.['id']) : undefined })
      for (const [index, { from: action }] of unit.steps.entries()) {
        const outcome = outcomes[index]
        finished.add(action)
        if (outcome?.kind !== 'failed') continue
        // An earlier apply was interrupted before the answer: it wrote the progress, or deleted what it had opened.
        if (outcome.code === 'stale_progress') continue
        if (outcome.code === 'not_found' && first && closings.has(first)) continue
        failures.set(action, { action, code: outcome.code, message: messageOf(outcome) })
      }
      await applying.onDone(finished.size)
    },
  })
  const run = (part: Part, steps: readonly Step<Action>[] = [], size?: BatchSize) =>
    executor.run(
      steps.filter(({ dataset }) => dataset.name === part),
      size,
    )
  const patches = (stage: 'opening' | 'publishing' | 'closing') =>
    stages.flatMap((steps) => steps[stage] ?? [])
  /** Writes the records of a part; their steps are made while they are sent, since a plan may be large. */
  const write = async (part: Part, deed: Deed, size?: BatchSize) => {
    const dataset = await loadPart(part)
    const actions = (byPart.get(part) ?? []).filter((action) => deedOf(dataset, action) === deed)
    await executor.run(writesIn(applying, { dataset, actions, busy, openings }), size)
  }
  const byPart = Map.groupBy(plan.actions, ({ dataset }) => dataset)

  for (const part of parts) await run(part, patches('opening'))
  for (const part of parts) {
    await write(part, 'update')
    // A creation may need a name that an update frees.
    await write(part, 'create', (await loadPart(part)).operations.batch && batchSize)
    if (part === 'courses') applying.names.forgetCourses()
    if (part !== 'lessons') continue
    const missing = new Set([...failures.keys()].filter(isNewCourse).map(({ key }) => key))
    await run(part, await moveSteps(applying, plan, missing))
    const refused = new Set([...failures.keys()].map(courseKeyOf))
    const whole = patches('publishing').filter(({ from }) => !refused.has(from.key))
    await run('courses', whole)
  }
  for (const part of parts.toReversed()) await write(part, 'delete')
  const left = patches('closing').filter(({ from }) => from.kind !== 'delete' || failures.has(from))
  for (const part of ['enrollments', 'users', 'courses'] as const) await run(part, left)
  journal.complete()
  const actions = failures.size === 0 ? [] : new Set([...all, ...failures.keys()])
  return [...actions].flatMap((action) => failures.get(action) ?? [])
}

/** Steps of one action besides its writes, by stage; see `stagesOf`. */
interface StagedPatches {
  readonly action: Action
  readonly opening: Step<Action> | null
  readonly publishing: Step<Action> | null
  readonly closing: Step<Action> | null
}

/** Returns the steps that open, publish and close records. */
async function patchesIn(
  { names }: Applying,
  actions: readonly Action[],
  busy: Busy,
): Promise<readonly StagedPatches[]> {
  const patches: StagedPatches[] = []
  for (const [part, own] of Map.groupBy(actions, ({ dataset }) => dataset)) {
    const dataset = await loadPart(part)
    for (const action of own) {
      const bodies = stagesOf(action, await recordOf(dataset, action, names), busy)
      if (!bodies.opening && !bodies.publishing && !bodies.closing) continue
      const opening = patchOf(dataset, action, bodies.opening)
      patches.push({
        action,
        opening,
        publishing: patchOf(dataset, action, bodies.publishing),
        closing: patchOf(dataset, action, bodies.closing, opening),
      })
    }
  }
  return patches
}

/** Steps made at once. */
const stepsAtOnce = 500

/** Yields the writes of actions of one dataset. */
async function* writesIn(
  { names }: Applying,
  {
    dataset,
    actions,
    busy,
    openings,
  }: {
    readonly dataset: PartDataset
    readonly actions: readonly Action[]
    readonly busy: Busy
    readonly openings: ReadonlyMap<Action, Step<Action> | null>
  },
): AsyncGenerator<readonly Step<Action>[]> {
  let steps: Step<Action>[] = []
  for (const action of actions) {
    const { record } = stagesOf(action, await recordOf(dataset, action, names), busy)
    steps.push(...writesOf(dataset, action, record, openings.get(action) ?? null))
    if (steps.length < stepsAtOnce) continue
    yield steps
    steps = []
  }
  if (steps.length > 0) yield steps
}

/** Returns the deed of the writes of an action: datasets that are sent as wholes are set by their creation. */
function deedOf(dataset: PartDataset, { kind }: Action): Deed {
  return kind === 'update' && isSet(dataset) ? 'create' : kind
}

/** Returns the steps that close what an interrupted apply opened and the plan does not mention. */
function leftOpen({ open }: ApplyJournal): Promise<readonly StagedPatches[]> {
  return Promise.all(
    [...open.values()].map(async ({ dataset, id, closing }) => {
      const current = { id }
      const action = { dataset, kind: 'update', key: id, entry: null, current, changes: [] } as const
      const step = patchOf(await loadPart(dataset), action, closing)
      return { action, opening: null, publishing: null, closing: step }
    }),
  )
}

/** Returns the step that opens a record, with what closes it again. */
function openedBy({ action, opening, closing }: StagedPatches): [Step<Action>, Opened][] {
  if (!opening || !closing) return []
  const { dataset, current } = action
  return [[opening, { dataset, id: String(current?.['id']), closing: closing.record }]]
}

/** Returns the fields of a record to send. */
async function recordOf(
  dataset: PartDataset,
  { entry, current, kind, changes }: Action,
  names: Names,
): Promise<JsonObject> {
  if (!entry || dataset.name === 'progress') return {}
  if (kind === 'create') return entry.record
  if (isSet(dataset)) {
    const { gradedAt: _, ...others } = current ? await dataset.toRecord(current, names) : {}
    return { ...others, ...entry.record }
  }
  const restored = changes.find(({ field, from }) => field === 'status' && from === 'deleted')
  const changed = changedPart(entry.record, changes)
  // Lessons move when all of them are there.
  if (dataset.name === 'lessons') delete changed['order']
  return restored ? { ...changed, status: restored.to } : changed
}

function writesOf(
  dataset: PartDataset,
  action: Action,
  record: JsonObject,
  opening: Step<Action> | null,
): Step<Action>[] {
  const { entry, current, kind } = action
  const step = { dataset, from: action, lanes: lanesOf(action), needs: opening }
  // Other lessons of the plan shift it, which makes a version of it.
  const isLesson = dataset.name === 'lessons'
  if (kind === 'delete') {
    return [
      {
        ...{ ...step, deed: 'delete', record: {}, current },
        version: isLesson || opening ? undefined : versionOf(current),
      },
    ]
  }
  if (dataset.name === 'progress') {
    return (entry ? missingSteps(entry, current) : []).map((record) => ({ ...step, deed: 'create', record }))
  }
  if (kind === 'create' || isSet(dataset)) return [{ ...step, deed: 'create', record }]
  if (Object.keys(record).length === 0) return []
  return [
    {
      ...step,
      deed: 'update',
      // Lessons name modules of their course.
      record: isLesson ? { courseId: entry?.record['courseId'], ...record } : record,
      current,
      version: isLesson || opening ? undefined : versionOf(current),
    },
  ]
}

function patchOf(
  dataset: PartDataset,
  action: Action,
  record: JsonObject | null,
  needs: Step<Action> | null = null,
): Step<Action> | null {
  const { current, entry } = action
  const created = entry ? { created: entry.record } : {}
  return record && { deed: 'patch', dataset, from: action, record, current, ...created, needs }
}

/**
 * Returns the lanes of an action, which order new lessons of one course, steps of progress, and users that pass on a
 * name.
 */
function lanesOf({ dataset, entry, key, changes, kind }: Action): readonly string[] {
  if (dataset === 'users') return uniqueNames(changes)
  if (dataset === 'progress') return [key]
  const isPlaced = kind === 'create' || changes.some(({ field }) => field === 'courseId')
  return dataset === 'lessons' && isPlaced ? [String(entry?.record['courseId'])] : []
}

/** Returns the key of the course of a course or lesson action; null for others. */
function courseKeyOf({ dataset, entry, key }: Action): string | null {
  if (dataset === 'courses') return key
  return dataset === 'lessons' ? String(entry?.record['courseId']) : null
}

function isNewCourse({ dataset, kind }: Action): boolean {
  return dataset === 'courses' && kind === 'create'
}

/** Returns the fields that have changes; objects contain only declared members. */
function changedPart(record: JsonObject, changes: readonly Change[]): Record<string, unknown> {
  const fields = new Set(changes.map(({ field }) => field.split('.', 1)[0] ?? field))
  return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field)))
}

/** Returns the message of a refusal, with fields of the file instead of the API's pointers. */
function messageOf({ faults, detail }: Refusal): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}

/** Returns the steps of an entry; the last one is its record. */
export function stepsOf({ record, steps }: Entry): readonly JsonObject[] {
  return steps ?? [record]
}

/** Returns the steps that the academy lacks: those after the shown one, else those with later times. */
function missingSteps(entry: Entry, shown: JsonObject | null): readonly JsonObject[] {
  const steps = stepsOf(entry)
  if (shown === null) return steps
  const last = steps.findLastIndex((step) => isSame(step, shown))
  if (last >= 0 && last < steps.length - 1) return steps.slice(last + 1)
  const reached = timeOf(shown) ?? 0
  const later = steps.filter((step) => (timeOf(step) ?? Number.MAX_SAFE_INTEGER) > reached)
  return later.length > 0 ? later : [entry.record]
}

function isSame(step: JsonObject, shown: JsonObject): boolean {
  return step['completionPercentage'] === shown['completionPercentage'] && timeOf(step) === timeOf(shown)
}

function timeOf({ lastAccessed }: JsonObject): number | null {
  return typeof lastAccessed === 'string' ? Date.parse(lastAccessed) : null
}
