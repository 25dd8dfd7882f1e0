import { DatabaseSync } from 'node:sqlite'
import type { Sql } from 'sql-template-tag'

/** Finds what grows with a table in the plans of statements. */
export interface Plans {
  readonly faultsOf: (statement: Sql) => Promise<string[]>
  /** Returns how many rows of a large academy a statement with a limit finds; undefined if unknown. */
  readonly countBy: (statement: Sql) => Promise<number | undefined>
  readonly close: () => Promise<void>
}

/** A line of SQLite's plan, and its parent. */
interface Line {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/** Tables that stay small in any academy, with the reason. */
export const smallTables: Readonly<Record<string, string>> = {
  settings: 'a row for each setting of the program',
  schema_version: 'one row',
}

/** Tables of an academy of a million enrolments that have some thousand rows. */
const shortTables: readonly string[] = [
  'courses',
  'terms',
  'groups',
  'lessons',
  'calendars',
  'webhook_endpoints',
]

/**
 * Finds what grows with a table in SQLite's plan of a statement: a table that is read from end to end, and an unbounded
 * number of sorted rows (SQLite, EXPLAIN QUERY PLAN). A statement without a plan has no faults.
 */
export function sqlitePlans(path: string): Plans {
  const database = new DatabaseSync(path)
  const columnsOf = (index: string) =>
    database
      .prepare('select name from pragma_index_xinfo(?)')
      .all(index)
      .map(({ name }) => String(name))
  return {
    async faultsOf(statement) {
      const text = statement.sql.replace(/\s+/g, ' ').trim()
      if (!isStatement(text)) return []
      // The driver returns four columns for each line.
      const lines = database.prepare(`explain query plan ${text}`).all() as unknown as Line[]
      return lines
        .flatMap((line) => faultsIn(line, lines, text, columnsOf))
        .map((fault) => `${fault}: ${text}`)
    },
    countBy: async () => undefined,
    close: async () => database.close(),
  }
}

/** True for a statement that has a plan. */
export function isStatement(text: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(text)
}

/** True for a statement that stops at a number of rows: a page, or a count up to it. */
export function isPage(text: string): boolean {
  return /\blimit \?(?:\) \w+)?$/.test(text.replace(/\s+/g, ' ').trim())
}

function faultsIn(
  { detail, parent }: Line,
  lines: readonly Line[],
  text: string,
  columnsOf: (index: string) => readonly string[],
): string[] {
  if (/AUTOMATIC/.test(detail)) return [detail]
  if (isHalfOfPair(detail, text)) return [detail]
  if (/^SCAN (\d+-ROW VALUES|(\d+ )?CONSTANT ROW)/.test(detail)) return []
  const [, name = ''] = /^SCAN (\S+)/.exec(detail) ?? []
  if (
    name &&
    !isSubquery(name, lines, text) &&
    !(name in smallTables) &&
    !(tableOf(name, text) in smallTables)
  ) {
    if (/VIRTUAL TABLE INDEX \d+:M/.test(detail)) return []
    if (!isPage(text)) return [detail]
    const [, index = ''] = /USING (?:COVERING )?INDEX (\S+)/.exec(detail) ?? []
    // Rows are passed without being fetched if the index has what they are tested for.
    const isIndexed = testedColumns(name, text).every((column) => columnsOf(index).includes(column))
    return isIndexed || shortTables.includes(tableOf(name, text)) ? [] : [detail]
  }
  if (!/TEMP B-TREE/.test(detail)) return []
  const sources = lines.filter((line) => line.parent === parent && /^(SCAN|SEARCH) /.test(line.detail))
  // Sorted rows come from a statement with a limit, or from the few ids of one.
  const isBounded = sources.some(
    (line) =>
      /^SCAN (found|\(subquery)/.test(line.detail) ||
      /\((?:id|rowid)=\?(?: AND rowid[<>]\?)?\)$/.test(line.detail) ||
      (isPage(text) && isOfOne(line.detail, text)),
  )
  return isBounded ? [] : [detail]
}

/** Columns of a table that each row of a walk is tested for. */
function testedColumns(name: string, text: string): string[] {
  const [, conditions = ''] =
    new RegExp(`(?:from|join) (?:\\w+ )?${name}\\b(.*?)(?: order by| limit \\?)`).exec(text) ?? []
  return [...conditions.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(([, column = '']) => column)
}

/** True for a search of the rows of one user, course or other record, or of few. */
function isOfOne(detail: string, text: string): boolean {
  const [, name = '', first = ''] = /^SEARCH (\S+) USING .*\((\w+)=\?/.exec(detail) ?? []
  return ownColumns.includes(first) || shortTables.includes(tableOf(name, text))
}

const ownColumns: readonly string[] = [
  'user_id',
  'course_id',
  'group_id',
  'action',
  'subject_id',
  'target_id',
]

/** True if a learner in a course is looked up among all learners of the course, or among all of a role. */
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

/** Returns the table behind an alias. */
function tableOf(name: string, text: string): string {
  return new RegExp(`(?:from|join|into|update) (\\w+) (?:as )?${name}\\b`).exec(text)?.[1] ?? name
}
