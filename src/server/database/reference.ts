import sql, { join, raw, type Sql } from 'sql-template-tag'
import { splitReferences } from '../../codec/reference.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { notFoundDetail, ProblemError } from '../problem/problem-error.ts'
import type { Database } from './database.ts'
import { type IdPrefix, isIdForm } from './id.ts'

const everything = sql`true`

/** The tables whose rows can be referred to by more than their id. */
export type Table = 'courses' | 'lessons' | 'users'

/**
 * The id that a reference stands for, as `isReferred` says (deleted users have no e-mail address). Undefined where nothing is found among the rows that are `seen`, as a
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

/**
 * The condition that picks the row a reference stands for, among rows of this table alone. `ext:` with an id of ours means
 * that id where no row has it as its external id: so exports call what has none. What has no
 * prefix and is no id is an external id, else the e-mail address of a user.
 *
 * @param rows where such rows are, if not in their table: those in the trash
 */
export function isReferred(table: Table, reference: string, rows: string = table): Sql {
  // Nothing is called by what no database can hold: PostgreSQL refuses to look.
  if (!isStorableText(reference)) return sql`false`
  const byId = (id: string) => sql`id = ${id}`
  const byExternalId = (id: string) => sql`external_id = ${id}`
  if (isOwnId(table, reference)) return byId(reference)
  if (reference.startsWith('ext:')) {
    const external = reference.slice(4)
    if (!isOwnId(table, external)) return byExternalId(external)
    return firstOf(rows, byExternalId(external), byId(external))
  }
  if (table !== 'users') return firstOf(rows, byId(reference), byExternalId(reference))
  if (reference.startsWith('email:')) return byAddress(reference.slice(6))
  return firstOf(rows, byId(reference), byExternalId(reference), byAddress(reference))
}

function byAddress(address: string): Sql {
  return sql`email_key = ${address.toLowerCase()} and status <> 'deleted'`
}

/** The row that the first of some conditions picks. */
function firstOf(table: string, ...conditions: readonly Sql[]): Sql {
  const ids = conditions.map((condition) => sql`(select id from ${raw(table)} where ${condition})`)
  return sql`id = coalesce(${join(ids)})`
}

const prefixes: Readonly<Record<Table, IdPrefix>> = { courses: 'crs', lessons: 'les', users: 'usr' }

/** True for the form of an id that this server makes for rows of a table. */
function isOwnId(table: Table, text: string): boolean {
  return text.startsWith(`${prefixes[table]}_`) && isIdForm(text)
}

/**
 * The condition that a column holds the id which a reference stands for. A reference picks one row at most, and the
 * equality says so: for `in` SQLite may read all rows of another index.
 */
export function isOf(column: Sql, table: Table, reference: string): Sql {
  return isOwnId(table, reference)
    ? sql`${column} = ${reference}`
    : sql`${column} = (select id from ${raw(table)} where ${isReferred(table, reference)})`
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
 * that one. Throws 404 with all those that are not found, or not among the rows that are `seen`.
 */
export async function resolveFilters(
  database: Database,
  table: Table,
  list: string,
  parameter: string,
  seen?: Sql,
): Promise<string[]> {
  const whole = await resolve(database, table, list, seen)
  if (whole) return [whole]
  const ids = new Set<string>()
  const missing: string[] = []
  for (const reference of splitReferences(list)) {
    const id = await resolve(database, table, reference, seen)
    if (id) ids.add(id)
    else missing.push(reference)
  }
  if (missing.length > 0) throw notFound(table, missing, parameter)
  return [...ids]
}

/** A condition on a column that refers to others: on one of them, with which an index may begin, or on several. */
export interface Referring {
  readonly one?: Sql
  readonly several?: Sql
}

/**
 * The condition that a column holds one of the references of a query parameter, if there are any. Throws 404 as
 * `resolveFilters` does.
 */
export async function referring(
  column: Sql,
  database: Database,
  table: Table,
  list: string | undefined,
  parameter: string,
  seen?: Sql,
): Promise<Referring> {
  if (list === undefined) return {}
  const ids = await resolveFilters(database, table, list, parameter, seen)
  return ids.length === 1
    ? { one: sql`${column} = ${ids[0]}` }
    : { several: sql`${column} in (${join(ids)})` }
}

function notFound(table: Table, references: readonly string[], parameter: string): ProblemError {
  const details = references.map((reference) => notFoundDetail(kindOf[table], reference))
  return new ProblemError('not_found', details.join(' '), {
    errors: details.map((detail) => ({ parameter, code: 'not_found', detail })),
  })
}
