import sql, { join, raw, type Sql } from 'sql-template-tag'
import { splitReferences } from '../../codec/reference.ts'
import { isStorableText } from '../../codec/unicode-text.ts'
import { notFoundDetail, ProblemError } from '../problem-error.ts'
import type { Database, Row } from './database.ts'
import { type IdPrefix, isIdForm } from './id.ts'
import { sortKey } from './search.ts'

const everything = sql`true`

type Table = 'courses' | 'lessons' | 'users' | 'terms' | 'groups'

/**
 * Resolves a reference to an id, as `matchesReference` does; deleted users have no email address. Undefined if no row
 * matches. `visible` is a condition on the rows that the caller may see (default all).
 */
export async function resolve(
  database: Database,
  table: Table,
  reference: string,
  visible = everything,
): Promise<string | undefined> {
  return (
    await database.one<{ id: string }>(
      sql`select id from ${raw(table)} where ${matchesReference(table, reference, { visible })} and ${visible}`,
    )
  )?.id
}

interface ReferenceOptions {
  /** Table with the rows, if another: the trash. */
  readonly rows?: string
  /** Names need be unique among these alone. */
  readonly visible?: Sql | undefined
}

/**
 * Returns the condition that matches the row of a reference, for rows of this table alone. `ext:` with an id of ours
 * matches that id if no row has it as its external id: exports write it for rows without one. Without a prefix, text
 * that is not an id is an external id, else the email address of a user or the name of a term or a group, if no other
 * that the caller may see has it.
 */
export function matchesReference(
  table: Table,
  reference: string,
  { rows = table, visible = everything }: ReferenceOptions = {},
): Sql {
  // No row can have text that the database cannot store, and PostgreSQL would refuse the query.
  if (!isStorableText(reference)) return sql`false`
  const byId = (id: string) => sql`id = ${id}`
  const byExternalId = (id: string) => sql`external_id = ${id}`
  if (isOwnId(table, reference)) return byId(reference)
  if (reference.startsWith('ext:')) {
    const external = reference.slice(4)
    if (!isOwnId(table, external)) return byExternalId(external)
    return firstOf(rows, byExternalId(external), byId(external))
  }
  if (rows === 'terms' || rows === 'groups')
    return firstOf(rows, byId(reference), byExternalId(reference), byUniqueName(rows, reference, visible))
  if (table !== 'users') return firstOf(rows, byId(reference), byExternalId(reference))
  if (reference.startsWith('email:')) return byAddress(reference.slice(6))
  return firstOf(rows, byId(reference), byExternalId(reference), byAddress(reference))
}

function byAddress(address: string): Sql {
  return sql`email_key = ${address.toLowerCase()} and status <> 'deleted'`
}

function byUniqueName(table: 'terms' | 'groups', name: string, visible: Sql): Sql {
  return sql`id = (
    select case when count(*) = 1 then min(id) end from ${raw(table)}
    where name_key = ${sortKey(name)} and name = ${name} and ${visible})`
}

function firstOf(table: string, ...conditions: readonly Sql[]): Sql {
  const ids = conditions.map((condition) => sql`(select id from ${raw(table)} where ${condition})`)
  return sql`id = coalesce(${join(ids)})`
}

const prefixes: Readonly<Record<Table, IdPrefix>> = {
  courses: 'crs',
  lessons: 'les',
  users: 'usr',
  terms: 'trm',
  groups: 'grp',
}

function isOwnId(table: Table, text: string): boolean {
  return text.startsWith(`${prefixes[table]}_`) && isIdForm(text)
}

/**
 * Returns the condition that a column equals the id of a reference. An equality, since a reference matches one row at
 * most: for `in` SQLite may scan another index.
 */
export function isOf(column: Sql, table: Table, reference: string): Sql {
  return isOwnId(table, reference)
    ? sql`${column} = ${reference}`
    : sql`${column} = (select id from ${raw(table)} where ${matchesReference(table, reference)})`
}

export const kindOf: Readonly<Record<Table, string>> = {
  courses: 'course',
  lessons: 'lesson',
  users: 'user',
  terms: 'term',
  groups: 'group',
}

/** Throws 404, so that a mistyped filter is no empty list, also for rows that are not `visible`. */
export async function resolveFilter(
  database: Database,
  table: Table,
  reference: string,
  parameter: string,
  visible?: Sql,
): Promise<string> {
  const id = await resolve(database, table, reference, visible)
  if (id) return id
  throw notFound(table, [reference], parameter)
}

/**
 * Resolves a comma list of references in a query parameter to distinct ids; a list that matches as a whole is one
 * reference. Throws 404 that lists all references that are not found or not `visible`.
 */
export async function resolveFilters(
  database: Database,
  table: Table,
  list: string,
  parameter: string,
  visible?: Sql,
): Promise<string[]> {
  const whole = await resolve(database, table, list, visible)
  if (whole) return [whole]
  const ids = new Set<string>()
  const missing: string[] = []
  for (const reference of splitReferences(list)) {
    const id = await resolve(database, table, reference, visible)
    if (id) ids.add(id)
    else missing.push(reference)
  }
  if (missing.length > 0) throw notFound(table, missing, parameter)
  return [...ids]
}

/**
 * Returns the condition that a column holds one of the references of a query parameter, if it is set. Throws 404 as
 * `resolveFilters` does.
 */
export async function referenceFilter(
  column: Sql,
  database: Database,
  table: Table,
  list: string | undefined,
  parameter: string,
  visible?: Sql,
): Promise<Sql | undefined> {
  if (list === undefined) return undefined
  const ids = await resolveFilters(database, table, list, parameter, visible)
  return ids.length === 1 ? sql`${column} = ${ids[0]}` : sql`${column} in (${join(ids)})`
}

function notFound(table: Table, references: readonly string[], parameter: string): ProblemError {
  const details = references.map((reference) => notFoundDetail(kindOf[table], reference))
  return new ProblemError('not_found', details.join(' '), {
    errors: details.map((detail) => ({ parameter, code: 'not_found', detail })),
  })
}

const columnOf = { externalId: 'external_id', email: 'email_key', username: 'username' } as const

type UniqueField = keyof typeof columnOf

export interface VisibleRows {
  readonly stored: Sql
  readonly deleted: Sql
}

/** Throws 409 `duplicate`; names the other record if the caller may see it. `visible` defaults to all. */
export async function requireUnique(
  database: Database,
  table: Table,
  values: Readonly<Partial<Record<UniqueField, string | null>>>,
  ownId: string | undefined,
  visible?: VisibleRows,
): Promise<void> {
  for (const [field, column] of Object.entries(columnOf) as [UniqueField, string][]) {
    const value = values[field]
    if (value === null || value === undefined) continue
    const key = field === 'email' ? value.toLowerCase() : value
    const other = await database.one<Row & { id: string; status: string | null }>(
      sql`select id, ${statusIn(table)} as status from ${raw(table)} where ${raw(column)} = ${key}`,
    )
    if (other && other.id === ownId) continue
    const taken = other ?? (await findDeleted(database, table, key))
    if (!taken) continue
    const { id, status } = taken
    const [rows, condition] = other ? [table, visible?.stored] : [`deleted_${table}`, visible?.deleted]
    const isNamed =
      !condition || (await database.one(sql`select 1 from ${raw(rows)} where id = ${id} and ${condition}`))
    const shown = status === null ? id : `${id} (${status})`
    const detail = isNamed ? `already exists: ${shown}` : 'already exists'
    throw new ProblemError('duplicate', `A ${kindOf[table]} with ${field} ${value} ${detail}.`, {
      errors: [{ pointer: `#/${field}`, code: 'duplicate', detail }],
      ...(isNamed && { members: { id, ...(status !== null && { existingStatus: status }) } }),
    })
  }
}

function statusIn(table: Table): Sql {
  return table === 'terms' || table === 'groups' ? sql`null` : sql`status`
}

/** The id stays taken while the record can be restored. */
async function findDeleted(
  database: Database,
  table: Table,
  externalId: string,
): Promise<{ id: string; status: string } | undefined> {
  if (table === 'users' || table === 'terms') return undefined
  const row = await database.one<Row & { id: string }>(
    sql`select id from ${raw(`deleted_${table}`)} where external_id = ${externalId} limit 1`,
  )
  return row && { id: row.id, status: 'deleted' }
}
