import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { daysOf, type ItemGrade, itemsOf, type MappedItem, noTerm } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import { refused } from './status-info.ts'

export interface GradedCourse {
  readonly id: string
  readonly key: string
  readonly modified: string
  readonly session: string
  readonly items: readonly CourseItem[]
}

/** Line item of a course: of its grades and weights, or made by another system. */
export interface CourseItem extends MappedItem {
  readonly description: string
  /** ISO 8601 in UTC. */
  readonly assignDate: string
  readonly dueDate: string
  readonly min: number
  readonly modified: string
}

const maxItems = 2_000

interface CourseRow extends Row {
  readonly id: string
  readonly key: string
  readonly attributes: string
  readonly updated_at: string
  readonly term: string | null
  readonly start_date: string | null
  readonly end_date: string | null
}

interface GradedRow extends Row {
  readonly item_id: string
  readonly label: string
  readonly score_maximum: number
  readonly weight: number | null
  readonly updated_at: string
}

export interface StoredItem extends Row {
  readonly id: string
  readonly course_id: string
  readonly item_id: string
  readonly title: string
  readonly description: string
  readonly category_id: string
  readonly assign_date: string
  readonly due_date: string
  readonly score_minimum: number
  readonly score_maximum: number
  readonly updated_at: string
}

/** From `courses c`. */
export const gradedCourseColumns = sql`c.id, coalesce(c.external_id, c.id) as key, c.attributes, c.updated_at,
  (select coalesce(t.external_id, t.id) from terms t where t.id = c.term_id) as term,
  (select t.start_date from terms t where t.id = c.term_id) as start_date,
  (select t.end_date from terms t where t.id = c.term_id) as end_date`

export async function readCourseItems(
  database: Database,
  courseId: string,
): Promise<GradedCourse | undefined> {
  const row = await database.one<CourseRow>(
    sql`select ${gradedCourseColumns} from courses c where c.id = ${courseId}`,
  )
  return row && courseItems(database, row)
}

/** Reads the line items of a course: from its grades and weights, and from other systems. */
export async function courseItems(database: Database, given: Row): Promise<GradedCourse> {
  // The shape lists the columns.
  const course = given as CourseRow
  const [graded, stored] = await Promise.all([
    readGradedItems(database, course.id),
    database.all<StoredItem>(
      sql`select * from line_items where course_id = ${course.id} limit ${maxItems + 1}`,
    ),
  ])
  if (graded.length > maxItems || stored.length > maxItems) {
    throw refused(
      'limit_reached',
      'server_busy',
      `The class ${course.key} has more than ${maxItems} line items.`,
    )
  }
  const storedByItem = new Map(stored.map((item) => [item.item_id, item]))
  const newest = new Map(graded.map((row) => [row.item_id, gradeOf(row, storedByItem.get(row.item_id))]))
  for (const item of stored) newest.set(item.item_id, newest.get(item.item_id) ?? gradeOf(undefined, item))
  const modifiedByItem = new Map(graded.map((row) => [row.item_id, row.updated_at]))
  const [start, end] = daysOf({ startDate: course.start_date || null, endDate: course.end_date || null })
  const { items } = itemsOf(course.key, weightsIn(course.attributes), newest)
  const categories = new Set(items.map(({ categoryId }) => categoryId))
  return {
    ...{ id: course.id, key: course.key, modified: course.updated_at, session: course.term ?? noTerm.id },
    items: items.map((item) => {
      const own = storedByItem.get(item.itemId)
      const modified = own?.updated_at ?? modifiedByItem.get(item.itemId) ?? course.updated_at
      if (!own) {
        const [assignDate, dueDate] = [`${start}T00:00:00.000Z`, `${end}T00:00:00.000Z`]
        return { ...item, description: '', assignDate, dueDate, min: 0, modified }
      }
      return {
        ...item,
        sourcedId: own.id,
        ...(categories.has(own.category_id) && { categoryId: own.category_id }),
        ...{ description: own.description, assignDate: own.assign_date, dueDate: own.due_date },
        ...{ min: own.score_minimum, modified },
      }
    }),
  }
}

function gradeOf(row: GradedRow | undefined, own: StoredItem | undefined): ItemGrade {
  return {
    label: own?.title ?? row?.label ?? '',
    scoreMaximum: own?.score_maximum ?? row?.score_maximum ?? 100,
    weight: row?.weight ?? null,
  }
}

/** The newest published one of each item of a course: the index of items leads from one to the next. */
function readGradedItems(database: Database, courseId: string): Promise<GradedRow[]> {
  return database.all<GradedRow>(sql`
    with recursive items (item_id) as (
      select min(item_id) from grades where course_id = ${courseId}
      union all
      select (select min(g.item_id) from grades g where g.course_id = ${courseId} and g.item_id > i.item_id)
      from items i where i.item_id is not null)
    select n.item_id, n.label, n.score_maximum, n.weight, n.updated_at
    from (select item_id from items where item_id is not null limit ${maxItems + 1}) found cross join grades n
    where n.id = (
      select g.id from grades g
      where g.course_id = ${courseId} and g.item_id = found.item_id and g.published = 1 and g.cleared = 0
      order by g.created_at desc limit 1)`)
}

function weightsIn(attributes: string): { readonly name: string; readonly weight: number }[] {
  const parsed: unknown = JSON.parse(attributes)
  const criteria = isJsonObject(parsed) ? parsed['assessmentCriteria'] : undefined
  const weights = isJsonObject(criteria) ? criteria['weights'] : undefined
  if (!Array.isArray(weights)) return []
  return weights
    .filter(isJsonObject)
    .map(({ name, weight }) => ({ name: String(name), weight: Number(weight) }))
}
