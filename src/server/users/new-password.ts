import { isJsonObject } from '../../codec/json-object.ts'
import type { Fault } from '../../contract/errors.ts'
import { Password } from '../../contract/users.ts'
import { callerOf } from '../access/passwords.ts'
import type { Call } from '../http/handler.ts'

/**
 * A new password as it is stored, null where it is too common; undefined where there is none that can be set: what is
 * no password, or not the caller's to set, is refused later on, and hashing it would be work for nothing.
 */
export type NewPasswordHash = string | null | undefined

/** Hashes the password in a body that sets another user's. */
export async function newPasswordHash(call: Call, body: unknown): Promise<NewPasswordHash> {
  if (!call.principal.scopes.includes('admin')) return undefined
  const password = Password.safeParse(isJsonObject(body) ? body['password'] : undefined)
  return password.success ? call.passwords.hash(callerOf(call), password.data) : undefined
}

/** What is wrong with a new password that is too common. */
export function commonPasswordFaults(hash: NewPasswordHash): Fault[] {
  if (hash !== null) return []
  const detail = 'must not be one of the most common passwords'
  return [{ pointer: '#/password', code: 'common_password', detail }]
}
