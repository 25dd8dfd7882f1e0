import sql from 'sql-template-tag'
import { isCredential } from '../../codec/credential-text.ts'
import type { Database, Row } from '../database/database.ts'
import { digest } from './secret.ts'

/** A key or grant, and whose it is. */
export interface ShownCredential {
  readonly userId: string
  readonly credential: string
}

/**
 * The key, or the grant of the token, that an Authorization header shows, also where it has expired or was revoked; undefined for what
 * never was one, or is no longer known.
 */
export async function shownCredential(
  database: Database,
  authorization: string | null,
): Promise<ShownCredential | undefined> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const isKey = isCredential('apiKey', token)
  if (!isKey && !isCredential('accessToken', token)) return undefined
  const hash = digest(token)
  const row = await database.one<Row & { id: string; user_id: string }>(
    isKey
      ? sql`select id, user_id from api_keys where hash = ${hash}`
      : sql`select g.id, g.user_id from access_tokens t join grants g on g.id = t.grant_id where t.hash = ${hash}`,
  )
  return row && { userId: row.user_id, credential: row.id }
}
