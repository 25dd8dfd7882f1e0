import sql, { type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { emptyProfile } from '../../contract/empty-profile.ts'
import type { User } from '../../contract/users.ts'
import { type Asking, seenOnly, visibleUsers } from '../access/sight.ts'
import type { Database, Row } from '../database/database.ts'
import { recordReader } from '../database/record.ts'
import { matchesReference } from '../database/reference.ts'
import { notFound, ProblemError } from '../problem-error.ts'

/** From `users u`. */
export const userColumns = sql`u.id, u.external_id, u.email, u.username, u.role, u.status, u.profile, u.managed_by,
  u.version, u.created_at, u.updated_at`

/** Throws 404. */
export function findVisibleUser(call: Asking, reference: string): Promise<User> {
  return findUser(call.database, reference, visibleUsers(call, 'u'))
}

/** `visible` is a condition on `u`; throws 404. */
export async function findUser(database: Database, reference: string, visible?: Sql): Promise<User> {
  const row = await database.one(
    sql`select ${userColumns} from users u where ${seenOnly(matchesReference('users', reference), visible)}`,
  )
  if (!row) throw notFound('user', reference)
  return toUser(row)
}

/** `name` is for the message. Throws 409 `user_inactive`. */
export function requireNotDeleted({ status }: { readonly status: string }, name: string): void {
  if (status === 'deleted') throw new ProblemError('user_inactive', `User ${name} is deleted.`)
}

/** Stores the email address of a user in their enrolments, by which the learners of a course are sorted. */
export async function writeEnrolledEmail(database: Database, id: string, email: string): Promise<void> {
  await database.run(sql`update enrollments set user_email = ${email} where user_id = ${id}`)
}

const read = recordReader<User>(calls.users.get, ['profile'])

export function toUser(row: Row): User {
  const user = read(row)
  return { ...user, profile: { ...emptyProfile, ...user.profile } }
}
