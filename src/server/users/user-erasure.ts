import sql, { join } from 'sql-template-tag'
import type { User } from '../../contract/users.ts'
import { keyHint } from '../../webhooks/payload-learner.ts'
import { eraseFromAudit } from '../audit/erasure.ts'
import { forgetAnswers } from '../database/kept-answers.ts'
import { userSearchKey } from '../database/stored-keys.ts'
import type { Call } from '../http/handler.ts'
import { forgetMessages } from '../outbox/in-hand.ts'
import { writeEnrolledEmail } from './user-row.ts'

/**
 * Anonymises a user for good: what tells who it was is gone from the user, the keys, the inbox, the audit log and the kept
 * answers; the ids stay, so that courses keep their figures (GDPR Art. 17).
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
  await writeEnrolledEmail(database, id, address)
  await forgetMessages(database, id)
  await forgetDeliveries(call, user)
  await database.run(sql`update api_keys set name = '' where user_id = ${id}`)
  // What other systems call the user is theirs as well.
  await database.run(sql`delete from integration_mappings where target_id = ${id}`)
  await eraseFromAudit(database, id)
  await forgetAnswersTo(call, user)
}

/** More keys of other systems than anybody has. */
const mostKeys = 1000

/** What other systems sent about the user, also before anybody here was known by what they call them, and what means nothing. */
async function forgetDeliveries({ database }: Call, { id, email, externalId }: User): Promise<void> {
  const keys = await database.all<{ lms_kind: string; external_key: string }>(sql`
    select lms_kind, external_key from integration_mappings where target_id = ${id} limit ${mostKeys}`)
  const hints = [
    ...[`email:${email.toLowerCase()}`, email],
    ...(externalId === null ? [] : [`ext:${externalId}`, externalId]),
    ...keys.map(({ lms_kind: kind, external_key: key }) => keyHint(kind, key)),
  ]
  for (const about of [sql`user_id = ${id}`, sql`learner_hint in (${join([id, ...hints])})`]) {
    await database.run(
      sql`update webhook_deliveries set body = null, detail = null, learner_hint = null where ${about}`,
    )
  }
}

/** Deletes the kept answers that the user got, and those in which the user is named or whose key is made of such a name. */
async function forgetAnswersTo({ database }: Call, { id, email, username, externalId }: User): Promise<void> {
  const texts = [
    id,
    email,
    ...(username === null ? [] : [`username ${username} `, `"username":"${username}"`]),
  ]
  // As it stands in JSON.
  const quoted = externalId === null ? [] : [JSON.stringify(externalId).slice(1, -1)]
  const external = quoted.flatMap((text) => [`ext:${text}`, `externalId ${text} `, `"externalId":"${text}"`])
  await forgetAnswers(database, [...texts, ...external], sql`user_id = ${id}`)
}
