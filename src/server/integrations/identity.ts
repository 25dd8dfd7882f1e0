import sql, { join, type Sql } from 'sql-template-tag'
import type { MappedNoun } from '../../contract/integration-choices.ts'
import type { Database, Row } from '../database/database.ts'
import { resolve } from '../database/reference.ts'

/**
 * What another system calls a course or a user: by a key that a mapping may have (`key`), by the school's own id
 * (`externalId`), by an e-mail address, or by a reference as the API takes it.
 */
export interface Candidate {
  readonly by: 'key' | 'externalId' | 'email' | 'reference'
  readonly value: string
}

/** More names than any system sends for one thing. */
const maximumCandidates = 16

/**
 * The id of the course or user that another system means; undefined where nothing here answers to it. A mapping counts
 * before everything else, also where it leads to what was deleted: then nothing is found. Deleted users are never found, nor
 * are courses in the trash.
 *
 * @param candidates in the order in which they count
 */
export async function resolveIdentity(
  database: Database,
  kind: string,
  noun: MappedNoun,
  candidates: readonly Candidate[],
): Promise<string | undefined> {
  const known = candidates.slice(0, maximumCandidates)
  const mapped = await mappedId(
    database,
    kind,
    noun,
    known.filter(({ by }) => by === 'key').map(({ value }) => value),
  )
  if (mapped !== undefined) return living(database, noun, sql`id = ${mapped}`)
  for (const { by, value } of known) {
    const found = by === 'key' ? undefined : await idBy(database, noun, { by, value })
    if (found !== undefined) return found
  }
  return undefined
}

async function mappedId(
  database: Database,
  kind: string,
  noun: MappedNoun,
  keys: readonly string[],
): Promise<string | undefined> {
  if (keys.length === 0) return undefined
  const rows = await database.all<Row & { external_key: string; target_id: string }>(sql`
    select external_key, target_id from integration_mappings
    where lms_kind = ${kind} and noun = ${noun} and external_key in (${join(keys)})`)
  for (const key of keys) {
    const row = rows.find(({ external_key: own }) => own === key)
    if (row) return row.target_id
  }
  return undefined
}

async function idBy(
  database: Database,
  noun: MappedNoun,
  { by, value }: Candidate,
): Promise<string | undefined> {
  if (by === 'externalId') return living(database, noun, sql`external_id = ${value}`)
  if (by === 'email') {
    return noun === 'user' ? living(database, noun, sql`email_key = ${value.toLowerCase()}`) : undefined
  }
  return noun === 'course'
    ? resolve(database, 'courses', value)
    : resolve(database, 'users', value, sql`status <> 'deleted'`)
}

async function living(database: Database, noun: MappedNoun, condition: Sql): Promise<string | undefined> {
  const from = noun === 'course' ? sql`courses where ` : sql`users where status <> 'deleted' and `
  return (await database.one<{ id: string }>(sql`select id from ${from}${condition}`))?.id
}
