import sql, { type Sql } from 'sql-template-tag'
import type { Summary } from '../../contract/analytics.ts'
import type { Database, Row } from '../database/database.ts'

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

/** Figures over all rows of a query, not one page of them; averages of nothing are null. */
export function summaryOf(database: Database, joined: Sql, where: Sql): Summary {
  const groups = database.all<Group>(sql`
    select c.id as course_id, c.title as course_title, coalesce(p.status, 'not_started') as status,
      min(9, cast(coalesce(p.percentage, 0) / 10 as integer)) as tenth, count(*) as rows,
      sum(coalesce(p.percentage, 0)) as percentage, count(g.percent) as grades, sum(g.percent) as grade
    from ${joined} ${where}
    group by 1, 2, 3, 4 order by 2, 1`)
  const learners = database.one<Row & { learners: number }>(
    sql`select count(distinct u.id) as learners from ${joined} ${where}`,
  )
  const figures = figuresOf(groups)
  const distribution = Array.from({ length: 10 }, (_, tenth) =>
    sum(groups, (group) => (group.tenth === tenth ? group.rows : 0)),
  )
  const byCourse = Map.groupBy(groups, (group) => group.course_id)
  return {
    learners: learners?.learners ?? 0,
    ...figures,
    medianCompletionPercentage: medianOf(database, joined, where, figures.enrollments),
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

function medianOf(database: Database, joined: Sql, where: Sql, count: number): number | null {
  if (count === 0) return null
  const middle = database.one<Row & { median: number }>(sql`
    select avg(percentage) as median from (
      select coalesce(p.percentage, 0) as percentage from ${joined} ${where}
      order by 1 limit ${2 - (count % 2)} offset ${Math.floor((count - 1) / 2)})`)
  return rounded(middle?.median ?? 0)
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
