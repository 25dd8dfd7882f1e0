import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { MappedNoun } from '../../contract/constants.ts'
import type { Candidate } from '../../lms/event.ts'
import type { Database, Row } from '../database/database.ts'
import { matchesReference } from '../database/reference.ts'

/** No system sends as many. */
const maxCandidates = 16

/** In order of precedence. */
export type Identities = Readonly<Record<MappedNoun, readonly Candidate[]>>

interface FoundRow extends Row {
  readonly course: string | null
  readonly mapped_course: string | null
  readonly user: string | null
  readonly mapped_user: string | null
}

/**
 * Resolves the course and the user that another system identifies, in one statement; null for an unknown one.
 * A mapping takes precedence, even if it leads to a deleted record, which counts as unknown. Deleted users
 * and courses in the trash are never found.
 */
export async function resolveIdentities(
  database: Database,
  kind: string,
  { course, user }: Identities,
): Promise<Readonly<Record<MappedNoun, string | null>>> {
  const row = await database.one<FoundRow>(sql`
    select ${mappedOf(kind, 'course', course)} as mapped_course, ${foundOf('course', course)} as course,
      ${mappedOf(kind, 'user', user)} as mapped_user, ${foundOf('user', user)} as "user"`)
  const of = async (noun: MappedNoun, mapped: string | null | undefined, found: string | null | undefined) =>
    mapped === null || mapped === undefined ? (found ?? null) : findLiving(database, noun, mapped)
  return {
    course: await of('course', row?.mapped_course, row?.course),
    user: await of('user', row?.mapped_user, row?.user),
  }
}

function mappedOf(kind: string, noun: MappedNoun, candidates: readonly Candidate[]): Sql {
  const keys = known(candidates).filter(({ by }) => by === 'key')
  return firstOf(
    keys.map(
      ({ value }) => sql`(
        select target_id from integration_mappings
        where lms_kind = ${kind} and noun = ${noun} and external_key = ${value})`,
    ),
  )
}

/** The id of the first candidate that exists. */
function foundOf(noun: MappedNoun, candidates: readonly Candidate[]): Sql {
  const table = noun === 'course' ? 'courses' : 'users'
  const conditions = known(candidates).flatMap(({ by, value }) => {
    if (by === 'key' || (by === 'email' && noun === 'course')) return []
    if (by === 'externalId') return [sql`external_id = ${value}`]
    return [by === 'email' ? sql`email_key = ${value.toLowerCase()}` : matchesReference(table, value)]
  })
  return firstOf(
    conditions.map((condition) => sql`(select id from ${raw(table)} where ${condition}${alive[noun]})`),
  )
}

const alive = { course: empty, user: sql` and status <> 'deleted'` }

function known(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.slice(0, maxCandidates)
}

function firstOf(ids: readonly Sql[]): Sql {
  return sql`coalesce(${join([...ids, sql`null`, sql`null`])})`
}

async function findLiving(database: Database, noun: MappedNoun, id: string): Promise<string | null> {
  const table = noun === 'course' ? 'courses' : 'users'
  const row = await database.one<{ id: string }>(
    sql`select id from ${raw(table)} where id = ${id}${alive[noun]}`,
  )
  return row?.id ?? null
}
