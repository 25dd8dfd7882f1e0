import sql, { empty, join, raw } from 'sql-template-tag'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { BatchResult } from '../../contract/batch.ts'
import { maxPlannedWrites } from '../../contract/constants.ts'
import { contract } from '../../contract/index.ts'
import { contentWithKnownIds, moduleNamed, withKnownIds } from '../../contract/known-ids.ts'
import { movesIn } from '../../contract/lesson-places.ts'
import { lessons } from '../../contract/lessons.ts'
import type { Operation } from '../../contract/operation.ts'
import type { PlannedNoun, PlannedStep, PlanOutcome, RefusedStep } from '../../contract/plans.ts'
import { visibleCourses } from '../access/sight.ts'
import { findCourse, toCourse } from '../courses/course-row.ts'
import type { Row } from '../database/database.ts'
import { resolve } from '../database/reference.ts'
import type { Call } from '../http/handler.ts'
import { invalid, ProblemError, parentNotFound } from '../problem-error.ts'
import { type Input, type Perform, performer } from './perform.ts'
import { kindOf, type RecordKind, restoreParams } from './record-kinds.ts'

interface Begun {
  readonly id: string
  readonly done: number
}

interface StepRow extends Row {
  readonly step: number
  readonly noun: PlannedNoun
  readonly action: PlannedStep['action']
  readonly record_id: string | null
  readonly record: string
  /** JSON of the hash of a new password. */
  readonly secret: string | null
}

interface Carried {
  readonly done: number
  readonly refused: readonly RefusedStep[]
  readonly restored: readonly number[]
  readonly ids: readonly string[]
  readonly warnings: PlanOutcome['warnings']
}

const { users, terms, groups, enrollments, grades, progress } = contract

/** Operations that create many records at once, of kinds without a trash. */
const batches: Partial<Record<PlannedNoun, Operation>> = {
  ...{ term: terms.batch, user: users.batch, membership: groups.batchMembers },
  ...{ enrollment: enrollments.batch, progress: progress.batch, grade: grades.batch },
}
const maxBatch = 1000
/** Statuses of new records that refuse writes to what belongs to them. */
const closedStatuses = ['suspended', 'inactive']

/**
 * Carries out the next steps of a plan in the transaction of a call. Closed records that the plan names take writes: it
 * may add a lesson to a course that it archives.
 */
export async function carryOutSteps(call: Call, plan: Begun): Promise<Carried> {
  const { database } = call
  const rows = await database.all<StepRow>(sql`
    select step, noun, action, record_id, record, secret from plan_steps
    where plan_id = ${plan.id} and step >= ${plan.done} order by step limit ${maxPlannedWrites}`)
  await requireVersions(call, plan, plan.done + rows.length)
  const perform = performer({ ...call, isOpened: (id) => isNamed(call, plan, id) })
  const refused: RefusedStep[] = []
  const ids: string[] = []
  const warnings: PlanOutcome['warnings'] = []
  const restored = new Map<string, number>()
  const returned = new Map<string, boolean>()

  const attempt = async ({ step }: StepRow, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      refused.push(refusalOf(step, error))
    }
  }

  for (const run of runsOf(rows)) {
    const [{ noun, action }] = run
    const batch = batches[noun]
    const kind = kindOf(noun)
    if (action === 'create' && batch) {
      const items = run.map(({ record }) => JSON.parse(record) as JsonObject)
      const { results } = await createMany(perform, batch, run, items)
      for (const { index, status, id, code = '', detail = '', errors = [] } of results) {
        const row = run[index]
        if (!row) continue
        const faults = errors.map(({ pointer, detail }) => ({ pointer, detail }))
        if (status >= 400) refused.push({ step: row.step, code, message: detail, errors: faults })
        else if (id !== undefined) {
          if (code === '') ids.push(id)
          if (closedStatuses.includes(String(items[index]?.['status']))) await nameRecord(row, id, 'create')
        }
      }
      continue
    }
    if (action === 'keep') continue
    for (const row of run) {
      if (action === 'place' && noun === 'lesson') {
        await attempt(row, () => placeLessons(call, perform, plan, row))
      } else if (!kind || action === 'place') {
        refused.push(refusalOf(row.step, unsupported(row)))
      } else if (action === 'delete') await attempt(row, () => remove(perform, kind, row))
      else if (action === 'update') {
        await attempt(row, async () => {
          for (const detail of await update(call, plan, perform, kind, row)) {
            if (warnings.length < maxPlannedWrites) warnings.push({ step: row.step, detail })
          }
        })
        if (refused.at(-1)?.step !== row.step) ids.push(String(row.record_id))
      } else await attempt(row, () => create(row, kind))
    }
  }
  return { done: plan.done + rows.length, refused, restored: [...restored.values()], ids, warnings }

  async function create(row: StepRow, kind: RecordKind): Promise<void> {
    const body = await bodyOf(call, plan, row)
    const there = row.noun === 'lesson' ? await cameWithCourse(body) : undefined
    const id = there ?? (await made(row, kind, body))
    ids.push(id)
    const isBack = there !== undefined || restored.get(id) === row.step
    await nameRecord(row, id, isBack ? 'restore' : 'create')
    if (!isBack) return
    restored.set(id, row.step)
    const params = kind.params({ id })
    const shown = kind.get && (await perform(kind.get, { params }))
    await perform(kind.update ?? kind.create, { params, body: withIdsOf(shown, body) })
  }

  async function made({ noun, step }: StepRow, kind: RecordKind, body: JsonObject): Promise<string> {
    try {
      return idIn(await perform(kind.create, { body }))
    } catch (error) {
      const taken = takenIn(error)
      if (!taken) throw error
      const isBack = taken.isDeleted
        ? (noun !== 'lesson' || (await courseOf('deleted_lessons', taken.id)) === body['courseId']) &&
          (await isRestored(perform, kind, taken.id))
        : (noun === 'lesson' || noun === 'group') && (await isReturned(await courseOf(`${noun}s`, taken.id)))
      if (!isBack) throw error
      restored.set(taken.id, step)
      return taken.id
    }
  }

  async function courseOf(table: 'lessons' | 'groups' | 'deleted_lessons', id: string): Promise<string> {
    const row = await database.one<Row & { course_id: string | null }>(
      sql`select course_id from ${raw(table)} where id = ${id}`,
    )
    return row?.course_id ?? ''
  }

  /** Returns the id of the lesson that came back with the course that the plan has restored; by external id, else by title. */
  async function cameWithCourse({ courseId, externalId, title }: JsonObject): Promise<string | undefined> {
    const course = String(courseId)
    if (!returned.has(course)) returned.set(course, await isReturned(course))
    if (!returned.get(course)) return undefined
    const isSame =
      typeof externalId === 'string'
        ? sql`l.external_id = ${externalId}`
        : sql`l.external_id is null and l.title = ${String(title)}`
    const row = await database.one<Row & { id: string }>(sql`
      select l.id from lessons l where l.course_id = ${course} and ${isSame} and not exists (
        select 1 from plan_steps p where p.record_id = l.id and p.plan_id = ${plan.id})
      order by l.position limit 1`)
    return row?.id
  }

  async function isReturned(courseId: string): Promise<boolean> {
    const step = await database.one(sql`
      select 1 from plan_steps where record_id = ${courseId} and plan_id = ${plan.id} and action = 'restore' limit 1`)
    return step !== undefined
  }

  async function nameRecord({ step }: StepRow, id: string, action: 'create' | 'restore'): Promise<void> {
    await database.run(sql`
      update plan_steps set record_id = ${id}, action = ${action} where plan_id = ${plan.id} and step = ${step}`)
  }
}

function unsupported({ noun, action }: StepRow): ProblemError {
  const detail = `is not an action of ${noun}: ${action}`
  return invalid([{ pointer: '#/action', code: 'unsupported_action', detail }])
}

function runsOf(rows: readonly StepRow[]): [StepRow, ...StepRow[]][] {
  const runs: [StepRow, ...StepRow[]][] = []
  for (const row of rows) {
    const run = runs.at(-1)
    if (run?.[0].noun === row.noun && run[0].action === row.action && run.length < maxBatch) run.push(row)
    else runs.push([row])
  }
  return runs
}

const tables = {
  term: 'terms',
  user: 'users',
  course: 'courses',
  group: 'groups',
  lesson: 'lessons',
  enrollment: 'enrollments',
  grade: 'grades',
} as const satisfies Partial<Record<PlannedNoun, string>>
const maxNamed = 20

/**
 * Throws 409 `plan_outdated`. Before the first step all records are compared; later those of the next steps, but for
 * lessons, which the plan itself has moved.
 */
async function requireVersions({ database }: Call, { id, done }: Begun, end: number): Promise<void> {
  const changed: string[] = []
  for (const [noun, table] of Object.entries(tables)) {
    if (done > 0 && noun === 'lesson') continue
    const next = done > 0 ? sql`and p.step >= ${done} and p.step < ${end}` : empty
    const rows = await database.all<Row & { record_id: string }>(sql`
      select p.record_id from plan_steps p left join ${raw(table)} t on t.id = p.record_id
      where p.plan_id = ${id} ${next} and p.noun = ${noun} and p.version is not null
        and (t.version is null or t.version <> p.version)
      order by p.step limit ${maxNamed}`)
    changed.push(...rows.map((row) => `${noun} ${row.record_id}`))
  }
  if (changed.length === 0) return
  const named = `${changed.slice(0, maxNamed).join(', ')}${changed.length >= maxNamed ? ' and others' : ''}`
  const detail = `The academy has changed since the plan was made: ${named}. Nothing was done.`
  throw new ProblemError('plan_outdated', detail)
}

async function isNamed({ database }: Call, { id: planId }: Begun, id: string): Promise<boolean> {
  const step = await database.one(sql`
    select 1 from plan_steps where record_id = ${id} and plan_id = ${planId} limit 1`)
  return step !== undefined
}

function refusalOf(step: number, { code, message, errors = [] }: ProblemError): RefusedStep {
  const faults = errors.map(({ pointer, parameter, detail }) => ({
    pointer: pointer ?? `#/${parameter ?? ''}`,
    detail,
  }))
  return { step, code, message, errors: faults }
}

async function createMany(
  perform: Perform,
  batch: Operation,
  run: readonly StepRow[],
  items: readonly JsonObject[],
): Promise<BatchResult> {
  const prepared = batch === users.batch && { prepared: run.map(({ secret }) => hashIn(secret)) }
  return perform(batch, { body: { items, onExists: 'update' }, ...prepared }) as Promise<BatchResult>
}

function hashIn(secret: string | null): unknown {
  return secret === null ? undefined : JSON.parse(secret)
}

async function update(
  call: Call,
  plan: Begun,
  perform: Perform,
  kind: RecordKind,
  row: StepRow,
): Promise<string[]> {
  const input: Input = { params: kind.params({ id: row.record_id }), body: await bodyOf(call, plan, row) }
  const prepared = row.noun === 'user' && { prepared: hashIn(row.secret) }
  const answer: unknown = await perform(kind.update ?? kind.create, { ...input, ...prepared })
  const warnings = isJsonObject(answer) ? answer['warnings'] : undefined
  return Array.isArray(warnings) ? warnings.map(({ detail }) => String(detail)) : []
}

async function remove(perform: Perform, kind: RecordKind, { record_id: id, record }: StepRow): Promise<void> {
  try {
    await perform(kind.delete, { params: kind.params({ ...JSON.parse(record), id }) })
  } catch (error) {
    // It went with another one, as a member with a group.
    if (!(error instanceof ProblemError) || error.status !== 404) throw error
  }
}

/**
 * Returns what an operation takes. A lesson may name its course by the step that creates it (`step:0`), and its module by the
 * title, since the plan may make both.
 */
async function bodyOf(call: Call, plan: Begun, { noun, record }: StepRow): Promise<JsonObject> {
  const given = JSON.parse(record) as JsonObject
  if (noun !== 'lesson' || given['courseId'] === undefined) return given
  const { module, ...body } = given
  const courseId = await courseIdOf(call, plan, body)
  if (module === undefined) return { ...body, courseId }
  if (module === null) return { ...body, courseId, moduleId: null }
  const { title: course, modules } = toCourse(await findCourse(call.database, courseId))
  const place = moduleNamed(modules, String(module))
  const found = place === null ? undefined : modules[place]
  if (found) return { ...body, courseId, moduleId: found.id }
  const title = JSON.stringify(module)
  const detail =
    place === null
      ? `is ambiguous: several modules of ${course} have the title ${title}; use the number of its place`
      : `is not a module of ${course}: ${title}`
  throw invalid([{ pointer: '#/module', code: 'unknown_module', detail }])
}

async function courseIdOf(call: Call, plan: Begun, { courseId }: JsonObject): Promise<string> {
  const reference = String(courseId)
  const [, step] = /^step:(\d+)$/.exec(reference) ?? []
  const id =
    step === undefined
      ? await resolve(call.database, 'courses', reference, visibleCourses(call))
      : (
          await call.database.one<Row & { record_id: string | null }>(sql`
            select record_id from plan_steps
            where plan_id = ${plan.id} and step = ${Number(step)} and noun = 'course' and action in ('create', 'restore')`)
        )?.record_id
  if (!id) throw parentNotFound('#/courseId', 'course', reference)
  return id
}

function idIn(shown: unknown): string {
  return isJsonObject(shown) ? String(shown['id']) : ''
}

/** Undefined for another error. */
function takenIn(error: unknown): { readonly id: string; readonly isDeleted: boolean } | undefined {
  if (!(error instanceof ProblemError) || error.code !== 'duplicate') return undefined
  const { id, existingStatus } = error.members
  return typeof id === 'string' ? { id, isDeleted: existingStatus === 'deleted' } : undefined
}

/** Returns a body with the ids of the modules and the content that are there, so that references to them survive. */
function withIdsOf(shown: unknown, body: JsonObject): JsonObject {
  if (!isJsonObject(shown)) return body
  const { modules } = body
  return {
    ...body,
    ...(modules !== undefined && { modules: withKnownIds(modules, shown['modules'], ({ title }) => title) }),
    ...contentWithKnownIds(body, shown),
  }
}

/** False for a kind without a trash. */
async function isRestored(perform: Perform, { restore }: RecordKind, id: string): Promise<boolean> {
  if (!restore) return false
  await perform(restore, { params: restoreParams(restore, id) })
  return true
}

/** The lessons of a course with their places: each an existing one, or one that a step of the plan has created. */
const Places = z.object({
  courseId: z.string(),
  // Each step is a parameter of one statement; SQLite allows 32,766.
  places: z
    .array(z.object({ id: z.string().optional(), step: z.int().min(0).optional(), order: z.number() }))
    .max(30_000),
})

/** Moves the lessons of a course to their places; others stay behind their predecessor. */
async function placeLessons(call: Call, perform: Perform, plan: Begun, { record }: StepRow): Promise<void> {
  const given = Places.safeParse(JSON.parse(record))
  if (!given.success) {
    throw invalid(
      given.error.issues.slice(0, maxNamed).map(({ path, message }) => ({
        pointer: `#/${path.join('/')}`,
        code: 'invalid_place',
        detail: `does not order lessons: ${message}`,
      })),
    )
  }
  const { courseId, places } = given.data
  const id = await courseIdOf(call, plan, { courseId })
  const there = await call.database.all<Row & { id: string; order: number }>(sql`
    select id, position as "order" from lessons where course_id = ${id} order by position`)
  const steps = places.flatMap(({ step }) => step ?? [])
  const made =
    steps.length === 0
      ? []
      : await call.database.all<Row & { step: number; record_id: string | null }>(sql`
          select step, record_id from plan_steps where plan_id = ${plan.id} and step in (${join(steps)})`)
  const ids = new Map(made.map((row) => [row.step, row.record_id]))
  const placed = places.map(({ id: known, step = -1, order }) => ({
    id: known ?? ids.get(step) ?? undefined,
    order,
  }))
  const isThere = new Set<unknown>(there.map((lesson) => lesson.id))
  const moves = movesIn(
    placed.filter((place) => isThere.has(place.id)),
    there,
  )
  for (const { id: lessonId, number: order } of moves) {
    await perform(lessons.update, { params: { lessonId }, body: { order } })
  }
}
