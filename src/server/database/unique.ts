import sql, { raw } from 'sql-template-tag'
import { ProblemError } from '../problem-error.ts'
import type { Database, Row } from './database.ts'
import { kindOf, type Table } from './reference.ts'

const columnOf = { externalId: 'external_id', email: 'email_key', username: 'username' } as const

type UniqueField = keyof typeof columnOf

/** Throws 409 `duplicate` if a unique value is taken; names the other record unless the caller may not see it. */
export async function requireUnique(
  database: Database,
  table: Table,
  values: Readonly<Partial<Record<UniqueField, string | null>>>,
  ownId: string | undefined,
  named = true,
): Promise<void> {
  for (const [field, column] of Object.entries(columnOf) as [UniqueField, string][]) {
    const value = values[field]
    if (value === null || value === undefined) continue
    const key = field === 'email' ? value.toLowerCase() : value
    const other = await database.one<Row & { id: string; status: string }>(
      sql`select id, status from ${raw(table)} where ${raw(column)} = ${key}`,
    )
    if (other && other.id === ownId) continue
    const taken = other ?? (await deletedOne(database, table, key))
    if (!taken) continue
    const { id, status } = taken
    const detail = named ? `already exists: ${id} (${status})` : 'already exists'
    throw new ProblemError('duplicate', `A ${kindOf[table]} with ${field} ${value} ${detail}.`, {
      errors: [{ pointer: `#/${field}`, code: 'duplicate', detail }],
      ...(named && { members: { id, existingStatus: status } }),
    })
  }
}

/** Returns the deleted record with an external id, which stays taken while the record can be restored. */
async function deletedOne(
  database: Database,
  table: Table,
  externalId: string,
): Promise<{ id: string; status: string } | undefined> {
  if (table === 'users') return undefined
  const row = await database.one<Row & { id: string }>(
    sql`select id from ${raw(`deleted_${table}`)} where external_id = ${externalId} limit 1`,
  )
  return row && { id: row.id, status: 'deleted' }
}
