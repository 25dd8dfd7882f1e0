import sql, { type Sql } from 'sql-template-tag'
import { emptyProfile } from '../../contract/empty-profile.ts'
import type { User } from '../../contract/users.ts'
import { type Asking, seenOnly, visibleUsers } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { matchesReference } from '../database/reference.ts'
import { notFound, ProblemError } from '../problem-error.ts'

/** `profile` is JSON. */
export interface UserRow extends Row {
  readonly id: string
  readonly external_id: string | null
  readonly email: string
  readonly username: string | null
  readonly role: string
  readonly status: string
  readonly profile: string
  readonly managed_by: string | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

/** From `users u`. */
export const userColumns = sql`u.id, u.external_id, u.email, u.username, u.role, u.status, u.profile, u.managed_by,
  u.version, u.created_at, u.updated_at`

/** Throws 404. */
export function findVisibleUser(call: Asking, reference: string): Promise<UserRow> {
  return findUser(call.database, reference, visibleUsers(call, 'u'))
}

/** `visible` is a condition on `u`; throws 404. */
export async function findUser(database: Database, reference: string, visible?: Sql): Promise<UserRow> {
  const row = await database.one<UserRow>(
    sql`select ${userColumns} from users u where ${seenOnly(matchesReference('users', reference), visible)}`,
  )
  if (!row) throw notFound('user', reference)
  return row
}

/** `name` is what the refusal of a deleted or erased user calls them. Throws 409 `user_inactive`. */
export function requireNotDeleted({ status }: Pick<UserRow, 'status'>, name: string): void {
  if (status === 'deleted') throw new ProblemError('user_inactive', `User ${name} is deleted.`)
}

/** Stores the email address of a user in their enrolments, by which the learners of a course are sorted. */
export async function writeEnrolledEmail(database: Database, id: string, email: string): Promise<void> {
  await database.run(sql`update enrollments set user_email = ${email} where user_id = ${id}`)
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    externalId: row.external_id,
    email: row.email,
    username: row.username,
    role: row.role as User['role'],
    status: row.status as User['status'],
    profile: { ...emptyProfile, ...(JSON.parse(row.profile) as object) },
    managedBy: row.managed_by,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
