import sql from 'sql-template-tag'
import { academySealing } from '../access/sealing.ts'
import { backUp } from '../database/sqlite/backup.ts'
import { openAcademyFile } from './open-academy.ts'
import type { UpgradeWatch } from './upgrade-in-process.ts'

/**
 * Copies the academy in a file to a new file and upgrades the copy. Nothing of the copy reaches other systems: its webhook
 * endpoints are disabled, and secrets of other systems cannot be decrypted. Throws DatabaseError.
 */
export async function copyForTests({
  from,
  to,
  now,
  watch,
}: {
  readonly from: string
  readonly to: string
  readonly now: () => Date
  readonly watch?: UpgradeWatch | undefined
}): Promise<void> {
  await backUp(from, to)
  const { database } = await openAcademyFile(to, now, { watch, temporary: true, mustExist: true })
  const sealing = academySealing({ path: to, temporary: true })
  await database
    .write(async (transaction) => {
      await sealing.forget(transaction)
      // With these conditions both statements use an index.
      await transaction.run(sql`delete from webhook_subscriptions where pattern >= ''`)
      await transaction.run(sql`
        update webhook_endpoints set status = 'disabled' where created_at >= '' and status = 'active'`)
    })
    .finally(() => database.close())
}
