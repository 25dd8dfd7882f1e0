import sql from 'sql-template-tag'
import { CurrentUser, OwnInput, Password, type users } from '../contract/users.ts'
import { type Call, requireVersion, resourceOf } from './call.ts'
import { isObject, sameJson } from './json.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { invalid } from './problem-error.ts'
import { requireUnique } from './unique.ts'
import { endAccess } from './user-access.ts'
import { findUser, toUser } from './user-row.ts'

/** The signed-in user, with what the credential may do. */
export function getOwn({ database, principal }: Call): CurrentUser {
  const { scopes, method: authMethod, userId } = principal
  return { ...toUser(findUser(database, userId)), scopes: [...scopes], authMethod }
}

/**
 * The hash of a new password, once the current one is proven: before the transaction, because both take a tenth of
 * a second.
 */
export async function prepareOwn({ database, principal, rawBody }: Call): Promise<string | undefined> {
  if (!isObject(rawBody)) return undefined
  const [wanted, given] = [rawBody['password'], rawBody['currentPassword']].map((text) =>
    Password.safeParse(text),
  )
  if (!wanted?.success || !given?.success) return undefined
  const stored = database.one<{ password_hash: string | null }>(
    sql`select password_hash from users where id = ${principal.userId}`,
  )?.password_hash
  return stored && (await verifyPassword(given.data, stored)) ? hashPassword(wanted.data) : undefined
}

/** Changes what users may change about themselves; a new password takes the current one. */
export function updateOwn(call: Call<typeof users.updateProfile>): CurrentUser {
  const { database, now } = call
  const current = getOwn(call)
  const input = resourceOf(call, OwnInput, CurrentUser, current)
  requireVersion(call, current.version)
  const hash = typeof call.prepared === 'string' ? call.prepared : null
  if (input.password !== null && hash === null) {
    const detail = 'must be the current password; an admin can set one where there is none'
    throw invalid([{ pointer: '#/currentPassword', code: 'wrong_password', detail }])
  }
  requireUnique(database, 'users', { username: input.username }, current.id)
  const same = sameJson([input.username, input.profile], [current.username, current.profile])
  if (same && input.password === null) return current
  database.run(sql`
    update users set
      username = ${input.username}, profile = ${JSON.stringify(input.profile)},
      password_hash = coalesce(${hash}, password_hash),
      version = version + 1, updated_at = ${now}
    where id = ${current.id} and version = ${current.version}`)
  if (hash !== null) endAccess(database, current.id, now)
  return getOwn(call)
}
