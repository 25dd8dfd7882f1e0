import { localPrincipal } from '../access/identify.ts'
import { nowhere } from '../access/principal.ts'
import {
  type FirstAcademy,
  type FirstPassword,
  isKeyOwed,
  makeFirstPassword,
  recordKeyGiven,
  takeBackFirstSecrets,
} from './first-admin.ts'
import { addYear, createKey } from './keys.ts'

/** Created at the start of a server for the first admin, to be printed once. */
export interface FirstSecrets {
  /** Undefined unless the academy is new or a key was requested; not stored. */
  readonly firstKey: string | undefined
  /** Undefined unless requested and just created; not stored. */
  readonly firstPassword: FirstPassword | undefined
  /** Both could not be printed; the next start creates new ones. */
  readonly takeBack: () => Promise<void>
}

/** Only those that do not exist; also a key if the previous one was revoked unprinted. */
export async function makeFirstSecrets(
  academy: FirstAcademy,
  wanted: { readonly password: boolean; readonly key: boolean },
): Promise<FirstSecrets> {
  const { database } = academy
  const firstPassword = wanted.password ? await makeFirstPassword(academy) : undefined
  const firstKey =
    wanted.key || (await isKeyOwed(database)) ? await makeAdminKey(academy, wanted.key) : undefined
  const takeBack = () => takeBackFirstSecrets(academy, { key: firstKey, email: firstPassword?.email })
  return { firstKey, firstPassword, takeBack }
}

/**
 * Creates a key if it was requested, or is owed: then by one of several servers that start at the same time.
 */
async function makeAdminKey(
  { database, now, newId }: FirstAcademy,
  isWanted: boolean,
): Promise<string | undefined> {
  const principal = await localPrincipal(database)
  const { userId, scopes } = principal
  const time = now().toISOString()
  const key = { name: 'first key', userId, scopes, expiresAt: addYear(time) }
  return database.write(async (transaction) => {
    const wasOwed = await recordKeyGiven(transaction)
    if (!isWanted && !wasOwed) return undefined
    const call = { database: transaction, now: time, newId, principal, origin: nowhere }
    const made = await createKey(call, key)
    return made.key ?? undefined
  })
}
