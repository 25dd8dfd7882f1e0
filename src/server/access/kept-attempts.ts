import sql from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { fingerprint, hmacKeyOf } from './secret.ts'

/** Where the attempts under one name are kept. */
export interface Place {
  readonly slot: number
  /** An HMAC, so that the table names nobody: some are erased, and most of what is tried never was anybody's. */
  readonly name: string
}

/** What is kept of the attempts under one name. */
export interface KeptAttempts {
  readonly place: Place
  /** Those that failed. */
  readonly failures: number
  /** From when on another may be made, in milliseconds of the epoch. */
  readonly nextMs: number
}

interface AttemptRow extends Row {
  readonly failures: number
  readonly next_at: string
}

/** How long after their last delay attempts still count. */
export const rememberedMs = 60 * 60 * 1000

/**
 * Rows that the table may have, about 8 MB: a name whose place is taken takes it over. Which names share one depends on
 * the academy's own key: nobody can choose a name that takes the place of another's.
 */
const mostRows = 65_536

/** What is kept under a name; no failures and no delay where there is nothing. */
export async function keptAs(database: Database, name: string, nowMs: number): Promise<KeptAttempts> {
  const place = await placeOf(database, name)
  const row = await database.one<AttemptRow>(
    sql`select failures, next_at from attempts where slot = ${place.slot} and name = ${place.name}`,
  )
  return { place, failures: row?.failures ?? 0, nextMs: row ? Date.parse(row.next_at) : nowMs }
}

/** Keeps this in the place of what was there. */
export async function keep(database: Database, { place, failures, nextMs }: KeptAttempts): Promise<void> {
  await database.run(sql`
    insert into attempts (slot, name, failures, next_at)
    values (${place.slot}, ${place.name}, ${failures}, ${new Date(nextMs).toISOString()})
    on conflict (slot) do update set
      name = excluded.name, failures = excluded.failures, next_at = excluded.next_at`)
}

/** Keeps nothing under this name any more. */
export async function forget(database: Database, name: string): Promise<void> {
  const place = await placeOf(database, name)
  await database.run(sql`delete from attempts where slot = ${place.slot} and name = ${place.name}`)
}

async function placeOf(database: Database, name: string): Promise<Place> {
  const print = fingerprint(await hmacKeyOf(database), Buffer.from(name))
  return { slot: Buffer.from(print, 'base64url').readUInt32BE() % mostRows, name: print }
}
