import sql, { raw, type Sql } from 'sql-template-tag'
import { ProblemError } from '../problem/problem-error.ts'
import type { Database } from './database.ts'

type Table = 'courses' | 'lessons' | 'users'

/**
 * The id that a reference stands for: an id of ours as it is, `ext:<externalId>` looked up, for users
 * `email:<address>` too (deleted ones skipped). Undefined where nothing is found.
 */
export function resolve(database: Database, table: Table, reference: string): string | undefined {
  return database.one<{ id: string }>(sql`select id from ${raw(table)} where ${isReferred(table, reference)}`)
    ?.id
}

/** The condition that picks the row a reference stands for, among rows of this table alone. */
export function isReferred(table: Table, reference: string): Sql {
  if (reference.startsWith('ext:')) return sql`external_id = ${reference.slice(4)}`
  if (table === 'users' && reference.startsWith('email:')) {
    return sql`email_key = ${reference.slice(6).toLowerCase()} and status <> 'deleted'`
  }
  return sql`id = ${reference}`
}

const kindOf: Readonly<Record<Table, string>> = { courses: 'course', lessons: 'lesson', users: 'user' }

/**
 * The id behind a reference in a query parameter; throws 404, so that a mistyped filter is no empty list, also for
 * anything but `onlyId` where that is given.
 */
export function resolveFilter(
  database: Database,
  table: Table,
  reference: string,
  parameter: string,
  onlyId?: string,
): string {
  const id = resolve(database, table, reference)
  if (id && (onlyId === undefined || id === onlyId)) return id
  const detail = `There is no ${kindOf[table]} ${reference}.`
  throw new ProblemError('not_found', detail, { errors: [{ parameter, code: 'not_found', detail }] })
}
