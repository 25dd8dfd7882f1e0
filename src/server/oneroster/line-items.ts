import sql from 'sql-template-tag'
import { itemIn, noCategory, splitIds } from '../../lms/oneroster-mapping.ts'
import type { Database } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  beginningOfTime,
  type Collection,
  idNamed,
  refTo,
} from './collection.ts'
import {
  type CourseItem,
  courseItems,
  type GradedCourse,
  gradedCourseColumns,
  readCourseItems,
  type StoredItem,
} from './course-items.ts'

/** `first` come before the records of all courses. */
function ofCourses(
  names: Pick<Collection, 'plural' | 'singular' | 'fields'>,
  first: readonly object[],
  show: (asking: Asking, course: GradedCourse) => readonly object[],
  courseOf: (database: Database, sourcedId: string) => Promise<string | undefined>,
): Collection {
  return {
    ...names,
    async parts(asking, scope, narrowing, sort) {
      const { database } = asking
      if (sort !== undefined) return null
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

/** Undefined if the academy has none with this id. */
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

/** Undefined if the class has none. */
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
