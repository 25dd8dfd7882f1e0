import sql from 'sql-template-tag'
import type { Database, Row, Store } from '../database/database.ts'
import { fingerprint, hmacKeyOf } from './secret.ts'

/** Counts attempts at secrets. Each name has its own delay, which grows with every failure. */
export interface Attempts {
  /** Counts a failure under all these names, until it is forgiven. Returns the seconds to wait, 0 for none. */
  begin(names: readonly string[]): Promise<number>
  forgive(names: readonly string[]): Promise<void>
}

const withoutDelay = 5
const maxDelaySeconds = 15 * 60

/**
 * Counts attempts in the database, so that several servers share the counts and a restart keeps them: five
 * without delay, then one after a second, two, four and so on, up to a quarter of an hour. An attempt that is
 * too early is not counted.
 */
export function createAttempts(database: Pick<Store, 'write'>, now: () => Date): Attempts {
  return {
    begin: (names) =>
      database.write(async (transaction) => {
        const nowMs = now().getTime()
        const known = []
        for (const name of names) known.push(await readAttempts(transaction, name, nowMs))
        const waitMs = Math.max(...known.map(({ nextMs }) => nextMs)) - nowMs
        if (waitMs > 0) return Math.ceil(waitMs / 1000)
        for (const { place, failures, nextMs } of known) {
          const count = nowMs - nextMs < maxAttemptAgeMs ? failures + 1 : 1
          await storeAttempts(transaction, { place, failures: count, nextMs: nowMs + delayMs(count) })
        }
        return 0
      }),
    forgive: (names) =>
      database.write(async (transaction) => {
        for (const name of names) await deleteAttempts(transaction, name)
      }),
  }
}

function delayMs(failures: number): number {
  return failures < withoutDelay ? 0 : Math.min(maxDelaySeconds, 2 ** (failures - withoutDelay)) * 1000
}

interface AttemptKey {
  readonly slot: number
  /** An HMAC, so that the table contains no names: some users are erased, and most guesses are not users. */
  readonly name: string
}

interface StoredAttempts {
  readonly place: AttemptKey
  readonly failures: number
  /** Milliseconds since 1970. */
  readonly nextMs: number
}

interface AttemptRow extends Row {
  readonly failures: number
  readonly next_at: string
}

/** Counted from the end of the last delay. */
const maxAttemptAgeMs = 60 * 60 * 1000

/**
 * About 8 MB. Names with the same slot replace each other; it depends on the academy's own key, so that an attacker
 * cannot choose a name that replaces another one.
 */
const maxRows = 65_536

export async function readAttempts(database: Database, name: string, nowMs: number): Promise<StoredAttempts> {
  const place = await placeOf(database, name)
  const row = await database.one<AttemptRow>(
    sql`select failures, next_at from attempts where slot = ${place.slot} and name = ${place.name}`,
  )
  return { place, failures: row?.failures ?? 0, nextMs: row ? Date.parse(row.next_at) : nowMs }
}

export async function storeAttempts(
  database: Database,
  { place, failures, nextMs }: StoredAttempts,
): Promise<void> {
  await database.run(sql`
    insert into attempts (slot, name, failures, next_at)
    values (${place.slot}, ${place.name}, ${failures}, ${new Date(nextMs).toISOString()})
    on conflict (slot) do update set
      name = excluded.name, failures = excluded.failures, next_at = excluded.next_at`)
}

async function deleteAttempts(database: Database, name: string): Promise<void> {
  const place = await placeOf(database, name)
  await database.run(sql`delete from attempts where slot = ${place.slot} and name = ${place.name}`)
}

async function placeOf(database: Database, name: string): Promise<AttemptKey> {
  const print = fingerprint(await hmacKeyOf(database), Buffer.from(name))
  return { slot: Buffer.from(print, 'base64url').readUInt32BE() % maxRows, name: print }
}
