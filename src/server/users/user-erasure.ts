import sql, { join } from 'sql-template-tag'
import type { User } from '../../contract/users.ts'
import { contains } from '../database/search.ts'
import { userSearchKey } from '../database/stored-keys.ts'
import type { Call } from '../http/handler.ts'

/**
 * Anonymises a user for good: what tells who it was is gone from the user, the keys and the kept answers; the ids
 * stay, so that courses keep their figures (GDPR Art. 17).
 */
export async function eraseUser(call: Call, user: User): Promise<void> {
  const { database, now } = call
  const { id } = user
  const address = `erased-${id.replace('_', '-')}@erased.invalid`
  await database.run(sql`
    update users set
      external_id = null, email = ${address}, email_key = ${address}, username = null, status = 'deleted', profile = '{}',
      search_key = ${userSearchKey({ email: address, username: null, profile: {} })},
      password_hash = null, managed_by = null, version = version + 1, updated_at = ${now}
    where id = ${id}`)
  await database.run(sql`update api_keys set name = '' where user_id = ${id}`)
  await forgetAnswers(call, user)
}

/** Deletes the kept answers that the user got, and those in which the user is named or whose key is made of such a name. */
async function forgetAnswers({ database }: Call, { id, email, username, externalId }: User): Promise<void> {
  const texts = [
    id,
    email,
    ...(username === null ? [] : [`username ${username} `, `"username":"${username}"`]),
  ]
  // As it stands in JSON.
  const quoted = externalId === null ? [] : [JSON.stringify(externalId).slice(1, -1)]
  const external = quoted.flatMap((text) => [`ext:${text}`, `externalId ${text} `, `"externalId":"${text}"`])
  const named = [...texts, ...external].map((text) => contains(sql`text`, text.toLowerCase()))
  const folded = database.dialect.folded(sql`coalesce(body, '') || key`)
  // All that were kept have to be looked through. With a limit, each is made lower case once, not for each name.
  await database.run(sql`
    delete from idempotency where (user_id, method, path, key) in (
      select user_id, method, path, key
      from (select *, ${folded} as text from idempotency limit ${Number.MAX_SAFE_INTEGER}) kept
      where user_id = ${id} or ${join(named, ' or ')})`)
}
