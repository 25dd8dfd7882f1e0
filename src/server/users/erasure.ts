import sql, { join } from 'sql-template-tag'
import type { User } from '../../contract/users.ts'
import { eraseFromAudit } from '../changes/audit-entry.ts'
import { erasedAddress } from '../changes/row-changes.ts'
import { eraseSources } from '../changes/writing.ts'
import type { Database } from '../database/database.ts'
import { userSearchKey } from '../database/search.ts'
import { deleteMessagesAbout } from '../events/messages.ts'
import type { Call } from '../http/handler.ts'
import { deleteResponses } from '../http/idempotency.ts'
import { hintsOf, type Identifiers, identifiersOf } from './identifiers.ts'
import { writeEnrolledEmail } from './user-row.ts'

/**
 * Anonymises a user permanently: removes personal data from the user, the keys, the inbox, the audit log and
 * the stored responses. The ids stay, so that courses keep their figures (GDPR Art. 17).
 */
export async function eraseUser({ database, now }: Call, user: User): Promise<void> {
  const { id } = user
  // Before the audit log loses them.
  const identifiers = await identifiersOf(database, user)
  const address = erasedAddress(id)
  await database.run(sql`
    update users set
      external_id = null, email = ${address}, email_key = ${address}, username = null, status = 'deleted', profile = '{}',
      search_key = ${userSearchKey({ email: address, username: null, profile: {} })},
      password_hash = null, managed_by = null, version = version + 1, updated_at = ${now}
    where id = ${id}`)
  await writeEnrolledEmail(database, id, address)
  await database.run(sql`delete from group_members where user_id = ${id}`)
  await database.run(sql`delete from calendars where user_id = ${id}`)
  await eraseResults(database, id)
  await database.run(sql`delete from deleted_group_members where user_id = ${id}`)
  await deleteMessagesAbout(database, id)
  await eraseDeliveries(database, identifiers)
  await database.run(sql`update api_keys set name = '' where user_id = ${id}`)
  // External ids are personal data, too.
  await database.run(sql`delete from integration_mappings where target_id = ${id}`)
  await eraseFromAudit(database, id)
  const { emails, externalIds, usernames, names } = identifiers
  const inFileNames = [...emails, ...externalIds, ...usernames, ...names.filter((name) => name.length > 2)]
  for (const texts of inGroups(inFileNames)) await eraseSources(database, texts)
  await eraseResponses(database, identifiers)
}

/** Maximum texts of a statement, which searches for each of them. */
const maxTexts = 100

function* inGroups(texts: readonly string[]): Generator<string[]> {
  for (let index = 0; index < texts.length; index += maxTexts) yield texts.slice(index, index + maxTexts)
}

async function eraseResults(database: Database, id: string): Promise<void> {
  await database.run(sql`delete from results where grade_id in (select id from grades where user_id = ${id})`)
  await database.run(sql`
    delete from deleted_results where grade_id in (
      select id from deleted_grades where user_id = ${id})`)
}

/**
 * Erases what other systems sent about the user, also before the user was known by that key, and ignored
 * events.
 */
async function eraseDeliveries(database: Database, identifiers: Identifiers): Promise<void> {
  const named = [...inGroups(hintsOf(identifiers))].map((hints) => sql`learner_hint in (${join(hints)})`)
  for (const about of [sql`user_id = ${identifiers.id}`, ...named]) {
    await database.run(
      sql`update webhook_deliveries set body = null, detail = null, learner_hint = null where ${about}`,
    )
  }
}

/** Responses to the user, and those that contain their names or have them in their key. */
async function eraseResponses(
  database: Database,
  { id, emails, usernames, externalIds }: Identifiers,
): Promise<void> {
  const texts = [
    id,
    ...emails,
    ...usernames.flatMap((username) => [`username ${username} `, `"username":"${username}"`]),
    ...externalIds.flatMap((externalId) => {
      const text = JSON.stringify(externalId).slice(1, -1)
      return [`ext:${text}`, `externalId ${text} `, `"externalId":"${text}"`]
    }),
  ]
  for (const group of inGroups(texts)) await deleteResponses(database, group, sql`user_id = ${id}`)
}
