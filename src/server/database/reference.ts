import sql, { raw, type Sql } from 'sql-template-tag'
import { splitReferences } from '../../codec/reference-list.ts'
import { isSound } from '../../codec/unicode-text.ts'
import { notFoundDetail, ProblemError } from '../problem/problem-error.ts'
import type { Database } from './database.ts'

const everything = sql`true`

/** The tables whose rows can be referred to by more than their id. */
export type Table = 'courses' | 'lessons' | 'users'

/**
 * The id that a reference stands for: an id of ours as it is, `ext:<externalId>` looked up, for users
 * `email:<address>` too (deleted ones skipped). Undefined where nothing is found among the rows that are `seen`, as a
 * condition on the table; all of them where that is not given.
 */
export async function resolve(
  database: Database,
  table: Table,
  reference: string,
  seen = everything,
): Promise<string | undefined> {
  return (
    await database.one<{ id: string }>(
      sql`select id from ${raw(table)} where ${isReferred(table, reference)} and ${seen}`,
    )
  )?.id
}

/** The condition that picks the row a reference stands for, among rows of this table alone. */
export function isReferred(table: Table, reference: string): Sql {
  // Nothing is called by what no database can hold: PostgreSQL refuses to look.
  if (!isSound(reference)) return sql`false`
  if (reference.startsWith('ext:')) return sql`external_id = ${reference.slice(4)}`
  if (table === 'users' && reference.startsWith('email:')) {
    return sql`email_key = ${reference.slice(6).toLowerCase()} and status <> 'deleted'`
  }
  return sql`id = ${reference}`
}

/** What a row of each is called. */
export const kindOf: Readonly<Record<Table, string>> = { courses: 'course', lessons: 'lesson', users: 'user' }

/**
 * The id behind a reference in a query parameter; throws 404, so that a mistyped filter is no empty list, also for
 * what is not among the rows that are `seen`.
 */
export async function resolveFilter(
  database: Database,
  table: Table,
  reference: string,
  parameter: string,
  seen?: Sql,
): Promise<string> {
  const id = await resolve(database, table, reference, seen)
  if (id) return id
  throw notFound(table, [reference], parameter)
}

/**
 * The ids behind a comma list of references in a query parameter, each once; a list that as a whole is a reference is
 * that one. Throws 404 with all those that are not found.
 */
export async function resolveFilters(
  database: Database,
  table: Table,
  list: string,
  parameter: string,
): Promise<string[]> {
  const whole = await resolve(database, table, list)
  if (whole) return [whole]
  const ids = new Set<string>()
  const missing: string[] = []
  for (const reference of splitReferences(list)) {
    const id = await resolve(database, table, reference)
    if (id) ids.add(id)
    else missing.push(reference)
  }
  if (missing.length > 0) throw notFound(table, missing, parameter)
  return [...ids]
}

function notFound(table: Table, references: readonly string[], parameter: string): ProblemError {
  const details = references.map((reference) => notFoundDetail(kindOf[table], reference))
  return new ProblemError('not_found', details.join(' '), {
    errors: details.map((detail) => ({ parameter, code: 'not_found', detail })),
  })
}
