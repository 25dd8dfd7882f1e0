import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import { fieldPath } from '../operation/refused-call.ts'
import { createExecutor, type Executor, type Writing } from '../records/execute.ts'
import type { Refusal, Step } from '../records/step.ts'
import { batchSize, versionOf } from '../records/write.ts'
import type { UndoAction, UndoPlan } from './plan-undo.ts'
import { kinds } from './record-kinds.ts'

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
  { actions, deletesWhole }: UndoPlan,
  onDone: (done: number) => Promise<void>,
): Promise<readonly UndoFailure[]> {
  const failures = new Map<UndoAction, UndoFailure>()
  const finished = new Set<UndoAction>()
  const executor = createExecutor<UndoAction>({
    ...writing,
    finish: async ({ steps }, outcomes) => {
      for (const [index, { from: action }] of steps.entries()) {
        const outcome = outcomes[index]
        finished.add(action)
        if (outcome?.kind !== 'failed') failures.delete(action)
        else failures.set(action, { action, code: outcome.code, message: messageOf(outcome) })
      }
      await onDone(finished.size)
    },
  })
  const run = (steps: readonly UndoStep[]) => runTwice(executor, steps, failures)
  const inOrder = kinds.map(({ name }) => actions.filter(({ of }) => of.name === name))

  const reclosed = await openArchived(writing, actions)
  // A closed course takes no lessons.
  for (const some of inOrder) await run(some.filter(({ kind }) => kind === 'update').flatMap(opening))
  for (const some of inOrder) {
    const restored = some.filter(({ kind }) => kind === 'create')
    if (some[0]?.of.isAdded) await executor.run(restored.map(restoring), batchSize)
    else await run(restored.map(restoring))
    await run(restored.filter((each) => !failures.has(each)).flatMap(reopening))
  }
  await run(actions.flatMap((action) => freeing(action, actions)))
  const changed = actions.filter((action) => action.kind !== 'delete' && !failures.has(action))
  for (const { name } of kinds) {
    const steps = changed.filter(({ of }) => of.name === name).flatMap(rewriting)
    await run(name === 'lesson' ? await inModules(writing, steps, actions) : steps)
  }
  for (const some of inOrder.toReversed()) {
    await run(some.filter(({ kind }) => kind === 'delete').map((action) => removing(action, deletesWhole)))
  }
  // Created lessons are gone, and courses still open.
  await executor.run(await placing(writing, changed))
  for (const some of inOrder.toReversed())
    await run(some.filter((each) => !failures.has(each)).flatMap(closing))
  for (const courseId of reclosed) await setStatus(writing, courseId, 'archived')
  return actions.flatMap((action) => failures.get(action) ?? [])
}

/**
 * Opens archived courses whose status does not change, but whose lessons, enrolments or grades do. Returns their ids, to
 * archive them again.
 */
async function openArchived(writing: Writing, actions: readonly UndoAction[]): Promise<readonly string[]> {
  const { caller, signal } = writing
  const inside = ['lesson', 'enrollment', 'grade']
  const ids = new Set(
    actions.flatMap(({ of, net, current }) => {
      const courseId = current?.['courseId'] ?? net.known['courseId']
      return inside.includes(of.name) && typeof courseId === 'string' ? [courseId] : []
    }),
  )
  for (const { of, kind, fields, net } of actions) {
    if (of.name === 'course' && (kind !== 'update' || fields.has('status'))) ids.delete(net.id)
  }
  const opened: string[] = []
  for (const courseId of ids) {
    const status = await caller.call(calls.courses.get, { params: { courseId }, signal }).then(
      ({ data }) => data.status,
      () => null,
    )
    if (status !== 'archived') continue
    await setStatus(writing, courseId, 'published')
    opened.push(courseId)
  }
  return opened
}

async function setStatus(
  { caller, signal }: Writing,
  courseId: string,
  status: 'archived' | 'published',
): Promise<void> {
  await caller.call(calls.courses.update, { params: { courseId }, body: { status }, signal })
}

/** Runs steps, and once more those that were refused for a name that another step has freed since. */
async function runTwice(
  executor: Executor<UndoAction>,
  steps: readonly UndoStep[],
  failures: ReadonlyMap<UndoAction, UndoFailure>,
): Promise<void> {
  await executor.run(steps)
  const taken = steps.filter(({ from }) => failures.get(from)?.code === 'duplicate')
  if (taken.length > 0 && taken.length < steps.length) await executor.run(taken.toReversed())
}

function stepOf(action: UndoAction, deed: UndoStep['deed'], record: JsonObject): UndoStep {
  const { of, net, current } = action
  return {
    deed,
    dataset: of.dataset,
    from: action,
    record,
    current: { ...net.known, ...current, id: idOf(action) },
  }
}

/** Returns the id of a record, which may have been created again. */
function idOf({ current, net }: UndoAction): string {
  return String(current?.['id'] ?? net.id)
}

function restoring(action: UndoAction): UndoStep {
  const { of, net } = action
  if (of.isMarked) return stepOf(action, 'patch', { status: net.status ?? 'active' })
  return stepOf(action, of.dataset.operations.restore ? 'restore' : 'create', net.known)
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

/** Changes all fields back but those that wait for the end: the status, and the places of lessons. */
function rewriting(action: UndoAction): UndoStep[] {
  const { of, fields, current, net } = action
  const waiting = ['status', ...(of.name === 'lesson' ? ['order'] : [])]
  const former = Object.fromEntries(
    [...fields].filter(([field]) => !waiting.includes(field)).map(([field, { to }]) => [field, to]),
  )
  if (Object.keys(former).length === 0) return []
  if (of.dataset.operations.update) {
    const body = of.name === 'course' ? withKnownModules(former, current ?? net.known) : former
    const version = isGuarded(action) ? versionOf(current) : undefined
    return [{ ...stepOf(action, 'patch', body), version }]
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

/** Returns the modules of a body without ids that the course has no longer: it refuses them. */
function withKnownModules(body: JsonObject, current: JsonObject): JsonObject {
  const { modules } = body
  if (!Array.isArray(modules)) return body
  const known = new Set(modulesIn(current).map(({ id }) => id))
  const kept = modules
    .filter(isJsonObject)
    .map(({ id, ...module }) => (known.has(id) ? { id, ...module } : module))
  return { ...body, modules: kept }
}

function modulesIn({ modules }: JsonObject): JsonObject[] {
  return Array.isArray(modules) ? modules.filter(isJsonObject) : []
}

/** Replaces the ids of modules that were created again, which have other ids, in steps of lessons. */
async function inModules(
  { caller, signal }: Writing,
  steps: readonly UndoStep[],
  actions: readonly UndoAction[],
): Promise<readonly UndoStep[]> {
  const formerById = new Map(
    actions.flatMap(({ of, fields }) =>
      of.name === 'course'
        ? modulesIn({ modules: fields.get('modules')?.to }).map((each) => [each['id'], each])
        : [],
    ),
  )
  if (formerById.size === 0) return steps
  const changed: UndoStep[] = []
  for (const step of steps) {
    const former = formerById.get(step.record['moduleId'])
    const courseId = step.current?.['courseId']
    if (!former || typeof courseId !== 'string') {
      changed.push(step)
      continue
    }
    const { data } = await caller.call(calls.courses.get, { params: { courseId }, signal })
    const now = modulesIn(data as unknown as JsonObject)
    const same =
      now.find(({ id }) => id === former['id']) ?? now.find(({ title }) => title === former['title'])
    changed.push({ ...step, record: { ...step.record, moduleId: same?.['id'] ?? null } })
  }
  return changed
}

/** Returns the steps that put lessons to their former places, course by course, the first place first. */
async function placing(
  { caller, signal }: Writing,
  actions: readonly UndoAction[],
): Promise<readonly UndoStep[]> {
  const moved = actions.filter(
    ({ of, kind, fields }) => of.name === 'lesson' && (kind === 'create' || fields.has('order')),
  )
  const steps: UndoStep[] = []
  const courseOf = ({ current, net }: UndoAction) => String(current?.['courseId'] ?? net.known['courseId'])
  for (const [courseId, some] of Map.groupBy(moved, courseOf)) {
    const places = new Map<unknown, unknown>()
    const query = { course_id: courseId, limit: maxPageSize }
    for await (const { data } of caller.pages(calls.lessons.list, { query, signal })) {
      for (const { id, order } of data) places.set(id, order)
    }
    const orderOf = ({ fields, net }: UndoAction) =>
      Number(fields.get('order')?.to ?? net.known['order'] ?? 1)
    // One that is at its place may be moved by the others.
    if (some.every((action) => places.get(idOf(action)) === orderOf(action))) continue
    for (const action of some.toSorted((one, other) => orderOf(one) - orderOf(other))) {
      steps.push({ ...stepOf(action, 'patch', { order: orderOf(action) }), lanes: [courseId] })
    }
  }
  return steps
}

function messageOf({ faults, detail }: Refusal): string {
  if (faults.length === 0) return detail
  return faults.map(({ pointer, detail }) => `${fieldPath(String(pointer ?? ''))} ${detail}`).join('; ')
}
