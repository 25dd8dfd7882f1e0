import sql, { join, type Sql } from 'sql-template-tag'
import { wholeCourse } from '../../contract/constants.ts'
import type { Course } from '../../contract/courses.ts'
import type { Database, Row } from '../database/database.ts'

/** `gradedAt` is the newest time of grading behind it. */
export interface CourseGrade {
  readonly percent: number
  readonly gradedAt: string
  /** Ids of items that do not count: they have no weight, while others have one. */
  readonly unweighted: readonly string[]
}

interface ItemRow extends Row {
  readonly user_id: string
  readonly item_id: string
  readonly label: string
  readonly percent: number
  readonly weight: number | null
  readonly graded_at: string
}

type Weights = Course['assessmentCriteria']['weights']

/** Criteria name an item by id or name; null for none. */
export function weightIn(named: Weights, item: string, label: string): number | null {
  return named.find(({ name }) => name === item || name === label)?.weight ?? null
}

/** Maximum grades of a learner in a course that count. */
const maxItems = 10_000

export async function courseGradesOf(
  database: Database,
  userIds: readonly string[],
  { id, assessmentCriteria: { weights } }: Pick<Course, 'id' | 'assessmentCriteria'>,
): Promise<ReadonlyMap<string, CourseGrade>> {
  if (userIds.length === 0) return new Map()
  const items = await database.all<ItemRow>(sql`
    select user_id, item_id, label, 100.0 * score_given / score_maximum as percent, weight, graded_at from grades
    where ${isAmong(userIds)} and course_id = ${id} and published = 1 and cleared = 0
    order by user_id, source, item_id limit ${maxItems * userIds.length}`)
  const all = [...Map.groupBy(items, (item) => item.user_id)]
  return new Map(all.map(([userId, own]) => [userId, courseGradeOf(own, weights)]))
}

function isAmong([first, ...others]: readonly string[]): Sql {
  return others.length === 0 ? sql`user_id = ${first}` : sql`user_id in (${join([first, ...others])})`
}

/**
 * Returns the grade of the whole course if there is one, else the mean of the items, weighted by their own weights or those
 * of the course's criteria; equal weights if there are none.
 */
function courseGradeOf(items: readonly ItemRow[], named: Weights): CourseGrade {
  const inTime = items.toSorted((one, other) => compare(one.graded_at, other.graded_at))
  const whole = inTime.findLast(({ item_id: item }) => item === wholeCourse)
  const gradedAt = (whole ?? inTime.at(-1))?.graded_at ?? ''
  return whole ? { percent: whole.percent, gradedAt, unweighted: [] } : { ...meanOf(items, named), gradedAt }
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function meanOf(items: readonly ItemRow[], named: Weights): Omit<CourseGrade, 'gradedAt'> {
  const weighted = items.map(({ item_id: item, label, percent, weight }) => ({
    item,
    percent,
    weight: weight ?? weightIn(named, item, label),
  }))
  const sum = weighted.reduce((total, { weight }) => total + (weight ?? 0), 0)
  if (sum === 0) {
    const percent = weighted.reduce((total, { percent }) => total + percent, 0) / weighted.length
    return { percent, unweighted: [] }
  }
  return {
    percent: weighted.reduce((total, { percent, weight }) => total + percent * (weight ?? 0), 0) / sum,
    unweighted: weighted.filter(({ weight }) => weight === null).map(({ item }) => item),
  }
}

export async function storeCourseGrades(
  database: Database,
  courseId: string,
  grades: ReadonlyMap<string, CourseGrade>,
): Promise<void> {
  if (grades.size === 0) return
  const rows = [...grades].map(
    ([userId, { percent, gradedAt }]) => sql`(${userId}, ${courseId}, ${percent}, ${gradedAt})`,
  )
  await database.run(sql`
    insert into course_grades (user_id, course_id, percent, updated_at) values ${join(rows)}
    on conflict (user_id, course_id) do update set percent = excluded.percent, updated_at = excluded.updated_at`)
}
