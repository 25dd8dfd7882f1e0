import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import { localPrincipal } from '../access/identify.ts'
import { hashPassword, type PasswordCost } from '../access/password-hash.ts'
import { nowhere } from '../access/principal.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import type { IdMaker } from '../database/id.ts'
import { recordPassword } from '../users/user-access.ts'
import { addYear, createKey } from './keys.ts'

/** Just generated and not stored. */
export interface FirstPassword {
  readonly email: string
  readonly password: string
}

export interface FirstAcademy {
  readonly database: Store
  readonly now: () => Date
  readonly newId: IdMaker
  readonly passwordCost?: PasswordCost | undefined
}

export interface FirstSecrets {
  /** Undefined unless the academy is new or a key was requested; not stored. */
  readonly firstKey: string | undefined
  /** Undefined unless requested and just created; not stored. */
  readonly firstPassword: FirstPassword | undefined
}

/** Only those that do not exist; also a key if the academy was reset. */
export async function makeFirstSecrets(
  academy: FirstAcademy,
  wanted: { readonly password: boolean; readonly key: boolean },
): Promise<FirstSecrets> {
  const { database } = academy
  const firstPassword = wanted.password ? await makeFirstPassword(academy) : undefined
  const firstKey =
    wanted.key || (await isKeyOwed(database)) ? await makeAdminKey(academy, wanted.key) : undefined
  return { firstKey, firstPassword }
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

/** Undefined if there is one, or if the first user is no longer an active admin. Of concurrent callers one succeeds. */
export async function makeFirstPassword(academy: FirstAcademy): Promise<FirstPassword | undefined> {
  const { database, passwordCost } = academy
  const admin = await database.one<Row & { id: string; email: string; waits: number }>(sql`
    select id, email, password_hash is null and role = 'admin' and status = 'active' as waits
    from users where id = (select value from settings where name = 'first_user')`)
  if (!admin?.waits) return undefined
  const password = newPassword()
  // Hash outside the transaction: it takes a tenth of a second, during which other writes would wait.
  const hash = await hashPassword(password, passwordCost)
  const changed = await database.write(async (transaction) => {
    const rows = await transaction.run(
      sql`update users set password_hash = ${hash} where id = ${admin.id} and password_hash is null`,
    )
    if (rows === 1) await recordPassword(writingOf(academy, transaction, admin.id), admin.id)
    return rows
  })
  return changed === 1 ? { email: admin.email, password } : undefined
}

async function isKeyOwed(database: Database): Promise<boolean> {
  return (await database.one(sql`select 1 from settings where name = 'first_key_owed'`)) !== undefined
}

export async function oweFirstKey(database: Database): Promise<void> {
  await database.run(
    sql`insert into settings (name, value) values ('first_key_owed', '1') on conflict do nothing`,
  )
}

/** In the transaction that creates the key; false if none was owed. */
async function recordKeyGiven(database: Database): Promise<boolean> {
  return (await database.run(sql`delete from settings where name = 'first_key_owed'`)) > 0
}

function writingOf({ newId, now }: FirstAcademy, database: Transaction, userId: string): Writing {
  const principal = { userId, credential: 'local' }
  return { database, now: now().toISOString(), newId, principal, origin: nowhere }
}

/** Letters and digits that are not easily confused: twenty of these 29 have 97 bits. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz346789'

/** `abcde-fghjk-mnpqr-stuvw`, easy to copy by hand. */
function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}
