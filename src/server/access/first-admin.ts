import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Database, Row, Store } from '../database/database.ts'
import { hashPassword, type PasswordCost } from './password.ts'
import { digest } from './secret.ts'

/** Without those that are taken for one another; of 29 of them, twenty have 97 bits. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz346789'

/** A password that was made just now; it is nowhere else. */
export interface FirstPassword {
  readonly email: string
  readonly password: string
}

/**
 * Gives the first admin of an academy a password to sign in with at its dashboard, where there is none. Undefined
 * where there is one, or where the academy's first user is no active admin any more. Of two callers one gets it.
 */
export async function makeFirstPassword(
  database: Store,
  cost?: PasswordCost,
): Promise<FirstPassword | undefined> {
  const admin = await database.one<Row & { id: string; email: string; waits: number }>(sql`
    select id, email, password_hash is null and role = 'admin' and status = 'active' as waits
    from users where id = (select value from settings where name = 'first_user')`)
  if (!admin?.waits) return undefined
  const password = newPassword()
  // A tenth of a second by default, in which others are not to wait for the write lock.
  const hash = await hashPassword(password, cost)
  const changed = await database.write((transaction) =>
    transaction.run(
      sql`update users set password_hash = ${hash} where id = ${admin.id} and password_hash is null`,
    ),
  )
  return changed === 1 ? { email: admin.email, password } : undefined
}

/** True for an academy whose first key was taken back, because nobody was told it. */
export async function isKeyOwed(database: Database): Promise<boolean> {
  return (await database.one(sql`select 1 from settings where name = 'first_key_owed'`)) !== undefined
}

/** Has the next start of a server make a first key. */
export async function oweFirstKey(database: Database): Promise<void> {
  await database.run(
    sql`insert into settings (name, value) values ('first_key_owed', '1') on conflict do nothing`,
  )
}

/** Notes that there is a first key now, inside the transaction that makes it. False where none was owed. */
export async function keyGiven(database: Database): Promise<boolean> {
  return (await database.run(sql`delete from settings where name = 'first_key_owed'`)) > 0
}

/**
 * Takes back what was made for the first admin and could not be told: nobody could use the key, and nobody would know
 * of it. The next start makes both anew.
 */
export function takeBackFirstSecrets(
  database: Store,
  { key, email }: { key?: string | undefined; email?: string | undefined },
): Promise<void> {
  return database.write(async (transaction) => {
    if (key !== undefined) {
      await transaction.run(sql`delete from api_keys where hash = ${digest(key)}`)
      await oweFirstKey(transaction)
    }
    if (email === undefined) return
    await transaction.run(sql`update users set password_hash = null where email_key = ${email.toLowerCase()}`)
  })
}

/** Four groups of five, easy to copy by hand: `abcde-fghjk-mnpqr-stuvw`. */
function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}
