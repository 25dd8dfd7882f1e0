import { fileKeySource, type KeySource, keyPathOf, memoryKeySource } from './key-file.ts'
import { createSealing, type Sealing } from './sealing.ts'

/** The academy whose secrets are sealed. */
export interface SealedAcademy {
  readonly path: string
  /** Set for an academy on PostgreSQL. */
  readonly postgres?: object | undefined
  /** True for an academy that ends with its process. */
  readonly temporary?: boolean | undefined
  /** Key file of an academy on PostgreSQL, which all its servers share. */
  readonly encryptionKeyFile?: string | undefined
}

/**
 * Creates the sealing with the key of an academy: beside its file, or in the key file of its servers on
 * PostgreSQL.
 */
export function academySealing(academy: SealedAcademy): Sealing {
  return createSealing(sourceOf(academy))
}

function sourceOf({ path, postgres, temporary, encryptionKeyFile }: SealedAcademy): KeySource | undefined {
  if (temporary) return memoryKeySource()
  if (!postgres) return fileKeySource(keyPathOf(path))
  return encryptionKeyFile === undefined ? undefined : fileKeySource(encryptionKeyFile)
}
