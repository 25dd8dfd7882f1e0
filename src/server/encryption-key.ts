import { openAcademyFile, openAcademyOnPostgres } from './academy.ts'
import { localPrincipal } from './access/identify.ts'
import { nowhere } from './access/principal.ts'
import { recordChange } from './changes/change.ts'
import type { PostgresOptions } from './database/postgres/reach-postgres.ts'
import { academySealing } from './sealing/academy-sealing.ts'
import type { UpgradeWatch } from './upgrade/upgrade-watch.ts'

/** The encryption key of an academy, for whoever replaces it. */
export interface EncryptionKey {
  /** Why stored secrets cannot be opened; undefined where they can, or there are none. */
  readonly trouble: () => Promise<string | undefined>
  /** Lets a new key take the place of this one, with which what it sealed is lost. */
  readonly forget: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The key of the academy in a file, or on PostgreSQL with the key in a file of its own. Throws DatabaseError. */
export async function openEncryptionKey(options: {
  readonly path: string
  readonly now: () => Date
  readonly watch?: UpgradeWatch | undefined
  readonly postgres?: PostgresOptions | undefined
  readonly encryptionKeyFile?: string | undefined
}): Promise<EncryptionKey> {
  const { path, now, watch, postgres } = options
  const { database, newId } = await (postgres
    ? openAcademyOnPostgres({ ...postgres, mustExist: true }, now)
    : openAcademyFile(path, now, { watch, mustExist: true }))
  const sealing = academySealing(options)
  return {
    trouble: () => database.read((view) => sealing.trouble(view)),
    async forget() {
      await database.write(async (transaction) => {
        const before = await sealing.forget(transaction)
        const principal = await localPrincipal(transaction)
        const call = { database: transaction, now: now().toISOString(), newId, principal, origin: nowhere }
        const change = { action: 'encryption_key.replaced', id: before.keyId, before, after: null } as const
        await recordChange(call, change)
      })
    },
    close: () => database.close(),
  }
}
