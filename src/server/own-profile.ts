import sql from 'sql-template-tag'
import { type CurrentUser, OwnInput, User, type users } from '../contract/users.ts'
import { type Call, requireVersion, resourceOf } from './call.ts'
import { isObject, sameJson } from './json.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { invalid } from './problem-error.ts'
import { requireUnique } from './unique.ts'
import { findUser, toUser } from './user-row.ts'

interface Prepared {
  readonly hash: string
  readonly proven: boolean
}

/** The signed-in user, with what the credential may do. */
export function getOwn({ database, principal }: Call): CurrentUser {
  const { scopes, method: authMethod, userId } = principal
  return { ...toUser(findUser(database, userId)), scopes: [...scopes], authMethod }
}

/** Hashes a new password and checks the current one, before the transaction: both take a tenth of a second. */
export async function prepareOwn({ database, principal, rawBody }: Call): Promise<Prepared | undefined> {
  if (!isObject(rawBody)) return undefined
  const { password, currentPassword } = rawBody
  if (typeof password !== 'string' || password.length > 256) return undefined
  const stored = database.one<{ password_hash: string | null }>(
    sql`select password_hash from users where id = ${principal.userId}`,
  )?.password_hash
  const proven =
    typeof stored === 'string' &&
    typeof currentPassword === 'string' &&
    currentPassword.length <= 256 &&
    (await verifyPassword(currentPassword, stored))
  return { hash: await hashPassword(password), proven }
}

/** Changes what users may change about themselves; a new password takes the current one. */
export function updateOwn(call: Call<typeof users.updateProfile>): CurrentUser {
  const { database, principal, now } = call
  const current = toUser(findUser(database, principal.userId))
  const input = resourceOf(call, OwnInput, User, current)
  requireVersion(call, current.version)
  const prepared = call.prepared as Prepared | undefined
  if (input.password !== null && !prepared?.proven) {
    const detail = 'must be the current password; an admin can set one where there is none'
    throw invalid([{ pointer: '#/currentPassword', code: 'wrong_password', detail }])
  }
  requireUnique(database, 'users', { username: input.username }, current.id)
  const same = sameJson([input.username, input.profile], [current.username, current.profile])
  if (same && input.password === null) return getOwn(call)
  database.run(sql`
    update users set
      username = ${input.username}, profile = ${JSON.stringify(input.profile)},
      password_hash = ${input.password === null ? sql`password_hash` : sql`${prepared?.hash ?? null}`},
      version = version + 1, updated_at = ${now}
    where id = ${current.id} and version = ${current.version}`)
  return getOwn(call)
}
