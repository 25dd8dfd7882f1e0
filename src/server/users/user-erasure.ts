import sql from 'sql-template-tag'
import type { User } from '../../contract/users.ts'
import type { Call } from '../http/handler.ts'

/**
 * Anonymises a user for good: what tells who it was is gone from the user, the keys and the kept answers; the ids
 * stay, so that courses keep their figures (GDPR Art. 17).
 */
export function eraseUser({ database, now }: Call, { id, email }: User): void {
  const address = `erased-${id.replace('_', '-')}@erased.invalid`
  database.run(sql`
    update users set
      external_id = null, email = ${address}, email_key = ${address}, username = null, status = 'deleted', profile = '{}',
      password_hash = null, managed_by = null, version = version + 1, updated_at = ${now}
    where id = ${id}`)
  database.run(sql`update api_keys set name = '' where user_id = ${id}`)
  database.run(sql`
    delete from idempotency
    where user_id = ${id} or instr(body, ${id}) > 0 or instr(lower(body), ${email.toLowerCase()}) > 0`)
}
