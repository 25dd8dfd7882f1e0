import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { passed, type Rows, rowsOf } from './rows.ts'

/** Statuses of progress, or `none` before the first. */
export type Status = 'none' | 'in_progress' | 'completed'

/** Sums are in millionths of a per cent: integers, which are added in any order. */
export interface StatusFigures {
  readonly courseId: string
  readonly status: Status
  readonly learners: number
  readonly percentage: number
  readonly graded: number
  readonly grade: number
  /** Their grade reaches the passing score. */
  readonly passed: number
}

/** Number of learners at a percentage or grade, to a hundredth of a per cent, and the sum of their values. */
interface Step {
  readonly hundredths: number
  readonly learners: number
  /** Sum in millionths of a per cent. */
  readonly amount: number
}

interface StatusStep extends Step {
  readonly status: Status
}

/** Figures of the rows of learners in courses. */
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

/** Reads all of the rows once. */
export async function readFigures(database: Database, { tables, conditions }: Rows): Promise<Figures> {
  // Rows without a course have the grades, and the number of learners.
  const groups = await database.all<
    Row & Omit<StatusFigures, 'courseId'> & Pick<Step, 'hundredths'> & { courseId: string | null }
  >(sql`
    with found as materialized (
      select e.user_id, e.course_id, coalesce(p.status, 'none') as status, coalesce(p.percentage, 0) as percentage,
        g.percent as grade, case when ${passed} = 'true' then 1 else 0 end as passed
      from ${rowsOf(tables, conditions)})
    select course_id as "courseId", status, floor(percentage * 100) as hundredths, count(*) as learners,
      sum(floor(percentage * 1000000 + 0.5)) as percentage, count(grade) as graded,
      coalesce(sum(floor(grade * 1000000 + 0.5)), 0) as grade, sum(passed) as passed
    from found group by 1, 2, 3
    union all select null, 'grade', ${gradePlace}, count(*), 0, 0, sum(floor(grade * 1000000 + 0.5)), 0
    from found where grade is not null group by 3
    union all select null, 'learners', 0, count(distinct user_id), 0, 0, 0, 0 from found`)
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

function inOrder<One extends Step>(steps: readonly One[]): One[] {
  return steps.toSorted((one, other) => one.hundredths - other.hundredths)
}

export function ofMillionths(amount: number): number {
  return amount / 1_000_000
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
