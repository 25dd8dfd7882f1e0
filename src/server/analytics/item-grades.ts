import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { analytics } from '../../contract/analytics.ts'
import { wholeCourse } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { ItemGrades } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { fenced, invalidCursor, type Page, readCursor, where, writeCursor } from '../database/page.ts'
import { ofMillionths } from './figures.ts'
import { type RowFilter, rowFilterOf } from './row-filter.ts'
import { enrolledIn } from './rows.ts'
import { rounded } from './summary.ts'

interface AskingForItems extends Asking {
  readonly query: Omit<Query<typeof analytics.grades>, 'by'>
}

/** A page looks at no more, because many may have no grades. */
const maxCourses = 200

/**
 * Reads a page of items with the distribution of their published scores, course by course in the order of titles. A page
 * reads all grades of its items' courses. Throws 404 as `rowFilterOf` does, and 400 `invalid_cursor`.
 */
export async function listItemGrades(call: AskingForItems): Promise<Page<ItemGrades>> {
  const { database, query } = call
  const from = query.cursor === undefined ? undefined : readPlace(query.cursor)
  const filter = await rowFilterOf(call, { start: null, end: null })
  const courses = await readCourses(database, filter, from)
  const data: ItemGrades[] = []
  let room = query.limit
  for (const course of courses) {
    const after = course.id === from?.courseId ? from.itemId : ''
    const itemIds = await readItemIds(database, course.id, after, room + 1)
    const shown = itemIds.slice(0, room)
    data.push(...(await readItems(database, filter, course, shown)))
    room -= shown.length
    if (itemIds.length > shown.length) return { data, nextCursor: cursorAfter(course, shown.at(-1) ?? after) }
  }
  const last = courses[maxCourses - 1]
  return { data, nextCursor: last ? cursorAfter(last, lastItem) : null }
}

/** Name in cursors: by title, course and item. */
const sort = 'items'

/** Sorts after the id of each item. */
const lastItem = '\u{10ffff}'

interface Place {
  readonly titleKey: string
  readonly courseId: string
  readonly itemId: string
}

function cursorAfter({ title_key: titleKey, id }: CourseRow, itemId: string): string {
  return writeCursor(sort, titleKey, id, itemId)
}

function readPlace(cursor: string): Place {
  const [titleKey, courseId, itemId] = readCursor(cursor, sort, 3)
  if (typeof titleKey !== 'string' || typeof courseId !== 'string' || typeof itemId !== 'string') {
    throw invalidCursor()
  }
  return { titleKey, courseId, itemId }
}

interface CourseRow extends Row {
  readonly id: string
  readonly title: string
  readonly title_key: string
  readonly external_id: string | null
  readonly passing_score: number
}

function readCourses(
  database: Database,
  { courses, termIds }: RowFilter,
  from: Place | undefined,
): Promise<CourseRow[]> {
  const conditions = [
    from && sql`(c.title_key, c.id) >= (${from.titleKey}, ${from.courseId})`,
    courses && sql`c.id in (${courses})`,
    termIds && sql`c.term_id in (${join(termIds)})`,
  ]
  return database.all<CourseRow>(sql`
    select c.id, c.title, c.title_key, c.external_id, c.passing_score from courses c
    ${where(conditions)} order by c.title_key, c.id limit ${maxCourses}`)
}

async function readItemIds(
  database: Database,
  courseId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await database.all<Row & { item_id: string }>(sql`
    with recursive items (item_id) as (
      select min(item_id) from grades where course_id = ${courseId} and item_id > ${after}
      union all
      select (select min(g.item_id) from grades g where g.course_id = ${courseId} and g.item_id > i.item_id)
      from items i where i.item_id is not null)
    select item_id from items where item_id is not null limit ${limit}`)
  return rows.map(({ item_id: id }) => id)
}

async function readItems(
  database: Database,
  filter: RowFilter,
  course: CourseRow,
  itemIds: readonly string[],
): Promise<ItemGrades[]> {
  if (itemIds.length === 0) return []
  const figures = await readFigures(database, filter, course, itemIds)
  const found = figures.map(({ item_id: id }) => id)
  if (found.length === 0) return []
  const titles = await readTitles(database, course.id, found)
  const lessons = await readLessons(database, course.id, found)
  return figures.map((row) => {
    const { item_id: itemId, count } = row
    return {
      courseId: course.id,
      courseTitle: course.title,
      courseExternalId: course.external_id,
      itemId,
      itemTitle: titles.get(itemId) || (itemId === wholeCourse ? 'Whole course' : itemId),
      lessonId: lessons.get(itemId) ?? null,
      count,
      mean: rounded(ofMillionths(row.amount) / count),
      median: quantileOf(count, 2, row.middle, row.after_middle),
      lowerQuartile: quantileOf(count, 1, row.lower, row.after_lower),
      upperQuartile: quantileOf(count, 3, row.upper, row.after_upper),
      passRate: rounded((100 * row.passed) / count),
    }
  })
}

/** Between the two grades around it: see `readFigures`. */
function quantileOf(count: number, quarters: number, at: number, next: number | null): number {
  const share = (((count - 1) * quarters) % 4) / 4
  return rounded(at + share * ((next ?? at) - at))
}

interface FigureRow extends Row {
  readonly item_id: string
  readonly count: number
  /** In millionths of a per cent. */
  readonly amount: number
  readonly passed: number
  /** Around each quantile; the second is null if there is none. */
  readonly lower: number
  readonly after_lower: number | null
  readonly middle: number
  readonly after_middle: number | null
  readonly upper: number
  readonly after_upper: number | null
}

/**
 * Reads counts, sums and the grades around the quartiles. In the order of n grades counted from 0, the quantile p is at
 * (n - 1) p, linearly between two grades: definition 7 of R. J. Hyndman and Y. Fan, Sample Quantiles in Statistical Packages,
 * The American Statistician 50 (1996), as in pandas, NumPy, R and QUARTILE.INC.
 */
function readFigures(
  database: Database,
  filter: RowFilter,
  { id, passing_score: passing }: CourseRow,
  itemIds: readonly string[],
): Promise<FigureRow[]> {
  const enrolled = enrolledIn({ ...filter, courses: sql`${id}` })
  const conditions = [
    enrolled.on,
    sql`g.user_id = e.user_id and g.course_id = e.course_id and g.published = 1 and g.cleared = 0`,
    sql`e.course_id = ${id}`,
    // The grades of a learner in the course are together; SQLite would look through the items for each learner.
    fenced([sql`g.item_id >= ${itemIds[0]} and g.item_id <= ${itemIds.at(-1)}`]),
    ...filter.conditions,
  ]
  return database.all<FigureRow>(sql`
    with graded as (
      select g.item_id, 100.0 * g.score_given / g.score_maximum as percent, count(*) as learners
      from ${enrolled.tables} cross join grades g ${where(conditions)} group by 1, 2),
    ranked as (
      select item_id, percent, learners,
        cast(sum(learners) over (partition by item_id order by percent) as bigint) as place,
        cast(sum(learners) over (partition by item_id) as bigint) as count
      from graded)
    select item_id, count, sum(floor(percent * 1000000 + 0.5) * learners) as amount,
      cast(sum(case when percent >= ${passing} then learners else 0 end) as bigint) as passed,
      ${around(1, 'lower')}, ${around(2, 'middle')}, ${around(3, 'upper')}
    from ranked group by item_id, count order by item_id`)
}

/** Selects the grades around a quantile: the last grade of each value has its place. */
function around(quarters: 1 | 2 | 3, name: 'lower' | 'middle' | 'upper'): Sql {
  const at = sql`(count - 1) * ${raw(String(quarters))} / 4`
  return sql`min(case when place > ${at} then percent end) as ${raw(name)},
    min(case when place > ${at} + 1 then percent end) as ${raw(`after_${name}`)}`
}

async function readTitles(
  database: Database,
  courseId: string,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const newest = (itemId: string) => sql`
    select item_id, label from (
      select g.item_id, g.label from grades g
      where g.course_id = ${courseId} and g.item_id = ${itemId} and g.published = 1 and g.cleared = 0
      order by g.created_at desc limit 1) newest`
  const rows = await database.all<Row & { item_id: string; label: string }>(
    join(itemIds.map(newest), ' union all '),
  )
  return new Map(rows.map(({ item_id: id, label }) => [id, label]))
}

/** By id or external id of the item. */
async function readLessons(
  database: Database,
  courseId: string,
  itemIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.all<Row & { item_id: string; id: string }>(sql`
    select external_id as item_id, id from lessons where course_id = ${courseId} and external_id in (${join(itemIds)})
    union all select id, id from lessons where course_id = ${courseId} and id in (${join(itemIds)})`)
  return new Map(rows.map(({ item_id: item, id }) => [item, id]))
}
