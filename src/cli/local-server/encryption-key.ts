import { existsSync } from 'node:fs'
import { isDatabaseUrl } from '../../codec/database-url.ts'

/** The key file of an academy in a file, beside it; null where it has none, because no secret was stored. */
export function encryptionKeyOf(database: string): string | null {
  const path = `${database}.key`
  return !isDatabaseUrl(database) && existsSync(path) ? path : null
}
