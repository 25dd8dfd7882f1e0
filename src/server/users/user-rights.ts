import sql from 'sql-template-tag'
import type { User, UserInput } from '../../contract/users.ts'
import { type Call, isRole, requireAdmin } from '../http/handler.ts'
import { ProblemError } from '../problem/problem-error.ts'

/** Throws 403 where the caller cannot create this user: instructors create learners, without a password. */
export function requireMayCreate(call: Call, { role, password }: UserInput): void {
  if (role === 'admin') requireAdmin(call, 'Creating an admin')
  if (password !== null) requireAdmin(call, "Setting another user's password")
  if (role === 'learner' || isRole(call, 'admin')) return
  throw new ProblemError(
    'forbidden',
    `Role ${call.principal.role} can create learners only, not a user with role ${role}.`,
  )
}

/** Throws 403 where the change is not the caller's to make, 409 `last_admin` where nobody would be left to undo it. */
export async function requireMayChange(call: Call, current: User, input: UserInput): Promise<void> {
  // A batch that may create is not one that may change.
  if (!isRole(call, 'admin')) {
    throw new ProblemError('forbidden', `Role ${call.principal.role} cannot change user ${current.id}.`)
  }
  if (current.role === 'admin') requireAdmin(call, 'Changing an admin')
  if (input.role === 'admin') requireAdmin(call, 'Changing a role to admin')
  if (input.password !== null) requireAdmin(call, 'Setting a password without the current one')
  const loses = input.role !== 'admin' || input.status !== 'active'
  if (loses) await requireAnotherAdmin(call, current)
}

/** Throws 403 where an admin is deleted without the scope `admin`, 409 `last_admin` where nobody would be left. */
export async function requireMayDelete(call: Call, user: User): Promise<void> {
  if (user.role === 'admin') requireAdmin(call, 'Deleting an admin')
  await requireAnotherAdmin(call, user)
}

/** Throws 409 `last_admin` when this user is the only active admin. */
async function requireAnotherAdmin({ database }: Call, { id, email, role, status }: User): Promise<void> {
  if (role !== 'admin' || status !== 'active') return
  const other = await database.one(
    sql`select 1 from users where role = 'admin' and status = 'active' and id <> ${id} limit 1`,
  )
  if (other) return
  throw new ProblemError('last_admin', `User ${email} is the last active admin; create another admin first.`)
}
