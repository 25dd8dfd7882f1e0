import { type KeySource, keyFile, keyPathOf, passingKey } from './key-file.ts'
import { type Sealing, sealingWith } from './sealing.ts'

/** Which academy it is whose secrets are sealed. */
export interface SealedAcademy {
  readonly path: string
  /** The database on PostgreSQL in place of the file; what it is does not matter here. */
  readonly postgres?: object | undefined
  /** True for an academy that goes with its process. */
  readonly temporary?: boolean | undefined
  /** The file of the key of an academy on PostgreSQL, which all its servers share. */
  readonly encryptionKeyFile?: string | undefined
}

/** Sealing with the key of an academy: beside its file, or where its servers on PostgreSQL have it. */
export function academySealing(academy: SealedAcademy): Sealing {
  return sealingWith(sourceOf(academy))
}

function sourceOf({ path, postgres, temporary, encryptionKeyFile }: SealedAcademy): KeySource | undefined {
  if (temporary) return passingKey()
  if (!postgres) return keyFile(keyPathOf(path))
  return encryptionKeyFile === undefined ? undefined : keyFile(encryptionKeyFile)
}
