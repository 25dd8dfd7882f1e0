import sql, { type Sql } from 'sql-template-tag'
import { csvRecord } from '../../codec/csv.ts'
import type { Cell, Database } from '../database/database.ts'
import { Streamed } from '../http/reply.ts'
import { allConditions, type RowFilter } from './row-filter.ts'
import { byUsersOf, columns, enrolledIn, type Joined, rowsOf, selected, toRow } from './rows.ts'

interface RowFile {
  /** Without extension. */
  readonly name: string
  /** Begin CSV with a byte order mark, by which spreadsheets recognise UTF-8. */
  readonly bom: boolean
  /** CSV without the guard against formula injection. */
  readonly raw: boolean
}

export interface LearnerFile extends RowFile {
  readonly format: 'csv' | 'ndjson'
}

/** Approximate, in characters. */
const chunkLength = 64 * 1024
/** `csv` turns each row's cells into a line of text. */
export interface FileRows {
  readonly columns: readonly string[]
  readonly statement: Sql
  readonly csv: (raw: boolean) => (cells: readonly Cell[]) => string
}

interface LearnerRows extends FileRows {
  readonly json: (cells: readonly Cell[]) => string
}

/** All others are ids, times, numbers or enumerated values. */
const textColumns: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'courseExternalId',
  'itemId',
  'source',
  'label',
]
const isPlain = columns.map((name) => !textColumns.includes(name))

export function learnerRows(statement: Sql): LearnerRows {
  return {
    columns,
    statement,
    csv: (raw) => (cells) => csvRecord(cells, raw, isPlain),
    json: (cells) => `${JSON.stringify(toRow(cells))}\n`,
  }
}

/** From one snapshot, on a separate connection. */
export function streamLearnerFile(database: Database, rows: LearnerRows, file: LearnerFile): Streamed {
  if (file.format === 'csv') return streamCsvFile(database, rows, file)
  const headers = fileHeaders('application/x-ndjson; charset=utf-8', `${file.name}.ndjson`)
  return new Streamed(headers, encodeChunks(database, rows.statement, '', rows.json))
}

export function streamCsvFile(database: Database, rows: FileRows, { name, bom, raw }: RowFile): Streamed {
  const head = (bom ? '\ufeff' : '') + csvRecord(rows.columns, true)
  const headers = fileHeaders('text/csv; charset=utf-8; header=present', `${name}.csv`)
  return new Streamed(headers, encodeChunks(database, rows.statement, head, rows.csv(raw)))
}

function fileHeaders(type: string, name: string) {
  return { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` }
}

async function* encodeChunks(
  database: Database,
  statement: Sql,
  head: string,
  encode: (cells: readonly Cell[]) => string,
) {
  let text = head
  for await (const rows of database.stream(statement)) {
    for (const cells of rows) {
      text += encode(cells)
      if (text.length < chunkLength) continue
      yield text
      text = ''
    }
    // Yields empty chunks, too: with a selective filter this is where a disconnected client is noticed.
    yield text
    text = ''
  }
  if (text !== '') yield text
}

export function filteredRows(filter: RowFilter): LearnerRows {
  const rows = rowsOf(exportedTables(filter), allConditions(filter))
  return learnerRows(sql`select ${selected} from ${rows} order by u.email, u.id, c.title, c.id`)
}

/** Begins with the learners in their order, unless a filter names few rows: then these are sorted. */
function exportedTables(filter: RowFilter): Joined {
  const { query, courses, learnerIds, groupIds, inPeriod } = filter
  const isNamed = learnerIds || groupIds || courses
  if (isNamed || !inPeriod || query.include_not_started) return enrolledIn(filter)
  return byUsersOf(sql`
    select distinct p.user_id from courses c cross join progress p where p.course_id = c.id and ${inPeriod}`)
}

const gradeColumns = [
  'learnerId',
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseId',
  'courseTitle',
  'itemId',
  'source',
  'label',
  'scoreGiven',
  'scoreMaximum',
  'percent',
  'weight',
  'gradedAt',
  'published',
] as const

const isPlainGradeCell = gradeColumns.map((name) => !textColumns.includes(name))

/** Oldest first, except cleared ones and those of deleted users. */
export function gradeRowsOf(courseId: string): FileRows {
  return {
    columns: gradeColumns,
    statement: gradesStatement(courseId),
    csv: (raw) => (cells) => csvRecord(cells, raw, isPlainGradeCell),
  }
}

// SQLite keeps the order of a cross join, so it scans the index of the course's grades.
function gradesStatement(courseId: string): Sql {
  return sql`
    select u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id, c.id, c.title,
      g.item_id, g.source, g.label, g.score_given, g.score_maximum, 100.0 * g.score_given / g.score_maximum, g.weight,
      g.graded_at, case when g.published = 1 then 'true' else 'false' end
    from courses c cross join grades g cross join users u
    where g.course_id = c.id and u.id = g.user_id and c.id = ${courseId} and g.course_id = ${courseId} and g.cleared = 0 and u.status <> 'deleted'
    order by g.created_at, g.id`
}
