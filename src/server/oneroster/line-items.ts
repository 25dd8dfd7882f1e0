import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import {
  daysOf,
  type ItemGrade,
  itemIn,
  itemsOf,
  type MappedItem,
  noCategory,
  noTerm,
  splitIds,
} from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  beginningOfTime,
  type Collection,
  idNamed,
  refTo,
} from './collection.ts'

/** `first` come before the records of all courses. */
function ofCourses(
  names: Pick<Collection, 'plural' | 'singular' | 'fields'>,
  first: readonly object[],
  show: (asking: Asking, course: GradedCourse) => readonly object[],
  courseOf: (database: Database, sourcedId: string) => Promise<string | undefined>,
): Collection {
  return {
    ...names,
    async parts(asking, scope, narrowing, byModified) {
      const { database } = asking
      if (byModified) return null
      const sourcedId = narrowing.values.get('sourcedId') ?? narrowing.values.get('class.sourcedId')
      const isOwn = narrowing.values.has('sourcedId')
      const named =
        sourcedId === undefined
          ? undefined
          : isOwn
            ? await courseOf(database, sourcedId)
            : await idNamed(database, 'courses', sourcedId)
      const courseId = scope.courseId ?? (sourcedId === undefined ? undefined : (named ?? ''))
      return [
        { records: first },
        {
          columns: gradedCourseColumns,
          from: sql`courses c`,
          where: [courseId !== undefined && sql`c.id = ${courseId}`],
          by: [sql`c.id`],
          isSingle: false,
          show: (rows) =>
            Promise.all(rows.map(async (row) => show(asking, await courseItems(database, row)))),
        },
      ]
    },
  }
}

/** One for line items without a weight, and one for each weight of a course. */
export const categories = ofCourses(
  { plural: 'categories', singular: 'category', fields: [...baseFields, 'title', 'weight'] },
  [{ ...active(noCategory.id, beginningOfTime), title: noCategory.title }],
  (_, { items, modified }) => {
    const weighted = items.filter(({ weight }) => weight !== null)
    const byId = new Map(weighted.map((item) => [item.categoryId, item]))
    return [...byId].map(([id, { title, weight }]) => ({ ...active(id, modified), title, weight }))
  },
  (database, sourcedId) => idNamed(database, 'courses', splitIds(sourcedId)[0] ?? ''),
)

const lineItemFields = [
  ...[...baseFields, 'title', 'description', 'assignDate', 'dueDate', 'class', 'school', 'category'],
  ...['academicSession', 'gradingPeriod', 'resultValueMin', 'resultValueMax', 'scoreScale'],
]

/** Items of courses with grades or a weight, and items that other systems made. */
export const lineItems = ofCourses(
  { plural: 'lineItems', singular: 'lineItem', fields: lineItemFields },
  [],
  (asking, course) => course.items.map((item) => showItem(asking, course, item)),
  async (database, sourcedId) => (await findItem(database, sourcedId))?.courseId,
)

function showItem(asking: Asking, { key, session }: GradedCourse, item: CourseItem): object {
  const isOlder = asking.version === '1.1'
  const dateIn = (time: string) => (isOlder ? time.slice(0, 10) : time)
  const period = refTo(asking, 'academicSession', session)
  return {
    ...active(item.sourcedId, item.modified),
    title: item.title,
    ...(item.description && { description: item.description }),
    ...{ assignDate: dateIn(item.assignDate), dueDate: dateIn(item.dueDate) },
    class: refTo(asking, 'class', key),
    ...(!isOlder && { school: refTo(asking, 'org', asking.school.id) }),
    category: refTo(asking, 'category', item.categoryId),
    ...(isOlder ? { gradingPeriod: period } : { academicSession: period }),
    ...{ resultValueMin: item.min, resultValueMax: item.max },
  }
}

interface ItemPlace {
  readonly courseId: string
  readonly itemId: string
}

export async function findItem(database: Database, sourcedId: string): Promise<ItemPlace | undefined> {
  const stored = await findStoredItem(database, sourcedId)
  if (stored) return { courseId: stored.course_id, itemId: stored.item_id }
  const [course = '', item] = splitIds(sourcedId)
  if (item !== undefined) {
    const courseId = await idNamed(database, 'courses', course)
    return courseId === undefined ? undefined : { courseId, itemId: itemIn(sourcedId, course) }
  }
  // The id of an item that is unique by itself.
  const graded = await database.one<{ course_id: string }>(
    sql`select course_id from grades where item_id = ${sourcedId} order by created_at, id limit 1`,
  )
  return graded && { courseId: graded.course_id, itemId: sourcedId }
}

export function findStoredItem(database: Database, sourcedId: string): Promise<StoredItem | undefined> {
  return database.one<StoredItem>(sql`select * from line_items where id = ${sourcedId}`)
}

export async function itemOf(
  database: Database,
  { courseId, itemId }: ItemPlace,
): Promise<CourseItem | undefined> {
  const course = await readCourseItems(database, courseId)
  return course?.items.find((item) => item.itemId === itemId)
}

/** An academy has none. */
export const scoreScales: Collection = {
  plural: 'scoreScales',
  singular: 'scoreScale',
  fields: [...baseFields, 'title', 'type', 'course', 'class'],
  parts: async () => [{ records: [] }],
}

export interface GradedCourse {
  readonly id: string
  readonly key: string
  readonly modified: string
  readonly session: string
  readonly items: readonly CourseItem[]
}

export interface CourseItem extends MappedItem {
  readonly description: string
  /** ISO 8601 in UTC. */
  readonly assignDate: string
  readonly dueDate: string
  readonly min: number
  readonly modified: string
}

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

export async function courseItems(database: Database, given: Row): Promise<GradedCourse> {
  // The shape lists the columns.
  const course = given as CourseRow
  const [graded, stored] = await Promise.all([
    readGradedItems(database, course.id),
    database.all<StoredItem>(sql`select * from line_items where course_id = ${course.id}`),
  ])
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
    from (select item_id from items where item_id is not null) found cross join grades n
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
