import { DatabaseSync } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'

/** Tells what in the plans of a database grows with a table, statement by statement. */
export interface Plans {
  readonly faultsOf: (statement: Sql) => Promise<string[]>
  /** What a large academy answers where a list asks for the last place that a page looks at. */
  readonly placeBy: (statement: Sql) => Promise<object | undefined>
  /** How many rows of a large academy a statement with a limit finds; undefined where nobody knows. */
  readonly countBy: (statement: Sql) => Promise<number | undefined>
  readonly close: () => Promise<void>
}

/** A line of a plan, and the one that it belongs to. */
interface Line {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** Tables that stay small, whatever an academy grows to, and why. */
export const small: Readonly<Record<string, string>> = {
  settings: 'a row for each setting of the program',
  sqlite_sequence: 'a row for each table with numbers of its own',
  schema_version: 'one row',
}

/** Where all rows of a walk belong to what is listed, or nearly all: a page is reached at once. */
const plainWalk =
  /^select (?:(?! where ).)* from (?:(?! where )[\w .=])+(?: where \w+\.status <> 'deleted')? order by [\w., ]+ limit (?:\?|1 offset \?)$/

/**
 * What in SQLite's plan of a statement grows with a table: a table that is read from end to end, and rows that are sorted
 * although nothing bounds how many they are (SQLite, EXPLAIN QUERY PLAN). Nothing for what has no plan.
 */
export function sqlitePlans(path: string): Plans {
  const database = new DatabaseSync(path)
  return {
    async faultsOf(statement) {
      const text = statement.sql.replace(/\s+/g, ' ').trim()
      if (!isStatement(text)) return []
      // The driver hands over four columns for each line.
      const lines = database.prepare(`explain query plan ${text}`).all() as unknown as Line[]
      return lines.flatMap((line) => faultsIn(line, lines, text)).map((fault) => `${fault}: ${text}`)
    },
    placeBy: async () => ({ cursor_value: '', cursor_id: '', email: '' }),
    countBy: async () => undefined,
    close: async () => database.close(),
  }
}

/** True for what has a plan. */
export function isStatement(text: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(text)
}

/** True for a statement whose first rows are wanted, of a table all of whose rows, or nearly all, are listed. */
export function isPlainWalk(text: string): boolean {
  return plainWalk.test(outside(text.replace(/\s+/g, ' ').trim()))
}

function faultsIn({ detail, parent }: Line, lines: readonly Line[], text: string): string[] {
  if (/AUTOMATIC/.test(detail)) return [detail]
  if (isHalfOfPair(detail, text)) return [detail]
  if (/^SCAN (\d+-ROW VALUES|CONSTANT ROW)/.test(detail)) return []
  const [, name = ''] = /^SCAN (\S+)/.exec(detail) ?? []
  if (name && !isSubquery(name, lines, text) && !(name in small) && !(tableOf(name, text) in small)) {
    if (/VIRTUAL TABLE INDEX \d+:M/.test(detail)) return []
    return /USING (COVERING )?INDEX/.test(detail) && isPlainWalk(text) ? [] : [detail]
  }
  if (!/TEMP B-TREE/.test(detail)) return []
  const sources = lines.filter((line) => line.parent === parent && /^(SCAN|SEARCH) /.test(line.detail))
  // What is sorted comes from a statement with a limit, or row by row for the few ids of one.
  const isBounded = sources.some(
    (line) => /^SCAN (found|\(subquery)/.test(line.detail) || /\((?:id|rowid)=\?\)$/.test(line.detail),
  )
  return isBounded ? [] : [detail]
}

/** True where a learner in a course is looked for among all learners of the course, or among all of a role. */
function isHalfOfPair(detail: string, text: string): boolean {
  const [, name, columns = ''] = /^SEARCH (\S+) USING .*\((.*)\)/.exec(detail) ?? []
  const conditions = text.replace(/case when .*? end/g, '')
  const isPicked = (column: string) =>
    new RegExp(`\\b${name}\\.${column} (?:= [?(]|in \\(select)`).test(conditions)
  return isPicked('user_id') && isPicked('course_id') && !/\b(user_id|id)=\?/.test(columns)
}

function isSubquery(name: string, lines: readonly Line[], text: string): boolean {
  return (
    lines.some(({ detail }) => detail === `CO-ROUTINE ${name}` || detail === `MATERIALIZE ${name}`) ||
    text.includes(`) ${name}`)
  )
}

/** The table behind a name: itself, or what it stands for. */
function tableOf(name: string, text: string): string {
  return new RegExp(`(\\w+) (?:as )?${name}\\b`).exec(text)?.[1] ?? name
}

/** A statement without what stands in brackets. */
function outside(text: string): string {
  const less = text.replace(/\([^()]*\)/g, '')
  return less === text ? text : outside(less)
}
