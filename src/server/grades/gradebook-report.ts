import sql, { join } from 'sql-template-tag'
import { analytics } from '../../contract/analytics.ts'
import { maxGradebookItems } from '../../contract/constants.ts'
import type { GradebookGrade, GradebookItem, grades } from '../../contract/grades.ts'
import { visibleCourses } from '../access/sight.ts'
import { readFilteredPage } from '../analytics/learner-pages.ts'
import { rowFilterOf } from '../analytics/row-filter.ts'
import { countsAsLearner } from '../analytics/rows.ts'
import { findCourse } from '../courses/course-row.ts'
import type { Database, Row } from '../database/database.ts'
import type { Call } from '../http/handler.ts'

/** Grades of a page, about 3 MB as JSON: with many items, a page has fewer learners than its limit. */
const maxCells = 20_000
const maxGradesRead = 10 * maxCells

export async function reportGrades(call: Call<typeof grades.report>) {
  const { database, principal, query, params } = call
  const { id: courseId } = await findCourse(database, params.courseId, visibleCourses(call, 'c'))
  const rows = analytics.learners.query.parse({ course_id: courseId })
  const { learner_id, group_id, include_unpublished: withDrafts } = query
  const filter = await rowFilterOf(
    { database, principal, query: { ...rows, learner_id, group_id } },
    { start: null, end: null },
  )
  const { items, hasMoreItems } = await readItems(database, courseId, withDrafts)
  const limit = Math.max(1, Math.min(query.limit, Math.floor(maxCells / Math.max(1, items.length))))
  const page = await readFilteredPage(database, { ...query, limit }, filter)
  const learnerIds = page.data.map(({ learnerId }) => learnerId)
  const gradesByLearner = await readGrades(database, courseId, learnerIds, withDrafts)
  return {
    ...page,
    data: page.data.map(
      ({ learnerId, email, firstName, lastName, externalId, enrollmentStatus, gradePercent, passed }) => ({
        ...{ learnerId, email, firstName, lastName, externalId, enrollmentStatus, gradePercent, passed },
        grades: gradesByLearner.get(learnerId) ?? [],
      }),
    ),
    ...(query.cursor === undefined && { items, hasMoreItems }),
  }
}

interface ItemRow extends Row {
  readonly item_id: string
  /** Null, as the others are, for an item that no learner of the report has a grade for. */
  readonly label: string | null
  readonly score_maximum: number
  readonly weight: number | null
}

export async function readItems(
  database: Database,
  courseId: string,
  withDrafts: boolean,
): Promise<{ readonly items: GradebookItem[]; readonly hasMoreItems: boolean }> {
  const shown = withDrafts ? sql`g.cleared = 0` : sql`g.cleared = 0 and g.published = 1`
  const rows = await database.all<ItemRow>(sql`
    with recursive items (item_id) as (
      select min(item_id) from grades where course_id = ${courseId}
      union all
      select (select min(g.item_id) from grades g where g.course_id = ${courseId} and g.item_id > i.item_id)
      from items i where i.item_id is not null)
    select found.item_id, n.label, n.score_maximum, n.weight
    from (select item_id from items where item_id is not null limit ${maxGradebookItems + 1}) found
    left join grades n on n.id = (
      select g.id from grades g where g.course_id = ${courseId} and g.item_id = found.item_id and ${shown}
        and exists (
          select 1 from enrollments e join users u on u.id = e.user_id
          where e.user_id = g.user_id and e.course_id = g.course_id and ${countsAsLearner('e')} and u.status <> 'deleted')
      order by g.created_at desc limit 1)`)
  const items = rows.slice(0, maxGradebookItems).flatMap((row) => {
    const { item_id: itemId, label, score_maximum: scoreMaximum, weight } = row
    return label === null ? [] : [{ itemId, label, scoreMaximum, weight }]
  })
  items.sort((one, other) => compare(nameOf(one), nameOf(other)) || compare(one.itemId, other.itemId))
  return { items, hasMoreItems: rows.length > maxGradebookItems }
}

function nameOf({ label, itemId }: GradebookItem): string {
  return label === '' ? itemId : label
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

interface GradeRow extends Row {
  readonly user_id: string
  readonly item_id: string
  readonly source: string
  readonly score_given: number
  readonly score_maximum: number
  readonly published: number
  readonly graded_at: string
}

async function readGrades(
  database: Database,
  courseId: string,
  learnerIds: readonly string[],
  withDrafts: boolean,
): Promise<ReadonlyMap<string, GradebookGrade[]>> {
  if (learnerIds.length === 0) return new Map()
  const shown = withDrafts ? sql`g.cleared = 0` : sql`g.cleared = 0 and g.published = 1`
  const rows = await database.all<GradeRow>(sql`
    select g.user_id, g.item_id, g.source, g.score_given, g.score_maximum, g.published, g.graded_at from grades g
    where g.user_id in (${join([...learnerIds])}) and g.course_id = ${courseId} and ${shown}
    limit ${maxGradesRead}`)
  const newest = new Map<string, Map<string, GradeRow>>()
  for (const row of rows) {
    const own = newest.get(row.user_id) ?? new Map<string, GradeRow>()
    newest.set(row.user_id, own)
    const other = own.get(row.item_id)
    if (!other || isNewer(row, other)) own.set(row.item_id, row)
  }
  return new Map([...newest].map(([learnerId, own]) => [learnerId, [...own.values()].map(toGrade)]))
}

/** Of equally old grades, the source that is first by name counts as the newer one. */
function isNewer(one: GradeRow, other: GradeRow): boolean {
  return (compare(one.graded_at, other.graded_at) || compare(other.source, one.source)) > 0
}

function toGrade(row: GradeRow): GradebookGrade {
  return {
    itemId: row.item_id,
    source: row.source,
    scoreGiven: row.score_given,
    scoreMaximum: row.score_maximum,
    percent: (100 * row.score_given) / row.score_maximum,
    published: row.published === 1,
  }
}
