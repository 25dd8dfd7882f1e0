import sql, { type Sql } from 'sql-template-tag'
import {
  isEnrolled,
  joinIds,
  type MappedTerm,
  noTerm,
  sessionOf,
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
    async parts(asking, scope, narrowing, byModified) {
      const { database } = asking
      const { courseId, termId, userId } = scope
      if (userId !== undefined) return byModified ? null : [classesOfUser(asking, userId, scope.role, show)]
      const sourcedId = narrowing.values.get('sourcedId')
      const found = sourcedId === undefined ? undefined : await idNamed(database, 'courses', sourcedId)
      const only = courseId ?? (sourcedId === undefined ? undefined : (found ?? ''))
      const columns = (modified: Sql, gone: Sql) => sql`
        coalesce(c.external_id, c.id) as key, c.title, ${modified} as modified, ${gone} as gone,
        (select coalesce(t.external_id, t.id) from terms t where t.id = c.term_id) as term`
      const byTerm = typeof termId === 'string' && !byModified && only === undefined
      const live = partOf<CourseRow>(
        {
          columns: columns(sql`c.updated_at`, sql`0`),
          from: sql`courses c`,
          where: [
            since(narrowing, byModified, sql`c.updated_at`),
            only !== undefined && sql`c.id = ${only}`,
            typeof termId === 'string' && sql`c.term_id = ${termId}`,
          ],
          ...(termId === null && { isIn: sql`c.term_id is null` }),
          by: byTerm
            ? [sql`c.status`, sql`c.level`, sql`c.created_at`, sql`c.id`]
            : byModified
              ? [sql`c.updated_at`, sql`c.id`]
              : [sql`c.id`],
        },
        (row) => show(asking, row),
      )
      const hasTrash = termId === undefined && courseId === undefined && found === undefined
      if (narrowing.status === 'active' || !hasTrash) return [live]
      const gone =
        sourcedId === undefined ? undefined : ((await idNamed(database, 'deleted_courses', sourcedId)) ?? '')
      const trash = partOf<CourseRow>(
        {
          columns: columns(sql`d.deleted_at`, sql`1`),
          from: sql`deletions d cross join deleted_courses c`,
          where: [
            sql`d.kind = 'course'`,
            since(narrowing, byModified, sql`d.deleted_at`),
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

interface TermRow extends Row {
  readonly key: string
  readonly name: string
  readonly start_date: string
  readonly end_date: string
  readonly updated_at: string
}

const sessionFields = [
  ...baseFields,
  'title',
  'startDate',
  'endDate',
  'type',
  'parent',
  'children',
  'schoolYear',
]

type SessionKind = 'term' | 'gradingPeriod'

/** Each term is a grading period, too, under an id of its own. */
function sessionsOf(
  kind: SessionKind,
  show: (asking: Asking, term: MappedTerm | null, time: string) => object,
): Collection {
  return {
    plural: 'academicSessions',
    singular: 'academicSession',
    fields: sessionFields,
    async parts(asking, scope, narrowing, byModified) {
      const only =
        scope.termId ?? (await idOfSession(asking.database, narrowing.values.get('sourcedId'), kind))
      const modified = sql`t.updated_at`
      const terms = partOf<TermRow>(
        {
          columns: sql`coalesce(t.external_id, t.id) as key, t.name, t.start_date, t.end_date, t.updated_at`,
          from: sql`terms t`,
          where: [since(narrowing, byModified, modified), only !== undefined && sql`t.id = ${only}`],
          by: byModified ? [modified, sql`t.id`] : [sql`t.id`],
        },
        ({ key: id, name, start_date: start, end_date: end, updated_at: time }) =>
          show(asking, { key: id, name, startDate: start || null, endDate: end || null }, time),
      )
      const hasNone =
        only === undefined && scope.termId === undefined && (await hasCoursesWithoutTerm(asking.database))
      const isNone = scope.termId === null || hasNone
      const none = isNone ? [{ records: [show(asking, null, beginningOfTime)] }] : []
      return scope.termId === null ? none : [terms, ...none]
    },
  }
}

export const terms = sessionsOf('term', (_, term, time) => {
  const { sourcedId, title, startDate, endDate, schoolYear } = sessionOf(term)
  return { ...active(sourcedId, time), title, type: 'term', startDate, endDate, schoolYear }
})

const periodSuffix = 'gradingPeriod'

/** Packages leave them out. */
export const gradingPeriods = sessionsOf('gradingPeriod', (asking, term, time) => {
  const { sourcedId, title, startDate, endDate, schoolYear } = sessionOf(term)
  return {
    ...active(joinIds(sourcedId, periodSuffix), time),
    ...{ title, type: 'gradingPeriod', startDate, endDate, schoolYear },
    parent: refTo(asking, 'academicSession', sourcedId),
  }
})

async function hasCoursesWithoutTerm(database: Database): Promise<boolean> {
  return (await database.one(sql`select 1 from courses where term_id is null limit 1`)) !== undefined
}

/** An empty text if there is none, undefined if no id is given. */
async function idOfSession(
  database: Database,
  sourcedId: string | undefined,
  kind: SessionKind,
): Promise<string | undefined> {
  if (sourcedId === undefined) return undefined
  const [term = '', suffix] = kind === 'term' ? [sourcedId] : splitIds(sourcedId)
  if (kind === 'gradingPeriod' && suffix !== periodSuffix) return ''
  if (term === noTerm.id) return undefined
  return (await idNamed(database, 'terms', term)) ?? ''
}

export const orgs: Collection = {
  plural: 'orgs',
  singular: 'org',
  fields: [...baseFields, 'name', 'type', 'identifier', 'parent', 'children'],
  async parts({ database, school }) {
    const created = await database.one<{ created_at: string }>(
      sql`select created_at from users order by created_at, id limit ${1}`,
    )
    const dateLastModified = created?.created_at ?? new Date(0).toISOString()
    const org = { ...active(school.id, dateLastModified), name: school.name, type: 'school', identifier: '' }
    return [{ records: [org] }]
  },
}

/** An academy has none. */
export const demographics: Collection = {
  plural: 'demographics',
  singular: 'demographics',
  fields: [...baseFields, 'birthDate', 'sex'],
  parts: async () => [{ records: [] }],
}
