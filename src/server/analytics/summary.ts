import sql, { empty, join, type Sql } from 'sql-template-tag'
import type { Bucket, Summary } from '../../contract/analytics.ts'
import {
  countLearners,
  gradeTenthsOf,
  medianOf,
  readCourseFigures,
  readGradeSteps,
  readSteps,
  type Scope,
  type StatusFigures,
  type StatusStep,
  type Step,
  tenthsOf,
} from '../counters/standings.ts'
import { type CountedStatus, ofMillionths, standings } from '../counters/tally.ts'
import type { Database, Row } from '../database/database.ts'
import type { Condition } from '../database/keyset.ts'
import { allConditions, hasStatus, type RowFilter, scopeOf } from './row-filter.ts'
import { byCourse, byMember, byStatus, byTime, byUser, passed, type Rows, rowsOf } from './rows.ts'

/**
 * Summarises the rows of a filter. Uses counters, except for single learners and members of groups, whose rows are read,
 * and for a period or statuses, whose rows an index finds.
 */
export async function summariseFilter(database: Database, filter: RowFilter): Promise<Summary> {
  return summaryOf(database, await partsOf(database, filter))
}

/** The conditions must select the rows of a few learners. */
export async function summariseRows(database: Database, conditions: readonly Condition[]): Promise<Summary> {
  return summaryOf(database, await partsOfRows(database, { tables: byUser, conditions }))
}

interface SummaryParts {
  /** Distinct; null if counting them would take too long. */
  readonly learners: number | null
  readonly figures: readonly StatusFigures[]
  /** Percentages completed. */
  readonly steps: readonly StatusStep[]
  readonly gradeSteps: readonly Step[]
}

/** Courses are ordered by title; the average of no values is null. */
async function summaryOf(
  database: Database,
  { learners, figures, steps, gradeSteps }: SummaryParts,
): Promise<Summary> {
  const byCourse = Map.groupBy(figures, ({ courseId }) => courseId)
  const distribution = tenthsOf(steps)
  return {
    learners,
    ...figuresOf(figures),
    medianCompletionPercentage: roundedOrNull(medianOf(steps)),
    medianGradePercent: roundedOrNull(medianOf(gradeSteps)),
    distribution,
    completionDistribution: bucketsOf(distribution),
    gradeDistribution: bucketsOf(gradeTenthsOf(gradeSteps)),
    byCourse: (await titlesOf(database, [...byCourse.keys()])).map(({ id, title }) => ({
      courseId: id,
      courseTitle: title,
      ...figuresOf(byCourse.get(id) ?? []),
    })),
  }
}

/** By tens of a per cent; the eleventh is above 100. */
function bucketsOf(counts: readonly number[]): Bucket[] {
  return counts.map((count, tenth) => ({ from: 10 * tenth, to: tenth < 10 ? 10 * (tenth + 1) : null, count }))
}

async function partsOf(database: Database, filter: RowFilter): Promise<SummaryParts> {
  const { query, learnerIds, groupIds, inPeriod } = filter
  if (learnerIds) return partsOfRows(database, { tables: byUser, conditions: allConditions(filter) })
  if (groupIds) {
    return partsOfRows(database, { tables: byMember(groupIds), conditions: allConditions(filter) })
  }
  if (query.enrollment_status) return partsOfStatus(database, filter)
  const scope = scopeOf(filter)
  const rows = { tables: byCourse, conditions: allConditions(filter) }
  if (!inPeriod) return readCountedParts(database, scope, rows)
  const conditions = [...filter.conditions, inPeriod]
  const dated = await partsOfRows(database, { tables: byTime, conditions })
  if (!query.include_not_started || !scope.statuses.includes('none')) return dated
  const unstarted: Scope = { ...scope, statuses: ['none'] }
  return {
    figures: [...(await readCourseFigures(database, unstarted)), ...dated.figures],
    steps: inOrder([...(await readSteps(database, unstarted)), ...dated.steps]),
    gradeSteps: inOrder([...(await readGradeSteps(database, unstarted)), ...dated.gradeSteps]),
    learners: await countDistinctLearners(database, scope, rows),
  }
}

/** Counters do not distinguish statuses of enrolments. */
async function partsOfStatus(database: Database, filter: RowFilter): Promise<SummaryParts> {
  const { query, courses, inPeriod } = filter
  const conditions = allConditions(filter)
  if (inPeriod && !query.include_not_started) return partsOfRows(database, { tables: byTime, conditions })
  if (courses) return partsOfRows(database, { tables: byCourse, conditions })
  const own = hasStatus(query.enrollment_status ?? [])
  return partsOfRows(database, { tables: byStatus, conditions: [own, ...conditions] })
}

/** For a distinct count of learners: more would block other requests. */
const maxEnrollmentsRead = 20_000

/** The cost does not depend on the number of learners. */
async function readCountedParts(database: Database, scope: Scope, rows: Rows): Promise<SummaryParts> {
  const figures = await readCourseFigures(database, scope)
  return {
    figures,
    steps: await readSteps(database, scope),
    gradeSteps: await readGradeSteps(database, scope),
    learners: await countLearnersIn(database, scope, figures, rows),
  }
}

async function countLearnersIn(
  database: Database,
  scope: Scope,
  figures: readonly StatusFigures[],
  rows: Rows,
): Promise<number | null> {
  const isWhole = !scope.courses && scope.statuses.length === standings.length
  if (isWhole) return countLearners(database, scope.withDeleted)
  // A learner is in a course once.
  const courses = new Set(figures.map(({ courseId }) => courseId))
  return courses.size <= 1
    ? sum(figures, ({ learners }) => learners)
    : countDistinctLearners(database, scope, rows)
}

/** Null if the scope has too many enrolments to count exactly. */
export async function countDistinctLearners(
  database: Database,
  scope: Scope,
  { tables, conditions }: Rows,
): Promise<number | null> {
  const all = await readCourseFigures(database, { ...scope, statuses: standings })
  if (sum(all, ({ learners }) => learners) > maxEnrollmentsRead) return null
  const counted = await database.one<Row & { learners: number }>(
    sql`select count(distinct e.user_id) as learners from ${rowsOf(tables, conditions)}`,
  )
  return counted?.learners ?? 0
}

/** As in `gradePlaceOf`. */
const gradePlace = sql`case when grade > 100 then ceil(grade * 100) else floor(grade * 100) end`

/** In one pass: for some learners, or for a period. */
async function partsOfRows(database: Database, { tables, conditions }: Rows): Promise<SummaryParts> {
  // Rows without a course have the grades, and the number of learners.
  const groups = await database.all<Row & StatusFigures & StatusStep & { courseId: string | null }>(sql`
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
  const figures = groups.filter(({ courseId }) => courseId !== null)
  const others = Map.groupBy(
    groups.filter(({ courseId }) => courseId === null),
    ({ status }) => String(status),
  )
  return {
    figures,
    steps: inOrder(
      figures.map(({ status, hundredths, learners, percentage: amount }) => {
        return { status, hundredths, learners, amount }
      }),
    ),
    gradeSteps: inOrder(
      (others.get('grade') ?? []).map(({ hundredths, learners, grade: amount }) => {
        return { hundredths, learners, amount }
      }),
    ),
    learners: others.get('learners')?.[0]?.learners ?? 0,
  }
}

function inOrder<One extends Step>(steps: readonly One[]): One[] {
  return steps.toSorted((one, other) => one.hundredths - other.hundredths)
}

function figuresOf(figures: readonly StatusFigures[]) {
  const enrollments = sum(figures, ({ learners }) => learners)
  const counted = (...statuses: readonly CountedStatus[]) =>
    sum(figures, ({ status, learners }) => (statuses.includes(status) ? learners : 0))
  const completed = counted('completed')
  const graded = sum(figures, (one) => one.graded)
  const passed = sum(figures, (one) => one.passed)
  const share = (part: number, whole: number) => (whole === 0 ? null : rounded((100 * part) / whole))
  const average = (total: number, count: number) =>
    count === 0 ? null : rounded(ofMillionths(total / count))
  return {
    enrollments,
    notStarted: counted('none'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: enrollments === 0 ? null : rounded(completed / enrollments),
    averageCompletionPercentage: average(
      sum(figures, ({ percentage }) => percentage),
      enrollments,
    ),
    averageGradePercent: average(
      sum(figures, ({ grade }) => grade),
      graded,
    ),
    completionPercentage: share(completed, enrollments),
    graded,
    passed,
    passRate: share(passed, graded),
  }
}

/** Looked up by id: the number of parameters of a statement is limited. */
const maxTitlesById = 100

async function titlesOf(
  database: Database,
  courseIds: readonly string[],
): Promise<{ id: string; title: string }[]> {
  if (courseIds.length === 0) return []
  const titled = (only: Sql) =>
    database.all<Row & { id: string; title: string }>(
      sql`select id, title from courses ${only} order by title, id`,
    )
  if (courseIds.length <= maxTitlesById) return titled(sql`where id in (${join(courseIds)})`)
  const wanted = new Set(courseIds)
  return (await titled(empty)).filter(({ id }) => wanted.has(id))
}

function roundedOrNull(value: number | null): number | null {
  return value === null ? null : rounded(value)
}

/** To four decimals. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function sum(figures: readonly StatusFigures[], of: (one: StatusFigures) => number): number {
  return figures.reduce((total, one) => total + of(one), 0)
}
