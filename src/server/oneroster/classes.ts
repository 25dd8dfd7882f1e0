import sql, { type Sql } from 'sql-template-tag'
import { isEnrolled, noTerm } from '../../lms/oneroster-mapping.ts'
import type { Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  type Collection,
  idNamed,
  type Part,
  partOf,
  refTo,
  since,
} from './collection.ts'

interface CourseRow extends Row {
  readonly key: string
  readonly title: string
  readonly term: string | null
  readonly modified: string
  readonly gone: number
}

const classFields = [
  ...[
    ...baseFields,
    'title',
    'classCode',
    'classType',
    'location',
    'grades',
    'subjects',
    'course',
    'school',
    'terms',
  ],
  ...['subjectCodes', 'periods', 'resources'],
]

/** Deleted courses are there as long as they can be restored. */
function coursesAs(
  names: Pick<Collection, 'plural' | 'singular' | 'fields'>,
  show: (asking: Asking, row: CourseRow) => object,
): Collection {
  return {
    ...names,
    async parts(asking, scope, narrowing, sort) {
      const { database } = asking
      const orders: Readonly<Record<string, Sql>> = {
        dateLastModified: sql`c.updated_at`,
        title: sql`c.title_key`,
      }
      const key = sort === undefined ? undefined : orders[sort]
      if (sort !== undefined && !key) return null
      const { courseId, termId, userId } = scope
      if (userId !== undefined)
        return sort === undefined ? [classesOfUser(asking, userId, scope.role, show)] : null
      const sourcedId = narrowing.values.get('sourcedId')
      const found = sourcedId === undefined ? undefined : await idNamed(database, 'courses', sourcedId)
      const only = courseId ?? (sourcedId === undefined ? undefined : (found ?? ''))
      const columns = (modified: Sql, gone: Sql) => sql`
        coalesce(c.external_id, c.id) as key, c.title, ${modified} as modified, ${gone} as gone,
        (select coalesce(t.external_id, t.id) from terms t where t.id = c.term_id) as term`
      const byTerm = typeof termId === 'string' && sort === undefined && only === undefined
      const live = partOf<CourseRow>(
        {
          columns: columns(sql`c.updated_at`, sql`0`),
          from: sql`courses c`,
          where: [
            since(narrowing, sort, sql`c.updated_at`),
            only !== undefined && sql`c.id = ${only}`,
            typeof termId === 'string' && sql`c.term_id = ${termId}`,
          ],
          ...(termId === null && { isIn: sql`c.term_id is null` }),
          by: byTerm
            ? [sql`c.status`, sql`c.level`, sql`c.created_at`, sql`c.id`]
            : key
              ? [key, sql`c.id`]
              : [sql`c.id`],
        },
        (row) => show(asking, row),
      )
      const hasTrash = termId === undefined && courseId === undefined && found === undefined
      if (narrowing.status === 'active' || !hasTrash) return [live]
      if (sort !== undefined && sort !== 'dateLastModified') return null
      const gone =
        sourcedId === undefined ? undefined : ((await idNamed(database, 'deleted_courses', sourcedId)) ?? '')
      const trash = partOf<CourseRow>(
        {
          columns: columns(sql`d.deleted_at`, sql`1`),
          from: sql`deletions d cross join deleted_courses c`,
          where: [
            sql`d.kind = 'course'`,
            since(narrowing, sort, sql`d.deleted_at`),
            sql`c.id = d.id`,
            gone !== undefined && sql`d.id = ${gone}`,
          ],
          by: [sql`d.deleted_at`, sql`d.id`],
          isActive: sql`false`,
        },
        (row) => show(asking, row),
      )
      return narrowing.status === 'tobedeleted' ? [trash] : [live, trash]
    },
  }
}

function classesOfUser(
  asking: Asking,
  userId: string,
  role: 'learner' | 'instructor' | undefined,
  show: (asking: Asking, row: CourseRow) => object,
): Part {
  let before = ''
  return partOf<CourseRow & { role: string; enrolment: string; course_id: string }>(
    {
      columns: sql`e.role, e.status as enrolment, e.course_id, coalesce(c.external_id, c.id) as key, c.title,
        c.updated_at as modified, 0 as gone,
        (select coalesce(t.external_id, t.id) from terms t where t.id = c.term_id) as term`,
      from: sql`enrollments e cross join courses c`,
      where: [sql`e.user_id = ${userId}`, sql`c.id = e.course_id`],
      by: [sql`e.course_id`, sql`e.role`],
      isSingle: false,
    },
    (row) => {
      if (!isEnrolled(row.enrolment) || (role !== undefined && row.role !== role)) return undefined
      // A user may have both roles in a course.
      if (row.course_id === before) return undefined
      before = row.course_id
      return show(asking, row)
    },
  )
}

/** Each course of the academy is one. */
export const classes = coursesAs(
  { plural: 'classes', singular: 'class', fields: classFields },
  (asking, row) => ({
    ...active(row.key, row.modified, row.gone === 0),
    ...{ title: row.title, classCode: '', classType: 'scheduled' },
    course: refTo(asking, 'course', row.key),
    school: refTo(asking, 'org', asking.school.id),
    terms: [refTo(asking, 'academicSession', row.term ?? noTerm.id)],
  }),
)

/** Each course of the academy is one. */
export const courses = coursesAs(
  {
    ...{ plural: 'courses', singular: 'course' },
    fields: [
      ...baseFields,
      'title',
      'schoolYear',
      'courseCode',
      'grades',
      'subjects',
      'org',
      'subjectCodes',
      'resources',
    ],
  },
  (asking, row) => ({
    ...active(row.key, row.modified, row.gone === 0),
    ...{ title: row.title, courseCode: '', org: refTo(asking, 'org', asking.school.id) },
  }),
)
