import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { counters } from './count.ts'
import { type CountedStatus, kindsOf, learnersKind, ofMillionths, standings } from './tally.ts'

export interface Scope {
  /** Course ids, or a statement that selects them; undefined for the whole academy. */
  readonly courses: Sql | undefined
  readonly statuses: readonly CountedStatus[]
  readonly withDeleted: boolean
}

/** Sums are in millionths of a per cent. */
export interface StatusFigures {
  readonly courseId: string
  readonly status: CountedStatus
  readonly learners: number
  readonly percentage: number
  readonly graded: number
  readonly grade: number
  /** Their grade reaches the passing score. */
  readonly passed: number
}

/** Number of learners at a percentage or grade, to a hundredth of a per cent, and the sum of their values. */
export interface Step {
  readonly hundredths: number
  readonly learners: number
  /** Sum in millionths of a per cent. */
  readonly amount: number
}

export interface StatusStep extends Step {
  readonly status: CountedStatus
}

interface CounterRow extends Row {
  readonly kind: string
  readonly course_id: string
  readonly place: number
  readonly learners: number
  readonly amount: number
}

/** Without deleted users. */
export const wholeAcademy: Scope = { courses: undefined, statuses: standings, withDeleted: false }

export async function readCourseFigures(database: Database, scope: Scope): Promise<StatusFigures[]> {
  const meanings = new Map<string, { status: CountedStatus; of: 'all' | 'graded' | 'passed' }>(
    kindsIn(scope).flatMap(({ status, kinds }) => [
      [kinds.all, { status, of: 'all' }] as const,
      [kinds.graded, { status, of: 'graded' }] as const,
      [kinds.passed, { status, of: 'passed' }] as const,
    ]),
  )
  const found = new Map<string, StatusFigures>()
  for (const { kind, course_id: courseId, learners, amount } of await rowsOf(
    database,
    [...meanings.keys()],
    scope,
  )) {
    const { status, of } = meanings.get(kind) ?? { status: 'none', of: 'all' }
    const key = `${courseId} ${status}`
    const before = found.get(key) ?? { courseId, status, ...zeroFigures }
    found.set(key, {
      ...before,
      ...(of === 'all' && {
        learners: before.learners + learners,
        percentage: before.percentage + amount,
      }),
      ...(of === 'graded' && { graded: before.graded + learners, grade: before.grade + amount }),
      ...(of === 'passed' && { passed: before.passed + learners }),
    })
  }
  return [...found.values()].filter(({ learners }) => learners > 0)
}

const zeroFigures = { learners: 0, percentage: 0, graded: 0, grade: 0, passed: 0 }

/** Over all courses of a scope, in ascending order. */
export async function readSteps(database: Database, scope: Scope): Promise<StatusStep[]> {
  const meanings = new Map<string, CountedStatus>(
    kindsIn(scope).map(({ status, kinds }) => [kinds.at, status]),
  )
  const rows = await rowsOf(database, [...meanings.keys()], scope, true)
  const steps = rows.map((row) => ({ ...stepOf(row), status: meanings.get(row.kind) ?? 'none' }))
  return mergeSteps(steps, ({ status, hundredths }) => `${status} ${hundredths}`)
}

/** Over all courses of a scope, in ascending order. */
export async function readGradeSteps(database: Database, scope: Scope): Promise<Step[]> {
  const kinds = kindsIn(scope).map(({ kinds }) => kinds.gradedAt)
  const rows = await rowsOf(database, kinds, scope, true)
  return mergeSteps(rows.map(stepOf), ({ hundredths }) => String(hundredths))
}

function stepOf({ place, learners, amount }: CounterRow): Step {
  return { hundredths: place, learners, amount }
}

/** In ascending order. */
function mergeSteps<One extends Step>(steps: readonly One[], keyOf: (step: One) => string): One[] {
  const found = new Map<string, One>()
  for (const step of steps) {
    const before = found.get(keyOf(step))
    found.set(keyOf(step), {
      ...step,
      learners: step.learners + (before?.learners ?? 0),
      amount: step.amount + (before?.amount ?? 0),
    })
  }
  return [...found.values()]
    .filter(({ learners }) => learners > 0)
    .sort((one, other) => one.hundredths - other.hundredths)
}

/** The sum of the grades is in millionths of a per cent. */
export interface GradeFigures {
  readonly graded: number
  readonly grade: number
  readonly passed: number
}

export async function readAcademyGrades(database: Database): Promise<GradeFigures> {
  const kinds = kindsIn(wholeAcademy).map(({ kinds }) => kinds)
  const passedKinds = new Set<string>(kinds.map(({ passed }) => passed))
  const all = kinds.flatMap(({ graded, passed }) => [graded, passed])
  const found = { graded: 0, grade: 0, passed: 0 }
  for (const { kind, learners, amount } of await rowsOf(database, all, wholeAcademy, true)) {
    if (passedKinds.has(kind)) found.passed += learners
    else {
      found.graded += learners
      found.grade += amount
    }
  }
  return found
}

export async function countLearners(database: Database, withDeleted: boolean): Promise<number> {
  const kinds = [learnersKind(false), ...(withDeleted ? [learnersKind(true)] : [])]
  const rows = await rowsOf(database, kinds, wholeAcademy, true)
  return rows.reduce((sum, { learners }) => sum + learners, 0)
}

/** `whole` reads those of the whole academy. */
async function rowsOf(
  database: Database,
  kinds: readonly string[],
  { courses }: Scope,
  whole = false,
): Promise<CounterRow[]> {
  const only = courses ? sql`course_id in (${courses})` : whole ? sql`course_id = ''` : sql`course_id <> ''`
  return database.all<CounterRow>(sql`
    select kind, course_id, place, learners, amount from ${counters} where kind in (${join(kinds)}) and ${only}`)
}

function kindsIn({ statuses, withDeleted }: Scope) {
  return statuses.flatMap((status) =>
    [false, ...(withDeleted ? [true] : [])].map((isUserDeleted) => ({
      status,
      kinds: kindsOf(status, isUserDeleted),
    })),
  )
}

interface AttentionFigures {
  readonly courseId: string
  /** Not completed, and last seen before the first recent day. */
  readonly unseen: number
  /** In progress below 50%, and last risen before that day. */
  readonly unrisen: number
}

const measures = { open: 'unseen', early: 'unrisen' } as const

/**
 * Counts learners who may need attention, by course: all candidates less those of recent days.
 *
 * @param courses a statement that selects course ids
 * @param firstDay first recent day, such as 20260131
 */
export async function readAttention(
  database: Database,
  courses: Sql,
  firstDay: number,
): Promise<AttentionFigures[]> {
  const found = new Map<string, AttentionFigures>()
  const add = (
    rows: readonly (Row & { kind: string; course_id: string; learners: number })[],
    times: number,
  ) => {
    for (const { kind, course_id: courseId, learners } of rows) {
      const measure = measures[kind.replace(' since', '') as keyof typeof measures]
      const before = found.get(courseId) ?? { courseId, unseen: 0, unrisen: 0 }
      found.set(courseId, { ...before, [measure]: before[measure] + times * learners })
    }
  }
  const all = sql`kind in (${join(Object.keys(measures))})`
  const recent = sql`kind in (${join(['open since', 'early since'])}) and place >= ${firstDay}`
  for (const [condition, times] of [
    [all, 1],
    [recent, -1],
  ] as const) {
    add(
      await database.all(sql`
        select kind, course_id, learners from ${counters} where ${condition} and course_id in (${courses})`),
      times,
    )
  }
  return [...found.values()]
}

/**
 * Returns the median percentage of the learners at these steps; null without learners. Within a step (a hundredth of
 * a per cent) the mean of the step's learners is used.
 */
export function medianOf(steps: readonly Step[]): number | null {
  const count = steps.reduce((sum, { learners }) => sum + learners, 0)
  if (count === 0) return null
  const [low, high] = [Math.floor((count - 1) / 2), Math.floor(count / 2)].map((place) =>
    valueAt(steps, place),
  )
  return ((low ?? 0) + (high ?? 0)) / 2
}

function valueAt(steps: readonly Step[], place: number): number {
  let before = 0
  for (const { learners, amount } of steps) {
    before += learners
    if (place < before) return ofMillionths(amount) / learners
  }
  return 0
}

/** At 0–9%, 10–19% … 90–100%. */
export function tenthsOf(steps: readonly Step[]): number[] {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (const { hundredths, learners } of steps) {
    const tenth = Math.min(9, Math.floor(hundredths / 1000))
    tenths[tenth] = (tenths[tenth] ?? 0) + learners
  }
  return tenths
}

/** At 0–9%, 10–19% … 90–100% and above 100%. */
export function gradeTenthsOf(steps: readonly Step[]): number[] {
  const isAbove = ({ hundredths }: Step) => hundredths > 10_000
  const above = steps.filter(isAbove).reduce((sum, { learners }) => sum + learners, 0)
  return [...tenthsOf(steps.filter((step) => !isAbove(step))), above]
}
