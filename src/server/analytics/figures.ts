import sql, { join, raw, type Sql } from 'sql-template-tag'
import { setNewest } from '../../codec/bounded-map.ts'
import { type Attention, attentionDays, attentionKinds, stuckBelow } from '../../contract/constants.ts'
import type { Database, Dialect, Row } from '../database/database.ts'
import { type Condition, where } from '../database/page.ts'
import { learning, type Rows } from './rows.ts'

/** `none` before the first progress. */
export type Status = 'none' | 'in_progress' | 'completed'

/** Sums are in millionths of a per cent: integers, which add up the same in any order. */
export interface StatusFigures extends Readonly<Record<Attention, number>> {
  readonly courseId: string
  readonly status: Status
  readonly learners: number
  readonly percentage: number
  readonly graded: number
  readonly grade: number
  readonly passed: number
}

interface Step {
  readonly hundredths: number
  readonly learners: number
  /** Sum in millionths of a per cent. */
  readonly amount: number
}

interface StatusStep extends Step {
  readonly status: Status
}

export interface Figures {
  /** Different ones. */
  readonly learners: number
  readonly byStatus: readonly StatusFigures[]
  /** Percentages completed, in ascending order. */
  readonly steps: readonly StatusStep[]
  /** In ascending order. */
  readonly gradeSteps: readonly Step[]
}

/** In hundredths of a per cent; rounded up above 100, so that 100 shares its place with none. */
const gradePlace = sql`case when grade > 100 then ceil(grade * 100) else floor(grade * 100) end`

export interface FigureRows extends Rows {
  /** On `p`; `conditions` are on the other tables. */
  readonly ofProgress?: readonly Condition[]
}

/** Figures to keep of one database, each up to a megabyte. */
const maxKept = 8
const keptByDatabase = new WeakMap<Dialect, Map<string, KeptFigures>>()

interface KeptFigures {
  /** The `writeMark` of the database before they were read. */
  readonly mark: string
  readonly figures: Figures
}

/** Reads them only once until something is written: for the rows of many courses. */
export async function readKeptFigures(database: Database, rows: FigureRows, now: Date): Promise<Figures> {
  const { dialect } = database
  const mark = (await database.one<Row & { mark: string }>(dialect.writeMark))?.mark ?? ''
  const statement = statementOf(rows, now)
  const key = JSON.stringify([statement.sql, statement.values])
  const kept = keptByDatabase.get(dialect) ?? new Map<string, KeptFigures>()
  keptByDatabase.set(dialect, kept)
  const found = kept.get(key)
  if (found?.mark === mark) return found.figures
  const figures = await figuresBy(database, statement)
  setNewest(kept, key, { mark, figures }, maxKept)
  return figures
}

export function readFigures(database: Database, rows: FigureRows, now: Date): Promise<Figures> {
  return figuresBy(database, statementOf(rows, now))
}

async function figuresBy(database: Database, statement: Sql): Promise<Figures> {
  const groups = await database.all<
    Row & Omit<StatusFigures, 'courseId'> & Pick<Step, 'hundredths'> & { courseId: string | null }
  >(statement)
  const byStatus = groups.flatMap(({ courseId, ...own }) => (courseId === null ? [] : [{ ...own, courseId }]))
  const others = Map.groupBy(
    groups.filter(({ courseId }) => courseId === null),
    ({ status }) => String(status),
  )
  return {
    byStatus,
    steps: inOrder(
      byStatus.map(({ status, hundredths, learners, percentage }) => {
        return { status, hundredths, learners, amount: percentage }
      }),
    ),
    gradeSteps: inOrder(
      (others.get('grade') ?? []).map(({ hundredths, learners, grade }) => {
        return { hundredths, learners, amount: grade }
      }),
    ),
    learners: others.get('learners')?.[0]?.learners ?? 0,
  }
}

/** Rows without a course have the grades, and the number of learners. */
function statementOf({ tables: { tables, on }, conditions, ofProgress = [] }: FigureRows, now: Date): Sql {
  const course = { status: sql`e.course_status`, passingScore: sql`e.passing_score` }
  const needs = attentionConditions(now, undefined, course)
  const flags = attentionKinds.map((kind) => sql`case when ${needs[kind]} then 1 else 0 end as ${raw(kind)}`)
  const flagged = attentionKinds.map((kind) => sql`sum(${raw(kind)}) as ${raw(kind)}`)
  const none = join(attentionKinds.map(() => sql`0`))
  // Progress and grades are stored by learner and course: in this order each of their pages is read once.
  return sql`
    with enrolled as materialized (
      select e.user_id, e.course_id, e.status, e.enrolled_at, c.status as course_status, c.passing_score
      from ${tables} ${where([on, ...conditions])} order by e.user_id, e.course_id),
    found as materialized (
      select e.user_id, e.course_id, coalesce(p.status, 'none') as status, coalesce(p.percentage, 0) as percentage,
        g.percent as grade, case when g.percent >= e.passing_score then 1 else 0 end as passed, ${join(flags)}
      from enrolled e ${learning} ${where(ofProgress)})
    select course_id as "courseId", status, floor(percentage * 100) as hundredths, count(*) as learners,
      sum(floor(percentage * 1000000 + 0.5)) as percentage, count(grade) as graded,
      coalesce(sum(floor(grade * 1000000 + 0.5)), 0) as grade, sum(passed) as passed, ${join(flagged)}
    from found group by 1, 2, 3
    union all select null, 'grade', ${gradePlace}, count(*), 0, 0, sum(floor(grade * 1000000 + 0.5)), 0, ${none}
    from found where grade is not null group by 3
    union all select null, 'learners', 0, count(distinct user_id), 0, 0, 0, 0, ${none} from found`
}

function inOrder<One extends Step>(steps: readonly One[]): One[] {
  return steps.toSorted((one, other) => one.hundredths - other.hundredths)
}

export function ofMillionths(amount: number): number {
  return amount / 1_000_000
}

/** Null without learners. Within a step (a hundredth of a per cent), the mean of its learners. */
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

interface AttentionLimits {
  /** Calendar days (UTC) without access. */
  readonly inactiveDays: number
  /** Calendar days (UTC) without progress. */
  readonly stuckDays: number
  readonly stuckBelow: number
}

const standardLimits: AttentionLimits = { inactiveDays: attentionDays, stuckDays: attentionDays, stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** A learner whose last access is earlier is inactive. */
function recentSince(now: Date, days: number): string {
  const day = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * Returns the condition for each reason, in a query over enrolments in published courses (`c`, `e`, `p` and `g`). A
 * completed enrolment is neither inactive nor stuck; `not_passed` requires a grade, and like the pass rate any enrolment.
 */
export function attentionConditions(
  now: Date,
  { inactiveDays, stuckDays, stuckBelow }: AttentionLimits = standardLimits,
  course = { status: sql`c.status`, passingScore: sql`c.passing_score` },
): Readonly<Record<Attention, Sql>> {
  const isOpen = sql`${course.status} = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'`
  return {
    inactive: sql`(${isOpen} and coalesce(p.last_accessed, e.enrolled_at) < ${recentSince(now, inactiveDays)})`,
    stuck: sql`(${isOpen} and p.status = 'in_progress' and p.percentage < ${stuckBelow} and p.risen_at < ${recentSince(now, stuckDays)})`,
    not_passed: sql`(${course.status} = 'published' and g.percent < ${course.passingScore})`,
  }
}
