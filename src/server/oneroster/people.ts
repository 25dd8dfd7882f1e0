import sql, { type Sql } from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import { enrollmentIdOf, isEnrolled, roleOf, splitIds, userNamesOf } from '../../lms/oneroster-mapping.ts'
import type { Database, Row } from '../database/database.ts'
import {
  type Asking,
  active,
  baseFields,
  type Collection,
  idNamed,
  type Narrowing,
  type Part,
  partOf,
  refTo,
  since,
  type TablePart,
} from './collection.ts'

interface UserRow extends Row {
  readonly key: string
  readonly email: string
  readonly username: string | null
  readonly role: string
  readonly status: string
  readonly profile: string
  readonly modified: string
  /** Role of an admin or analyst in courses: 2 for an instructor, 1 for a learner, null for none. */
  readonly taught: number | null
}

const taught = sql`case when u.role in ('admin', 'analyst') then (
  select max(case when e.role = 'instructor' then 2 else 1 end) from enrollments e
  where e.user_id = u.id and e.status <> 'deleted') end`

const userColumns = sql`coalesce(u.external_id, u.id) as key, u.email, u.username, u.role, u.status, u.profile,
  u.updated_at as modified, ${taught} as taught`

const userFields12 = [
  ...[...baseFields, 'userMasterIdentifier', 'username', 'userIds', 'enabledUser', 'givenName', 'familyName'],
  ...['middleName', 'preferredFirstName', 'preferredMiddleName', 'preferredLastName', 'pronouns', 'roles'],
  ...['userProfiles', 'primaryOrg', 'identifier', 'email', 'sms', 'phone', 'agents', 'grades', 'resources'],
  // OneRoster 1.1.
  ...['role', 'orgs'],
]

type PersonRole = 'learner' | 'instructor'

function personRoleOf({ role, taught: own }: UserRow): PersonRole | undefined {
  if (role !== 'admin' && role !== 'analyst') return role === 'instructor' ? 'instructor' : 'learner'
  return own === null ? undefined : own > 1 ? 'instructor' : 'learner'
}

function showUser(asking: Asking, row: UserRow): object | undefined {
  const role = personRoleOf(row)
  if (!role) return undefined
  const profile: unknown = JSON.parse(row.profile)
  const { firstName, lastName, displayName } = isJsonObject(profile) ? profile : {}
  const { email, username } = row
  const names = userNamesOf({
    ...{ email, role, username: username ?? '' },
    ...{ firstName: textOf(firstName), lastName: textOf(lastName), displayName: textOf(displayName) },
  })
  const org = refTo(asking, 'org', asking.school.id)
  const shown = {
    ...active(row.key, row.modified, row.status !== 'deleted'),
    username: names.username,
    userIds: [],
    enabledUser: String(row.status === 'active'),
    givenName: names.givenName,
    familyName: names.familyName,
    email,
  }
  if (asking.version === '1.1') return { ...shown, role: roleOf(role), orgs: [org], agents: [], grades: [] }
  return {
    ...shown,
    ...(names.preferredGivenName && { preferredFirstName: names.preferredGivenName }),
    ...(names.preferredFamilyName && { preferredLastName: names.preferredFamilyName }),
    roles: [{ roleType: 'primary', role: roleOf(role), org }],
    primaryOrg: org,
    agents: [],
    grades: [],
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function usersWith(wanted: PersonRole | undefined): Collection {
  return {
    plural: 'users',
    singular: 'user',
    fields: userFields12,
    async parts(asking, scope, narrowing, byModified) {
      const by = byModified ? [sql`u.updated_at`, sql`u.id`] : [sql`u.id`]
      const { database } = asking
      const isPerson =
        wanted === undefined
          ? sql`(u.role in ('learner', 'instructor') or ${taught} is not null)`
          : sql`(u.role = ${wanted} or ${taught} = ${wanted === 'instructor' ? 2 : 1})`
      const part = (only: Partial<TablePart>): TablePart =>
        partOf<UserRow>(
          {
            columns: userColumns,
            from: sql`users u`,
            by,
            isIn: isPerson,
            isActive: sql`u.status <> 'deleted'`,
            ...only,
          },
          (row) => showUser(asking, row),
        )
      if (scope.courseId !== undefined) {
        return byModified ? null : [peopleOf(scope.courseId, wanted, (row) => showUser(asking, row))]
      }
      const only = await onlyUser(database, narrowing)
      if (only !== undefined) return [part({ where: [only] })]
      const modified = since(narrowing, byModified, sql`u.updated_at`)
      if (wanted === undefined || byModified) return [part({ where: [modified] })]
      // The index of roles is in the order of statuses.
      const byRole = [sql`u.status`, sql`u.created_at`, sql`u.id`]
      return [wanted, 'admin', 'analyst'].map((role) => part({ where: [sql`u.role = ${role}`], by: byRole }))
    },
  }
}

async function onlyUser(database: Database, { values }: Narrowing): Promise<Sql | undefined> {
  const [id, email, username] = [values.get('sourcedId'), values.get('email'), values.get('username')]
  if (id !== undefined) return sql`u.id = ${(await idNamed(database, 'users', id)) ?? ''}`
  if (email !== undefined) return sql`u.email_key = ${email.toLowerCase()}`
  if (username === undefined) return undefined
  // A user without a user name is shown with the address.
  const found = await database.one<{ id: string }>(
    sql`select id from users where email_key = ${username.toLowerCase()} and username is null`,
  )
  return found ? sql`u.id = ${found.id}` : sql`u.username = ${username.toLowerCase()}`
}

function peopleOf(
  courseId: string,
  wanted: PersonRole | undefined,
  show: (row: UserRow) => object | undefined,
): Part {
  return partOf<UserRow>(
    {
      columns: userColumns,
      from: sql`enrollments e cross join users u`,
      where: [sql`e.course_id = ${courseId}`, sql`u.id = e.user_id`],
      by: [sql`e.created_at`, sql`e.id`],
      isIn: sql`e.status in ('active', 'completed') and u.status <> 'deleted' and ${wanted ?? ''} in ('', e.role)`,
    },
    show,
  )
}

export const users = usersWith(undefined)
export const students = usersWith('learner')
export const teachers = usersWith('instructor')

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

/** OneRoster has no inactive ones: these are `tobedeleted`, as are enrolments of deleted users and courses. */
export const enrollments: Collection = {
  plural: 'enrollments',
  singular: 'enrollment',
  fields: [...baseFields, 'user', 'class', 'school', 'role', 'primary', 'beginDate', 'endDate'],
  async parts(asking, scope, narrowing, byModified) {
    const { database } = asking
    const modified = sql`e.updated_at`
    const { courseId, userId, role } = await enrolmentNamed(database, scope, narrowing)
    const isNamed = userId !== undefined || courseId !== undefined
    if (isNamed && byModified) return null
    const live = enrolmentPart(asking, {
      from: sql`enrollments e`,
      columns: sql`${modified} as modified, 0 as gone, (select coalesce(external_id, id) from courses where id = e.course_id) as course`,
      where: [
        since(narrowing, byModified, modified),
        userId !== undefined && sql`e.user_id = ${userId}`,
        courseId !== undefined && sql`e.course_id = ${courseId}`,
        role !== undefined && sql`e.role = ${role}`,
      ],
      by:
        userId !== undefined
          ? [sql`e.course_id`, sql`e.role`]
          : courseId !== undefined
            ? [sql`e.created_at`, sql`e.id`]
            : byModified
              ? [modified, sql`e.id`]
              : [sql`e.id`],
      isActive: sql`e.status in ('active', 'completed') and (select status from users where id = e.user_id) <> 'deleted'`,
    })
    if (narrowing.status === 'active' || isNamed) return [live]
    const trash = enrolmentPart(asking, {
      from: sql`deletions d cross join deleted_enrollments e`,
      columns: sql`d.deleted_at as modified, 1 as gone,
        (select coalesce(external_id, id) from deleted_courses where id = e.course_id) as course`,
      where: [
        sql`d.kind = 'course'`,
        since(narrowing, byModified, sql`d.deleted_at`),
        sql`e.course_id = d.id`,
      ],
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

async function primaryTeacher(database: Database, courseId: string): Promise<string | undefined> {
  const first = await database.one<{ key: string | null }>(sql`
    select min(coalesce(u.external_id, u.id)) as key from enrollments e cross join users u
    where e.course_id = ${courseId} and e.role = 'instructor' and e.status in ('active', 'completed')
      and u.id = e.user_id and u.status <> 'deleted'`)
  return first?.key ?? undefined
}
