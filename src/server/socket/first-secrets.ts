import { localPrincipal } from '../access/identify.ts'
import { nowhere } from '../access/principal.ts'
import {
  type FirstAcademy,
  type FirstPassword,
  isKeyOwed,
  keyGiven,
  makeFirstPassword,
  takeBackFirstSecrets,
} from '../credentials/first-admin.ts'
import { aYearAfter, createKey } from '../credentials/keys.ts'

/** What the start of a server makes for the first admin, to be told once. */
export interface FirstSecrets {
  /** The admin's key, where the academy was made just now or a key was asked for; it is nowhere else. */
  readonly firstKey: string | undefined
  /** The first admin's password, where one was asked for and made just now; it is nowhere else. */
  readonly firstPassword: FirstPassword | undefined
  /** Makes both void, which could not be told: the next start makes others. */
  readonly takeBack: () => Promise<void>
}

/** Makes what is wanted, where there is none; a key also where the last one was taken back. */
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

/** One that nobody wants is made where it is still owed: of several servers that start at once, by one. */
async function makeAdminKey(
  { database, now, newId }: FirstAcademy,
  isWanted: boolean,
): Promise<string | undefined> {
  const principal = await localPrincipal(database)
  const { userId, scopes } = principal
  const time = now().toISOString()
  const key = { name: 'first key', userId, scopes, expiresAt: aYearAfter(time) }
  return database.write(async (transaction) => {
    const wasOwed = await keyGiven(transaction)
    if (!isWanted && !wasOwed) return undefined
    const call = { database: transaction, now: time, newId, principal, origin: nowhere }
    const made = await createKey(call, key)
    return made.key ?? undefined
  })
}
