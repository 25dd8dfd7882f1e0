import type { Sql } from 'sql-template-tag'
import { unknownOf } from './known-plans.ts'
import { sqlitePlans } from './plan-faults.ts'

/** Statements that some test has looked at: their plan depends on the schema, which all academies share. */
const looked = new Set<string>()

/** The statements of one academy. */
export interface WatchedStatements {
  readonly seen: (statement: Sql) => void
  /** Which of them read or sort a table from end to end; the academy is still open. */
  readonly faults: () => Promise<string[]>
}

/** Looks at the plans of all that a test makes the program ask an academy in SQLite, whose file this is. */
export function watchedStatements(path: string): WatchedStatements {
  const asked = new Map<string, Sql>()

  async function faults(): Promise<string[]> {
    const statements = [...asked.values()].filter(({ sql: text }) => !looked.has(text))
    if (statements.length === 0) return []
    for (const { sql: text } of statements) looked.add(text)
    const plans = sqlitePlans(path)
    const found: string[] = []
    for (const statement of statements) found.push(...(await plans.faultsOf(statement)))
    await plans.close()
    return unknownOf(found, true)
  }

  return { faults, seen: (statement) => void asked.set(statement.sql, statement) }
}
