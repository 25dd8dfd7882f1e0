import sql, { raw } from 'sql-template-tag'
import { ProblemError } from '../problem/problem-error.ts'
import type { Database, Row } from './database.ts'
import { kindOf, type Table } from './reference.ts'

const columnOf = { externalId: 'external_id', email: 'email_key', username: 'username' } as const

type UniqueField = keyof typeof columnOf

/**
 * Throws 409 `duplicate` when a value that must be unique is taken; it names the other one, unless the caller may not see
 * it.
 */
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
    if (!other || other.id === ownId) continue
    const { id, status } = other
    const detail = named ? `already exists: ${id} (${status})` : 'already exists'
    throw new ProblemError('duplicate', `A ${kindOf[table]} with ${field} ${value} ${detail}.`, {
      errors: [{ pointer: `#/${field}`, code: 'duplicate', detail }],
      ...(named && { members: { id, existingStatus: status } }),
    })
  }
}
