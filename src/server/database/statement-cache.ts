import type { Sql } from 'sql-template-tag'

interface Known<Statement> {
  readonly strings: readonly string[]
  readonly statement: Statement
}

/**
 * Keeps so many prepared statements, by the pieces of their text between the values. The pieces of a template are the same
 * strings each time, which is seen at once: to put the text together and to look for it takes longer than a small statement.
 */
export function statementCache<Statement>(
  prepare: (text: string) => Statement,
  most: number,
): (query: Sql) => Statement {
  const byFirst = new Map<string, Known<Statement>[]>()
  let count = 0
  return (query) => {
    const { strings } = query
    const [first = ''] = strings
    const known = byFirst.get(first)?.find((one) => isSame(one.strings, strings))
    if (known) return known.statement
    const statement = prepare(query.sql)
    if (count >= most) {
      byFirst.clear()
      count = 0
    }
    count += 1
    const others = byFirst.get(first) ?? []
    byFirst.set(first, [...others, { strings, statement }])
    return statement
  }
}

function isSame(known: readonly string[], strings: readonly string[]): boolean {
  if (known.length !== strings.length) return false
  for (let index = 1; index < known.length; index += 1) if (known[index] !== strings[index]) return false
  return true
}
