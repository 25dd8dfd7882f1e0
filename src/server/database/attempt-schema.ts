import sql from 'sql-template-tag'

/**
 * Attempts at passwords and codes, by the HMAC of whose they are. A row for each `slot`, of which there are only so many;
 * `next_at` is when another attempt may be made.
 */
export const attemptSchema = [
  sql`create table attempts (
    slot integer primary key,
    name text not null,
    failures integer not null,
    next_at text not null
  ) strict`,
  sql`create index attempts_by_next_at on attempts (next_at)`,
]
