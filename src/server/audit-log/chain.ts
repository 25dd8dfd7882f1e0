import sql from 'sql-template-tag'
import { lastLink } from '../audit/append.ts'
import type { Database, Row } from '../database/database.ts'

/** So many entries that wait are counted. */
export const maxWaiting = 1_000

/** How far the audit log is linked. */
export interface Chain {
  /** How many entries are linked to each other. */
  readonly linked: number
  /** The hash of the last of them. */
  readonly hash: string
  /** How many wait to be linked; more than `maxWaiting` are not counted. */
  readonly waiting: number
}

/** How far the audit log is linked. */
export async function chainOf(database: Database): Promise<Chain> {
  const { place, hash } = await lastLink(database)
  const row = await database.one<Row & { waiting: number }>(sql`
    select count(*) as waiting from (select 1 from audit_entries where place < 0 limit ${maxWaiting + 1}) waiting`)
  return { linked: place, hash, waiting: row?.waiting ?? 0 }
}
