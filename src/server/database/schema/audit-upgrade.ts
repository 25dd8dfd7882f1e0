import { createHash, randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import {
  aboutLine,
  detailsText,
  type FormerEntries,
  firstHash,
  linkText,
  originText,
} from '../../../contract/audit-chain.ts'
import type { Database, Row } from '../database.ts'
import { type IdPrefix, timeOfId } from '../id.ts'

interface LinkedRow extends Row {
  readonly place: number
  readonly id: string
  readonly about_id: string | null
  readonly hash: string
}

/** Maximum rows in memory. */
const atOnce = 500
const saltBytes = 12

/**
 * Includes the subject of an entry in its hash from here on. Existing entries keep their hashes, which may have been
 * noted elsewhere: one more entry has a digest of their subjects and is linked in the new way. Entries that wait to
 * be linked follow it.
 */
export async function upgradeAuditLog(
  database: Database,
  { newId }: { newId: (prefix: IdPrefix) => string },
): Promise<void> {
  const digest = createHash('sha256')
  let last: { readonly place: number; readonly hash: string } = { place: 0, hash: firstHash }
  for (;;) {
    const rows = await database.all<LinkedRow>(sql`
      select place, id, about_id, hash from audit_entries where place > ${last.place} order by place limit ${atOnce}`)
    for (const { place, id, about_id: aboutId } of rows) digest.update(aboutLine({ place, id, aboutId }))
    const end = rows.at(-1)
    if (!end) break
    last = end
  }
  if (last.place > 0) await append(database, newId('aud'), last, digest.digest('hex'))
}

async function append(
  database: Database,
  id: string,
  last: { readonly place: number; readonly hash: string },
  digest: string,
): Promise<void> {
  const nothing = { userId: null, credential: null, subjectId: null, aboutId: null } as const
  const place = last.place + 1
  const action = 'audit_log.upgraded'
  const origin = originText({ originSalt: newSalt(), address: null, userAgent: null })
  const after = { entries: last.place, digest } satisfies FormerEntries
  const details = detailsText({
    ...{ detailsSalt: newSalt(), requestId: null, subjectName: null, before: null },
    after,
  })
  const [originDigest, detailsDigest] = [sha256(origin), sha256(details)]
  const entry = { ...nothing, place, id, at: timeOfId(id), action, originDigest, detailsDigest } as const
  const hash = sha256(linkText(last.hash, entry))
  await database.run(sql`
    insert into audit_entries (place, id, action, origin, origin_digest, details, details_digest, hash)
    values (${place}, ${id}, ${action}, ${origin}, ${originDigest}, ${details}, ${detailsDigest}, ${hash})`)
}

function newSalt(): string {
  return randomBytes(saltBytes).toString('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
