import sql from 'sql-template-tag'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { UndoableNoun } from '../../contract/constants.ts'
import type { Operation } from '../../contract/operation.ts'
import type { UndoFailure } from '../../contract/undo.ts'
import type { Database, Row } from '../database/database.ts'
import type { Call } from '../http/handler.ts'
import { ProblemError } from '../problem-error.ts'
import { type Input, performer } from './perform.ts'
import type { Actions, UndoAction } from './plan-undo.ts'
import { kindOf, kinds, restoreParams, writableOf } from './record-kinds.ts'

interface Step {
  /** Null for a write to a record that the change has not touched. */
  readonly action: UndoAction | null
  readonly operation: Operation
  readonly input: Input
}

const outOfBudget = new Error('out of budget')

/**
 * Restores deleted records, changes fields back, deletes created ones, and moves lessons. Archived courses and inactive
 * enrolments take these writes. Unless all was done within so many writes, a plan that is made anew has the rest.
 */
export async function carryOut(
  call: Call,
  plan: Actions,
  { deletesWhole, maxWrites }: { readonly deletesWhole: boolean; readonly maxWrites: number },
): Promise<{ readonly failed: readonly UndoFailure[]; readonly isComplete: boolean }> {
  const { database } = call
  const { actions } = plan
  const perform = performer({ ...call, isOpened: async () => true })
  const failures = new Map<UndoAction, UndoFailure>()
  const restored = new Map<UndoAction, JsonObject>()
  let writes = 0

  /** Tries those once more that were refused for a name that another step has freed since. */
  const run = async (steps: readonly Step[]): Promise<void> => {
    let left = steps.filter(({ action }) => !action || !failures.has(action))
    while (left.length > 0) {
      const taken: Step[] = []
      for (const step of left) {
        if (writes >= maxWrites) throw outOfBudget
        writes += 1
        if (!(await isPerformed(step))) taken.push(step)
      }
      if (taken.length === left.length) return
      for (const { action } of taken) if (action) failures.delete(action)
      left = taken.toReversed()
    }
  }

  /** False if another record has its name. */
  const isPerformed = async ({ action, operation, input }: Step): Promise<boolean> => {
    try {
      const shown = await perform(operation, input)
      if (action?.kind === 'create' && isJsonObject(shown)) restored.set(action, shown)
      return true
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      if (isGone(action, operation, error)) return true
      if (action) failures.set(action, failureOf(action, error))
      return error.code !== 'duplicate'
    }
  }

  const returningModules = new Set(
    actions.flatMap(({ fields }) => modulesIn(fields.get('modules')?.to).map(({ id }) => id)),
  )
  /** Returns the module of a lesson that came back without it, because the course did not have it yet. */
  const lostModule = (action: UndoAction): JsonObject => {
    const { moduleId } = action.net.known
    return restored.get(action)?.['moduleId'] === null && returningModules.has(moduleId) ? { moduleId } : {}
  }
  const of = (name: UndoableNoun) => actions.filter(({ of }) => of.name === name)
  const names = kinds.map(({ name }) => name)

  try {
    const places = await readPlaces(database, of('lesson'))
    for (const name of names) {
      await run(
        of(name)
          .filter(({ kind }) => kind === 'create')
          .map(restoring),
      )
    }
    await run(actions.flatMap((action) => freeing(action, actions)))
    const there = (name: UndoableNoun) => of(name).filter(({ kind }) => kind !== 'delete')
    for (const name of names)
      await run(there(name).flatMap((action) => rewriting(action, lostModule(action))))
    for (const name of names.toReversed()) {
      const removed = of(name).filter((action) => action.kind === 'delete' && !keepsOthers(action))
      await run(removed.map((action) => removing(action, deletesWhole)))
    }
    await run(moving(await movesToFormerPlaces(database, plan, places), actions))
    // By themselves: a course that may not become a draft again gets its other fields back.
    for (const name of names.toReversed()) await run(there(name).flatMap(statusBack))
  } catch (error) {
    if (error !== outOfBudget) throw error
    return { failed: [...failures.values()], isComplete: false }
  }
  return { failed: [...failures.values()], isComplete: true }

  /** Refuses to delete a course with a lesson that could not be moved out of it. */
  function keepsOthers(action: UndoAction): boolean {
    const isHeld = [...failures.keys()].some(
      ({ of, kind, current }) =>
        of.name === 'lesson' && kind === 'update' && current?.['courseId'] === action.net.id,
    )
    if (action.of.name !== 'course' || !isHeld) return false
    failures.set(action, {
      ...failed(action),
      code: 'has_lessons',
      message: 'has a lesson that could not be moved back',
    })
    return true
  }
}

function failed({ kind, of, net }: UndoAction) {
  return { action: kind, noun: of.name, id: net.id, name: net.name }
}

function failureOf(action: UndoAction, { code, message, errors = [] }: ProblemError): UndoFailure {
  const faults = errors.map(({ pointer, detail }) => `${String(pointer ?? '').replace(/^#\//, '')} ${detail}`)
  return { ...failed(action), code, message: faults.length > 0 ? faults.join('; ') : message }
}

/** Deleted already, or back, as with its course. */
function isGone(action: UndoAction | null, { method, path }: Operation, { status }: ProblemError): boolean {
  return action !== null && status === 404 && (method === 'DELETE' || path.endsWith('/restore'))
}

function modulesIn(modules: unknown): JsonObject[] {
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}

function recordOf({ net, current }: UndoAction): JsonObject {
  return { ...net.known, ...current, id: String(current?.['id'] ?? net.id) }
}

function patch(action: UndoAction, body: JsonObject): Step {
  const { update, create, params } = action.of
  return { action, operation: update ?? create, input: { params: params(recordOf(action)), body } }
}

function restoring(action: UndoAction): Step {
  const { of, net, fields } = action
  if (of.isMarked) return patch(action, { status: net.status ?? 'active' })
  if (of.restore) {
    return { action, operation: of.restore, input: { params: restoreParams(of.restore, net.id) } }
  }
  const record = { ...net.known, ...formerValues(fields) }
  const params = of.params({ ...record, id: net.id })
  return { action, operation: of.create, input: { params, body: bodyOf(action, record), id: net.id } }
}

/** Returns the body that creates a record; a member of a group is named by the path alone. */
function bodyOf({ of }: UndoAction, record: JsonObject): JsonObject | undefined {
  return of.create.body ? writableOf(of, record) : undefined
}

function removing(action: UndoAction, deletesWhole: boolean): Step {
  const { of } = action
  const query = deletesWhole && of.name === 'course' ? { force: 'true' } : {}
  return { action, operation: of.delete, input: { params: of.params(recordOf(action)), query } }
}

/**
 * Takes the names of a created user away that another user gets back: a deleted user keeps its names, so that it can be
 * restored.
 */
function freeing(action: UndoAction, actions: readonly UndoAction[]): Step[] {
  const { of, kind, current, net } = action
  if (of.name !== 'user' || kind !== 'delete') return []
  const freed = Object.entries({
    email: `${net.id.replace('_', '-')}@undone.invalid`,
    username: null,
    externalId: null,
  })
  const wanted = freed.filter(([field]) =>
    actions.some(
      ({ of, kind, fields }) =>
        of.name === 'user' && kind !== 'delete' && isSameName(fields.get(field)?.to, current?.[field]),
    ),
  )
  return wanted.length === 0 ? [] : [patch(action, Object.fromEntries(wanted))]
}

function isSameName(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase()
}

function formerValues(fields: UndoAction['fields'], except: readonly string[] = []): JsonObject {
  const own = [...fields].filter(([field]) => !except.includes(field))
  return Object.fromEntries(own.map(([field, { to }]) => [field, to]))
}

/** Changes all fields back but the status, and the places of lessons. */
function rewriting(action: UndoAction, lost: JsonObject): Step[] {
  const { of, kind, fields, current } = action
  if (kind === 'create' && !of.isMarked && !of.restore) return []
  const former = { ...lost, ...formerValues(fields, ['status', ...(of.name === 'lesson' ? ['order'] : [])]) }
  if (Object.keys(former).length === 0) return []
  if (of.update) return [patch(action, former)]
  // An older time would not be accepted.
  const time = of.name === 'grade' ? { gradedAt: current?.['gradedAt'] } : {}
  return [patch(action, writableOf(of, { ...recordOf(action), ...former, ...time }))]
}

function statusBack(action: UndoAction): Step[] {
  const status = action.fields.get('status')?.to
  return status === undefined ? [] : [patch(action, { status })]
}

/** Returns the steps that move lessons; the undo itself may have moved one that the change has not. */
function moving(moves: readonly LessonMove[], actions: readonly UndoAction[]): Step[] {
  const byId = new Map(
    actions.filter(({ of }) => of.name === 'lesson').map((action) => [action.net.id, action]),
  )
  const update = kindOf('lesson')?.update
  return moves.flatMap(({ lesson: { id: lessonId }, order }) =>
    update
      ? [
          {
            action: byId.get(lessonId) ?? null,
            operation: update,
            input: { params: { lessonId }, body: { order } },
          },
        ]
      : [],
  )
}

interface PlacedLesson extends Row {
  readonly id: string
  readonly title: string
  readonly order: number
}

type Places = ReadonlyMap<string, ReadonlyMap<string, PlacedLesson>>

async function readPlaces(database: Database, actions: readonly UndoAction[]): Promise<Places> {
  const courseIds = actions.flatMap(({ of, kind, fields, current, net }) => {
    const isPlaced = kind === 'create' || fields.has('order') || fields.has('courseId')
    if (of.name !== 'lesson' || !isPlaced) return []
    return [current?.['courseId'] ?? net.known['courseId'], fields.get('courseId')?.to]
  })
  const places = new Map<string, ReadonlyMap<string, PlacedLesson>>()
  for (const courseId of new Set(courseIds)) {
    if (typeof courseId === 'string') places.set(courseId, await readLessons(database, courseId))
  }
  return places
}

async function readLessons(database: Database, courseId: string): Promise<ReadonlyMap<string, PlacedLesson>> {
  const lessons = await database.all<PlacedLesson>(
    sql`select id, title, position as "order" from lessons where course_id = ${courseId} order by position`,
  )
  return new Map(lessons.map((lesson) => [lesson.id, lesson]))
}

interface LessonMove {
  readonly lesson: PlacedLesson
  readonly courseId: string
  readonly order: number
}

/**
 * Returns the moves that bring the lessons of courses to their former places, course by course, in the order of sending:
 * lessons of the plan to those before its change, all others to those before the undo, which moves them on the way.
 */
async function movesToFormerPlaces(
  database: Database,
  { places: former }: Actions,
  before: Places,
): Promise<readonly LessonMove[]> {
  const moves: LessonMove[] = []
  for (const [courseId, earlier] of before) {
    const lessons = [...(await readLessons(database, courseId)).values()]
    const placeOf = ({ id, order }: PlacedLesson) => former.get(id) ?? earlier.get(id)?.order ?? order
    const sorted = lessons.toSorted(
      (one, other) =>
        placeOf(one) - placeOf(other) ||
        // A lesson that was there before stands before one that took its place since.
        Number(former.has(other.id)) - Number(former.has(one.id)) ||
        one.order - other.order,
    )
    const now = new Map(lessons.map(({ id, order }) => [id, order]))
    let last = 0
    for (const lesson of sorted) {
      last = Math.max(placeOf(lesson), last + 1)
      if (now.get(lesson.id) === last) continue
      moves.push({ lesson, courseId, order: last })
      shift(now, lesson.id, last)
    }
  }
  return moves
}

/** Moves a lesson as the API does: if the place is taken, that lesson and the following ones move on by one. */
function shift(orders: Map<string, number>, moved: string, order: number): void {
  orders.delete(moved)
  if ([...orders.values()].includes(order)) {
    for (const [id, other] of orders) if (other >= order) orders.set(id, other + 1)
  }
  orders.set(moved, order)
}
