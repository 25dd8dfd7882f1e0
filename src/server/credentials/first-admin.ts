import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import { hashPassword, type PasswordCost } from '../access/password-hash.ts'
import { nowhere } from '../access/principal.ts'
import { digest } from '../access/secret.ts'
import { recordChange } from '../changes/change.ts'
import type { Writing } from '../changes/writing.ts'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import type { IdMaker } from '../database/id.ts'
import { recordPassword } from '../users/user-access.ts'

/** Letters and digits that are not easily confused: twenty of these 29 have 97 bits. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz346789'

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

/**
 * Sets a password for the first admin of an academy to sign in to the dashboard, if there is none. Undefined
 * if there is one, or if the first user is no longer an active admin. Of concurrent callers one succeeds.
 */
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

/** True if the first key was revoked because it could not be printed. */
export async function isKeyOwed(database: Database): Promise<boolean> {
  return (await database.one(sql`select 1 from settings where name = 'first_key_owed'`)) !== undefined
}

/** The next start of a server creates the key. */
export async function oweFirstKey(database: Database): Promise<void> {
  await database.run(
    sql`insert into settings (name, value) values ('first_key_owed', '1') on conflict do nothing`,
  )
}

/** In the transaction that creates the key; false if none was owed. */
export async function recordKeyGiven(database: Database): Promise<boolean> {
  return (await database.run(sql`delete from settings where name = 'first_key_owed'`)) > 0
}

/** Secrets that could not be printed. The next start creates new ones. */
export function takeBackFirstSecrets(
  academy: FirstAcademy,
  { key, email }: { key?: string | undefined; email?: string | undefined },
): Promise<void> {
  return academy.database.write(async (transaction) => {
    if (key !== undefined) {
      const gone = await transaction.all<Row & { id: string; user_id: string; name: string }>(
        sql`delete from api_keys where hash = ${digest(key)} returning id, user_id, name`,
      )
      for (const { id, user_id: userId, name } of gone) {
        const before = { id, userId, name }
        const writing = writingOf(academy, transaction, userId)
        await recordChange(writing, { action: 'key.revoked', id, before, after: null })
      }
      await oweFirstKey(transaction)
    }
    if (email === undefined) return
    const users = await transaction.all<Row & { id: string }>(
      sql`update users set password_hash = null where email_key = ${email.toLowerCase()} returning id`,
    )
    for (const { id } of users) await recordPassword(writingOf(academy, transaction, id), id)
  })
}

/** Writes as the admin whose secrets these are. */
function writingOf({ newId, now }: FirstAcademy, database: Transaction, userId: string): Writing {
  const principal = { userId, credential: 'local' }
  return { database, now: now().toISOString(), newId, principal, origin: nowhere }
}

/** Four groups of five, easy to copy by hand: `abcde-fghjk-mnpqr-stuvw`. */
function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}
