import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Course } from '../../contract/courses.ts'
import { fieldPath } from '../operation/refused-call.ts'
import { createExecutor, type Writing } from '../records/execute.ts'
import type { Refusal, Step } from '../records/step.ts'
import { type BatchSize, batchSize, versionOf } from '../records/write.ts'
import { NewIds } from './net-change.ts'
import { type LessonMove, movesToFormerPlaces, type Places, readPlaces } from './place-lessons.ts'
import { modulesIn, type UndoAction, type UndoPlan } from './plan-undo.ts'
import { kindOf, kinds, type RecordKind } from './record-kinds.ts'

/** An action that the platform refused. */
export interface UndoFailure {
  readonly action: UndoAction
  readonly code: string
  readonly message: string
}

type UndoStep = Step<UndoAction>

/**
 * Carries out a plan: closed records are opened, deleted ones restored, fields changed back, created records deleted, and
 * finally records closed. Returns the refused actions; the next undo of the same change tries them again.
 */
export async function carryOut(
  writing: Writing,
  plan: UndoPlan,
  onDone: (done: number) => Promise<void>,
): Promise<readonly UndoFailure[]> {
  const { actions, deletesWhole } = plan
  const failures = new Map<UndoAction, UndoFailure>()
  const finished = new Set<UndoAction>()
  /** Records that came back, as the platform shows them. */
  const restored = new Map<UndoAction, JsonObject>()
  const newIds = new NewIds(plan.newIds)
  const executor = createExecutor<UndoAction>({
    ...writing,
    finish: async ({ steps }, outcomes) => {
      for (const [index, { from: action, deed }] of steps.entries()) {
        const outcome = outcomes[index]
        finished.add(action)
        if (outcome?.kind === 'failed') {
          failures.set(action, { action, code: outcome.code, message: messageOf(outcome) })
        } else if (isJsonObject(outcome?.shown) && ['restore', 'create'].includes(deed)) {
          restored.set(action, outcome.shown)
          newIds.set(action.of.name, action.net.id, outcome.shown['id'])
        }
      }
      await onDone(Math.min(finished.size, actions.length))
    },
  })
  const returningModules = new Set(
    actions.flatMap(({ fields }) => modulesIn(fields.get('modules')?.to).map(({ id }) => id)),
  )
  const inOrder = kinds.map(({ name }) => actions.filter(({ of }) => of.name === name))
  /** Runs steps, and once more those that were refused for a name that another step has freed since. */
  const run = async (steps: readonly UndoStep[], size?: BatchSize) => {
    const present = steps.map((step) => withNewIds(step, newIds))
    await executor.run(present, size)
    const taken = present.filter(({ from }) => failures.get(from)?.code === 'duplicate')
    if (taken.length === 0 || taken.length === steps.length) return
    for (const { from } of taken) failures.delete(from)
    await executor.run(taken.toReversed(), size)
  }

  const opened = await openArchived(writing, actions)
  // A closed course takes no lessons.
  for (const some of inOrder) await run(some.filter(({ kind }) => kind === 'update').flatMap(opening))
  let places: Places = new Map()
  for (const some of inOrder) {
    const returning = some.filter(({ kind }) => kind === 'create').map(restoring)
    if (some[0]?.of.name === 'lesson') places = await readPlaces(writing, some)
    await run(returning, some[0]?.of.isAdded ? batchSize : undefined)
    await run(some.filter((each) => !failures.has(each)).flatMap(reopening))
  }
  await run(actions.flatMap((action) => freeing(action, actions)))
  const there = actions.filter((action) => action.kind !== 'delete' && !failures.has(action))
  for (const { name } of kinds) {
    const own = there.filter(({ of }) => of.name === name)
    await run(own.flatMap((action) => rewriting(action, lostReferences(action))))
  }
  for (const some of inOrder.toReversed()) {
    const removed = some.filter((action) => action.kind === 'delete' && !keepsOthers(action))
    await run(removed.map((action) => removing(action, deletesWhole)))
  }
  // Created lessons are gone, and courses still open.
  await executor.run(moving(await movesToFormerPlaces(writing, plan, places), actions))
  for (const { name } of kinds.toReversed())
    await run(there.filter(({ of }) => of.name === name).flatMap(closing))
  const deleted = new Set(
    actions.flatMap((action) => (action.kind === 'delete' && !failures.has(action) ? [action.net.id] : [])),
  )
  for (const course of opened) {
    if (!deleted.has(course.id)) await setStatus(writing, course, 'archived')
  }
  return [...failures.values()]

  /** Refuses to delete a course with a lesson that could not be moved out of it. */
  function keepsOthers(action: UndoAction): boolean {
    const { of, net } = action
    const isHeld = [...failures.keys()].some(
      ({ of, kind, current }) =>
        of.name === 'lesson' && kind === 'update' && current?.['courseId'] === net.id,
    )
    if (of.name !== 'course' || !isHeld) return false
    failures.set(action, {
      action,
      code: 'has_lessons',
      message: 'has a lesson that could not be moved back',
    })
    return true
  }

  /** Returns the references of a record that came back without them, because what they name was not there yet. */
  function lostReferences(action: UndoAction): JsonObject {
    const shown = restored.get(action)
    const { termId, moduleId } = action.net.known
    return {
      ...(shown?.['termId'] === null && newIds.of('term', termId) !== termId && { termId }),
      ...(shown?.['moduleId'] === null && returningModules.has(moduleId) && { moduleId }),
    }
  }
}

/**
 * Opens archived courses that change, or whose lessons, enrolments or grades do, unless their status changes as well. Returns
 * them.
 */
async function openArchived(
  writing: Writing,
  actions: readonly UndoAction[],
): Promise<readonly ClosedCourse[]> {
  const { caller, signal } = writing
  const inside = ['lesson', 'enrollment', 'grade']
  const ids = new Set(
    actions.flatMap(({ of, fields, net, current }) =>
      inside.includes(of.name)
        ? [current?.['courseId'] ?? net.known['courseId'], fields.get('courseId')?.to]
        : [],
    ),
  )
  for (const action of actions) {
    const { of, kind, fields, net } = action
    if (of.name !== 'course') continue
    if (kind === 'update' && isClosed(action)) ids.add(net.id)
    if (kind === 'create' || fields.has('status')) ids.delete(net.id)
  }
  const opened: ClosedCourse[] = []
  for (const courseId of ids) {
    if (typeof courseId !== 'string') continue
    const course = await caller.call(calls.courses.get, { params: { courseId }, signal }).then(
      ({ data }) => data,
      () => null,
    )
    if (course?.status !== 'archived') continue
    await setStatus(writing, course, 'published')
    opened.push(course)
  }
  return opened
}

type ClosedCourse = Pick<Course, 'id' | 'title'>

async function setStatus(
  { caller, signal }: Writing,
  { id }: ClosedCourse,
  status: Course['status'],
): Promise<void> {
  await caller.call(calls.courses.update, { params: { courseId: id }, body: { status }, signal })
}

/** Returns a step whose record and references have the present ids. */
function withNewIds(step: UndoStep, newIds: NewIds): UndoStep {
  const { record, current, from } = step
  const id = newIds.of(from.of.name, current?.['id'])
  return {
    ...step,
    record: newIds.inRecord(record),
    current: current ? { ...current, id } : null,
  }
}

function stepOf(action: UndoAction, deed: UndoStep['deed'], record: JsonObject): UndoStep {
  const { of, net, current } = action
  return {
    deed,
    dataset: of.dataset,
    from: action,
    record,
    current: { ...net.known, ...current, id: String(current?.['id'] ?? net.id) },
  }
}

function restoring(action: UndoAction): UndoStep {
  const { of, net, fields } = action
  if (of.isMarked) return stepOf(action, 'patch', { status: net.status ?? 'active' })
  if (of.dataset.operations.restore) return stepOf(action, 'restore', net.known)
  return stepOf(action, 'create', { ...net.known, ...formerValues(fields) })
}

function removing(action: UndoAction, deletesWhole: boolean): UndoStep {
  const { of, current } = action
  const isForced = deletesWhole && of.name === 'course'
  return {
    ...stepOf(action, 'delete', {}),
    isForced,
    version: isGuarded(action) ? versionOf(current) : undefined,
  }
}

/**
 * Takes the names of a created user away that another user gets back: a deleted user keeps its names, so that it can be
 * restored.
 */
function freeing(action: UndoAction, actions: readonly UndoAction[]): UndoStep[] {
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
  return wanted.length === 0 ? [] : [stepOf(action, 'patch', Object.fromEntries(wanted))]
}

function isSameName(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase()
}

/** Statuses in which a record cannot be changed, or its contents cannot. */
const closedStatuses: Readonly<Record<string, string>> = {
  course: 'archived',
  user: 'suspended',
  enrollment: 'inactive',
}

function isClosed({ of, current }: UndoAction): boolean {
  return current?.['status'] === closedStatuses[of.name]
}

/** Opens what is closed and was not before. */
function opening(action: UndoAction): UndoStep[] {
  const status = action.fields.get('status')
  if (!status || !isClosed(action)) return []
  // An archived course does not become a draft at once.
  return [stepOf(action, 'patch', { status: action.of.name === 'course' ? 'published' : status.to })]
}

function formerValues(fields: UndoAction['fields'], except: readonly string[] = []): JsonObject {
  const own = [...fields].filter(([field]) => !except.includes(field))
  return Object.fromEntries(own.map(([field, { to }]) => [field, to]))
}

/** Changes all fields back but those that wait for the end: the status, and the places of lessons. */
function rewriting(action: UndoAction, lost: JsonObject): UndoStep[] {
  const { of, kind, fields, current, net } = action
  const { restore, update } = of.dataset.operations
  // It was created again as it was.
  if (kind === 'create' && !of.isMarked && !restore) return []
  const former = {
    ...lost,
    ...formerValues(fields, ['status', ...(of.name === 'lesson' ? ['order'] : [])]),
  }
  if (Object.keys(former).length === 0) return []
  if (update) {
    const version = isGuarded(action) ? versionOf(current) : undefined
    return [{ ...stepOf(action, 'patch', former), version }]
  }
  const whole = { ...net.known, ...current, ...former }
  // An older time would not be accepted.
  const time = of.name === 'grade' ? { gradedAt: current?.['gradedAt'] } : {}
  return [stepOf(action, 'create', { ...whole, ...time })]
}

/** True for an action of one request, whose record nothing else in the undo changes. */
function isGuarded({ of, fields, kind }: UndoAction): boolean {
  if (kind === 'delete') return ['term', 'group'].includes(of.name)
  // Restoring a record makes a version of it.
  return kind === 'update' && !fields.has('status') && ['user', 'term', 'group'].includes(of.name)
}

/** True for a course that was archived when it was deleted. */
function isRestoredArchived({ of, kind, net }: UndoAction): boolean {
  return of.name === 'course' && kind === 'create' && net.known['status'] === 'archived'
}

/** Opens a restored course that was archived, so that its lessons can be restored. */
function reopening(action: UndoAction): UndoStep[] {
  return isRestoredArchived(action) ? [stepOf(action, 'patch', { status: 'published' })] : []
}

/** Closes what was closed before, and gives all others their former status. */
function closing(action: UndoAction): UndoStep[] {
  const isReopened = isRestoredArchived(action)
  const status = action.fields.get('status')?.to ?? (isReopened ? 'archived' : undefined)
  if (status === undefined || action.kind === 'delete') return []
  const isDone = isReopened
    ? status === 'published'
    : isClosed(action) && !(action.of.name === 'course' && status !== 'published')
  return isDone ? [] : [stepOf(action, 'patch', { status })]
}

/** Returns the steps that move lessons; the undo itself may have moved one that the change has not. */
function moving(moves: readonly LessonMove[], actions: readonly UndoAction[]): UndoStep[] {
  const byId = new Map(
    actions.filter(({ of }) => of.name === 'lesson').map((action) => [action.net.id, action]),
  )
  const of = kindOf('lesson')
  return moves.flatMap(({ lesson: { id, title }, courseId, order }) => {
    const action = byId.get(id) ?? (of && untouched(of, id, title))
    return action ? [{ ...stepOf(action, 'patch', { order }), lanes: [courseId] }] : []
  })
}

/** Returns an action on a record that the change has not touched. */
function untouched(of: RecordKind, id: string, name: string): UndoAction {
  const versions = { before: null, after: null }
  const net = { noun: of.name, id, name, wasThere: true, isThere: true, status: null, known: {}, versions }
  return { kind: 'update', of, net: { ...net, fields: new Map() }, current: null, fields: new Map() }
}

function messageOf({ faults, detail }: Refusal): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}
