import sql from 'sql-template-tag'
import { enrollmentIdOf, isEnrolled, roleOf, splitIds } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  type Collection,
  idNamed,
  type Narrowing,
  refTo,
  since,
  type TablePart,
} from './collection.ts'

interface EnrollmentRow extends Row {
  readonly role: 'learner' | 'instructor'
  readonly status: string
  readonly enrolled_at: string
  readonly modified: string
  readonly course_id: string
  readonly course: string
  readonly user: string
  readonly user_status: string
  readonly gone: number
}

/** OneRoster has no inactive ones: these are to be deleted, as are enrolments of deleted users and courses. */
export const enrollments: Collection = {
  plural: 'enrollments',
  singular: 'enrollment',
  fields: [...baseFields, 'user', 'class', 'school', 'role', 'primary', 'beginDate', 'endDate'],
  async parts(asking, scope, narrowing, sort) {
    const { database } = asking
    const modified = sql`e.updated_at`
    if (sort !== undefined && sort !== 'dateLastModified') return null
    const { courseId, userId, role } = await enrolmentNamed(database, scope, narrowing)
    const isNamed = userId !== undefined || courseId !== undefined
    if (isNamed && sort !== undefined) return null
    const live = enrolmentPart(asking, {
      from: sql`enrollments e`,
      columns: sql`${modified} as modified, 0 as gone, (select coalesce(external_id, id) from courses where id = e.course_id) as course`,
      where: [
        since(narrowing, sort, modified),
        userId !== undefined && sql`e.user_id = ${userId}`,
        courseId !== undefined && sql`e.course_id = ${courseId}`,
        role !== undefined && sql`e.role = ${role}`,
      ],
      by:
        userId !== undefined
          ? [sql`e.course_id`, sql`e.role`]
          : courseId !== undefined
            ? [sql`e.created_at`, sql`e.id`]
            : sort === undefined
              ? [sql`e.id`]
              : [modified, sql`e.id`],
      isActive: sql`e.status in ('active', 'completed') and (select status from users where id = e.user_id) <> 'deleted'`,
    })
    if (narrowing.status === 'active' || isNamed) return [live]
    const trash = enrolmentPart(asking, {
      from: sql`deletions d cross join deleted_enrollments e`,
      columns: sql`d.deleted_at as modified, 1 as gone,
        (select coalesce(external_id, id) from deleted_courses where id = e.course_id) as course`,
      where: [sql`d.kind = 'course'`, since(narrowing, sort, sql`d.deleted_at`), sql`e.course_id = d.id`],
      by: [sql`d.deleted_at`, sql`d.id`, sql`e.id`],
      isActive: sql`false`,
    })
    return [live, trash]
  },
}

/** Returns the course, user and role that a filter or the path names; an empty id for an unknown one. */
async function enrolmentNamed(
  database: Database,
  scope: { readonly courseId?: string },
  { values }: Narrowing,
): Promise<{ courseId?: string; userId?: string; role?: string }> {
  const sourcedId = values.get('sourcedId')
  const [course, user, role] =
    sourcedId === undefined
      ? [values.get('class.sourcedId'), values.get('user.sourcedId')]
      : splitIds(sourcedId)
  const courseId =
    scope.courseId ??
    (course === undefined ? undefined : ((await idNamed(database, 'courses', course)) ?? ''))
  const userId =
    user === undefined && sourcedId === undefined
      ? undefined
      : ((await idNamed(database, 'users', user ?? '')) ?? '')
  return {
    ...(courseId !== undefined && { courseId }),
    ...(userId !== undefined && { userId }),
    ...(role !== undefined && { role: role === 'teacher' ? 'instructor' : 'learner' }),
  }
}

function enrolmentPart(asking: Asking, { columns, ...part }: Omit<TablePart, 'show'>): TablePart {
  const primaries = new Map<string, Promise<string | undefined>>()
  const primaryOf = (courseId: string) => {
    const known = primaries.get(courseId) ?? primaryTeacher(asking.database, courseId)
    primaries.set(courseId, known)
    return known
  }
  return {
    ...part,
    // Not of users who were erased.
    isIn: sql`exists (select 1 from users where id = e.user_id)`,
    columns: sql`e.role, e.status, e.enrolled_at, e.course_id, ${columns}, (select coalesce(external_id, id) from users where id = e.user_id) as "user",
      (select status from users where id = e.user_id) as user_status`,
    show: (rows) =>
      Promise.all(
        rows.map(async (row) => {
          // The shape lists the columns.
          const { role, course, user, course_id: courseId, gone, ...rest } = row as EnrollmentRow
          const isActive = gone === 0 && isEnrolled(rest.status) && rest.user_status !== 'deleted'
          const isPrimary = isActive && role === 'instructor' && (await primaryOf(courseId)) === user
          const record = {
            ...active(enrollmentIdOf(course, user, role), rest.modified, isActive),
            user: refTo(asking, 'user', user),
            class: refTo(asking, 'class', course),
            school: refTo(asking, 'org', asking.school.id),
            ...{ role: roleOf(role), primary: String(isPrimary), beginDate: rest.enrolled_at.slice(0, 10) },
          }
          return [record]
        }),
      ),
  }
}

/** The instructor with the first id. */
async function primaryTeacher(database: Database, courseId: string): Promise<string | undefined> {
  const first = await database.one<{ key: string | null }>(sql`
    select min(coalesce(u.external_id, u.id)) as key from enrollments e cross join users u
    where e.course_id = ${courseId} and e.role = 'instructor' and e.status in ('active', 'completed')
      and u.id = e.user_id and u.status <> 'deleted'`)
  return first?.key ?? undefined
}
