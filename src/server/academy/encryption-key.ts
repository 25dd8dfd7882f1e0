import { localPrincipal } from '../access/identify.ts'
import { nowhere } from '../access/principal.ts'
import { academySealing } from '../access/sealing.ts'
import { recordChange } from '../changes/change.ts'
import type { PostgresOptions } from '../database/postgres/reach-postgres.ts'
import { openAcademyFile, openAcademyOnPostgres } from './open-academy.ts'
import type { UpgradeWatch } from './upgrade-in-process.ts'

interface EncryptionKey {
  /** Returns why stored secrets cannot be decrypted; undefined if they can, or there are none. */
  readonly trouble: () => Promise<string | undefined>
  /** Allows a new key to replace this one; secrets sealed with it are lost. */
  readonly forget: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Throws DatabaseError. */
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
