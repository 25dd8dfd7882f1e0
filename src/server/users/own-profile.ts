import { isDeepStrictEqual } from 'node:util'
import sql from 'sql-template-tag'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { CurrentPassword, CurrentUser, OwnInput, Password, type users } from '../../contract/users.ts'
import { callerOf } from '../access/passwords.ts'
import { visibleRows } from '../access/sight.ts'
import { recordUpdate } from '../changes/change.ts'
import { requireUnique } from '../database/reference.ts'
import { userSearchKey } from '../database/search.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { resourceOf } from '../http/schema-routes.ts'
import { invalid, tooMany } from '../problem-error.ts'
import { endAccess, recordPassword } from './user-access.ts'
import { findUser } from './user-row.ts'

export async function getOwn({ database, principal }: Call): Promise<CurrentUser> {
  const { scopes, method: authMethod, userId } = principal
  return { ...(await findUser(database, userId)), scopes: [...scopes], authMethod }
}

/** `replaces` is the hash of the verified current password. */
interface NewPassword {
  readonly hash: NewPasswordHash
  readonly replaces: string
}

/**
 * Verifies the current password and hashes the new one, before the transaction, because both take a tenth of
 * a second. Attempts count as sign-ins, so that a stolen token cannot be used to guess the password.
 */
export async function prepareOwn(call: Call): Promise<NewPassword | undefined> {
  const { operation, database, principal, rawBody, signIns, passwords } = call
  if (!isJsonObject(rawBody)) return undefined
  const wanted = Password.safeParse(rawBody['password'])
  const given = CurrentPassword.safeParse(rawBody['currentPassword'])
  if (!wanted.success || !given.success) return undefined
  const stored = (
    await database.one<{ password_hash: string | null }>(
      sql`select password_hash from users where id = ${principal.userId}`,
    )
  )?.password_hash
  if (!stored) return undefined
  const attempt = [`${principal.userId} ${principal.credential}`]
  const waitSeconds = await signIns.begin(attempt)
  if (waitSeconds > 0) throw tooMany('attempts to change the password', waitSeconds)
  const caller = callerOf(call)
  if (!(await passwords.verify(caller, given.data, stored))) {
    const details = { operation: operation.id, code: 'wrong_password' }
    const subjectId = principal.userId
    await call.recordRefusal({ action: 'request.refused', actor: principal, subjectId, details })
    return undefined
  }
  await signIns.forgive(attempt)
  return { hash: await passwords.hash(caller, wanted.data), replaces: stored }
}

/** The fields that users may change about themselves; a new password requires the current one. */
export async function updateOwn(call: Call<typeof users.updateProfile>): Promise<CurrentUser> {
  const { database, now } = call
  const current = await getOwn(call)
  const prepared = call.prepared as NewPassword | undefined
  const input = resourceOf(call, OwnInput, CurrentUser, current, commonPasswordFaults(prepared?.hash))
  requireVersion(call, current.version)
  const hash = await stillReplaces(call, prepared)
  if (input.password !== null && hash === null) {
    const detail = 'must be the current password; if you have none, an admin can set one'
    throw invalid([{ pointer: '#/currentPassword', code: 'wrong_password', detail }])
  }
  await requireUnique(database, 'users', { username: input.username }, current.id, visibleRows(call, 'users'))
  const same = isDeepStrictEqual([input.username, input.profile], [current.username, current.profile])
  if (same && input.password === null) return current
  await database.run(sql`
    update users set
      username = ${input.username}, profile = ${JSON.stringify(input.profile)},
      search_key = ${userSearchKey({ ...current, ...input })},
      password_hash = coalesce(${hash}, password_hash),
      version = version + 1, updated_at = ${now}
    where id = ${current.id} and version = ${current.version}`)
  const user = await getOwn(call)
  const { scopes, authMethod, ...before } = current
  const { scopes: _, authMethod: __, ...after } = user
  await recordUpdate(call, 'user', before, after)
  if (hash !== null) {
    await recordPassword(call, current.id)
    await endAccess(call, current.id)
  }
  return user
}

async function stillReplaces(
  { database, principal }: Call,
  prepared: NewPassword | undefined,
): Promise<string | null> {
  if (!prepared) return null
  const { hash = null, replaces } = prepared
  const same = await database.one(
    sql`select 1 from users where id = ${principal.userId} and password_hash = ${replaces}`,
  )
  return same ? hash : null
}

/** Null if it is too common; undefined if there is no valid password that the caller may set: hashing would be wasted. */
export type NewPasswordHash = string | null | undefined

export async function newPasswordHash(call: Call, body: unknown): Promise<NewPasswordHash> {
  if (!call.principal.scopes.includes('admin')) return undefined
  const password = Password.safeParse(isJsonObject(body) ? body['password'] : undefined)
  return password.success ? call.passwords.hash(callerOf(call), password.data) : undefined
}

export function commonPasswordFaults(hash: NewPasswordHash): Fault[] {
  if (hash !== null) return []
  const detail = 'must not be one of the most common passwords'
  return [{ pointer: '#/password', code: 'common_password', detail }]
}
