import sql, { join } from 'sql-template-tag'
import type { User } from '../../contract/users.ts'
import { keyHint } from '../../lms/payload-learner.ts'
import { eraseFromAudit } from '../audit/erasure.ts'
import { userSearchKey } from '../database/search.ts'
import { deleteMessagesAbout } from '../events/subject-index.ts'
import type { Call } from '../http/handler.ts'
import { forgetAnswers } from '../http/idempotency.ts'
import { writeEnrolledEmail } from './user-row.ts'

/**
 * Anonymises a user permanently: removes personal data from the user, the keys, the inbox, the audit log and
 * the stored responses. The ids stay, so that courses keep their figures (GDPR Art. 17).
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
  await deleteMessagesAbout(database, id)
  await forgetDeliveries(call, user)
  await database.run(sql`update api_keys set name = '' where user_id = ${id}`)
  // External ids are personal data, too.
  await database.run(sql`delete from integration_mappings where target_id = ${id}`)
  await eraseFromAudit(database, id)
  await forgetAnswersTo(call, user)
}

/** Maximum external keys of a user. */
const maxKeys = 1000

/**
 * Erases what other systems sent about the user, also before the user was known by that key, and ignored
 * events.
 */
async function forgetDeliveries({ database }: Call, { id, email, externalId }: User): Promise<void> {
  const keys = await database.all<{ lms_kind: string; external_key: string }>(sql`
    select lms_kind, external_key from integration_mappings where target_id = ${id} limit ${maxKeys}`)
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

/**
 * Deletes stored responses to the user, and those that contain the user's names or have them in their key.
 */
async function forgetAnswersTo({ database }: Call, { id, email, username, externalId }: User): Promise<void> {
  const texts = [
    id,
    email,
    ...(username === null ? [] : [`username ${username} `, `"username":"${username}"`]),
  ]
  // In the form that JSON has.
  const quoted = externalId === null ? [] : [JSON.stringify(externalId).slice(1, -1)]
  const external = quoted.flatMap((text) => [`ext:${text}`, `externalId ${text} `, `"externalId":"${text}"`])
  await forgetAnswers(database, [...texts, ...external], sql`user_id = ${id}`)
}
