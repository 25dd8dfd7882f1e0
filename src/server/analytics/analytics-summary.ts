import sql, { type Sql } from 'sql-template-tag'
import type { Summary } from '../../contract/analytics.ts'
import type { Database, Row } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'

interface Group extends Row {
  course_id: string
  course_title: string
  status: string
  tenth: number
  rows: number
  percentage: number
  grades: number
  grade: number | null
}

const tenthOf = sql`min(9, cast(coalesce(p.percentage, 0) / 10 as integer))`

/** Figures over all rows of a query, not one page of them; averages of nothing are null. */
export function summaryOf(database: Database, joined: Sql, conditions: readonly Condition[]): Summary {
  const groups = database.all<Group>(sql`
    select c.id as course_id, c.title as course_title, coalesce(p.status, 'not_started') as status,
      ${tenthOf} as tenth, count(*) as rows,
      sum(coalesce(p.percentage, 0)) as percentage, count(g.percent) as grades, sum(g.percent) as grade
    from ${joined} ${where(conditions)}
    group by 1, 2, 3, 4 order by 2, 1`)
  const learners = database.one<Row & { learners: number }>(
    sql`select count(distinct u.id) as learners from ${joined} ${where(conditions)}`,
  )
  const figures = figuresOf(groups)
  const distribution = Array.from({ length: 10 }, (_, tenth) =>
    sum(groups, (group) => (group.tenth === tenth ? group.rows : 0)),
  )
  const byCourse = Map.groupBy(groups, (group) => group.course_id)
  return {
    learners: learners?.learners ?? 0,
    ...figures,
    medianCompletionPercentage: medianOf(database, joined, conditions, distribution),
    distribution,
    byCourse: [...byCourse].map(([courseId, own]) => ({
      courseId,
      courseTitle: own[0]?.course_title ?? '',
      ...figuresOf(own),
    })),
  }
}

function figuresOf(groups: readonly Group[]) {
  const enrollments = sum(groups, ({ rows }) => rows)
  const counted = (status: string) => sum(groups, (group) => (group.status === status ? group.rows : 0))
  const completed = counted('completed')
  return {
    enrollments,
    notStarted: counted('not_started'),
    inProgress: counted('in_progress'),
    completed,
    completionRate: average(completed, enrollments),
    averageCompletionPercentage: average(
      sum(groups, ({ percentage }) => percentage),
      enrollments,
    ),
    averageGradePercent: average(
      sum(groups, ({ grade }) => grade ?? 0),
      sum(groups, ({ grades }) => grades),
    ),
  }
}

/** The percentage in the middle. Only those of its own tenth are sorted, or of both where it lies between two. */
function medianOf(
  database: Database,
  joined: Sql,
  conditions: readonly Condition[],
  distribution: readonly number[],
): number | null {
  const count = distribution.reduce((total, rows) => total + rows, 0)
  if (count === 0) return null
  const [first, last] = [Math.floor((count - 1) / 2), Math.floor(count / 2)].map((place) =>
    tenthAt(distribution, place),
  )
  if (!first || !last) return null
  const own = sql`${tenthOf} between ${first.tenth} and ${last.tenth}`
  const middle = database.one<Row & { median: number }>(sql`
    select avg(percentage) as median from (
      select coalesce(p.percentage, 0) as percentage from ${joined} ${where([...conditions, own])}
      order by 1 limit ${2 - (count % 2)} offset ${first.place})`)
  return rounded(middle?.median ?? 0)
}

/** In which tenth the row at a place is, from 0, and at which place of that. */
function tenthAt(
  distribution: readonly number[],
  place: number,
): { readonly tenth: number; readonly place: number } | undefined {
  let before = 0
  for (const [tenth, rows] of distribution.entries()) {
    if (place < before + rows) return { tenth, place: place - before }
    before += rows
  }
  return undefined
}

function average(total: number, count: number): number | null {
  return count === 0 ? null : rounded(total / count)
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function sum(groups: readonly Group[], of: (group: Group) => number): number {
  return groups.reduce((total, group) => total + of(group), 0)
}
