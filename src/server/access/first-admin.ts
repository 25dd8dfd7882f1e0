import { randomInt } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { hashPassword } from './password.ts'

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
export async function makeFirstPassword(database: Database): Promise<FirstPassword | undefined> {
  const admin = database.one<Row & { id: string; email: string; waits: number }>(sql`
    select id, email, password_hash is null and role = 'admin' and status = 'active' as waits
    from users order by rowid limit 1`)
  if (!admin?.waits) return undefined
  const password = newPassword()
  // A tenth of a second, in which others are not to wait for the write lock.
  const hash = await hashPassword(password)
  const changed = await database.write(() =>
    database.run(
      sql`update users set password_hash = ${hash} where id = ${admin.id} and password_hash is null`,
    ),
  )
  return changed === 1 ? { email: admin.email, password } : undefined
}

/** Four groups of five, easy to copy by hand: `abcde-fghjk-mnpqr-stuvw`. */
function newPassword(): string {
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return Array.from({ length: 4 }, group).join('-')
}
