import type { Sql } from 'sql-template-tag'
import { unknownFaults } from './known-plans.ts'
import { sqlitePlans } from './plan-faults.ts'

/** Statements that were checked already: their plans depend on the schema, which all academies share. */
const checkedStatements = new Set<string>()

/** Statements of one academy. */
interface WatchedStatements {
  readonly seen: (statement: Sql) => void
  /** Returns those that read or sort a table from end to end; the academy must still be open. */
  readonly faults: () => Promise<string[]>
}

/** Checks the plans of all statements that a test causes in the SQLite academy at this path. */
export function watchStatements(path: string): WatchedStatements {
  const asked = new Map<string, Sql>()

  async function faults(): Promise<string[]> {
    const statements = [...asked.values()].filter(({ sql: text }) => !checkedStatements.has(text))
    if (statements.length === 0) return []
    for (const { sql: text } of statements) checkedStatements.add(text)
    const plans = sqlitePlans(path)
    const found: string[] = []
    for (const statement of statements) found.push(...(await plans.faultsOf(statement)))
    await plans.close()
    return unknownFaults(found, true)
  }

  return { faults, seen: (statement) => void asked.set(statement.sql, statement) }
}
