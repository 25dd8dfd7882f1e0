import sql, { join, type Sql } from 'sql-template-tag'
import { csvRecord, csvText } from '../../codec/csv.ts'
import type { Cell, Database, Dialect } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'
import { isInGroups } from '../groups/group-row.ts'
import { Streamed } from '../http/reply.ts'
import type { RowFilter } from './row-filter.ts'
import { columns, isLearnerEnrollment, learning, passed, toRow } from './rows.ts'

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
/** `csv` turns each row's cells into zero or more lines of text. */
export interface FileRows {
  readonly columns: readonly string[]
  readonly statement: Sql
  readonly csv: (raw: boolean) => (cells: readonly Cell[]) => string
}

interface LearnerRows extends FileRows {
  readonly json: () => (cells: readonly Cell[]) => string
}

/** All others are ids, times, numbers or enumerated values. */
const textColumns: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'courseExternalId',
]
const isPlain = columns.map((name) => !textColumns.includes(name))

/** The statement selects the columns of a LearnerRow. */
export function learnerRows(statement: Sql): LearnerRows {
  return {
    columns,
    statement,
    csv: (raw) => (cells) => csvRecord(cells, raw, isPlain),
    json: () => (cells) => `${JSON.stringify(toRow(cells))}\n`,
  }
}

/** From one snapshot, on a separate connection. */
export function streamLearnerFile(database: Database, rows: LearnerRows, file: LearnerFile): Streamed {
  if (file.format === 'csv') return streamCsvFile(database, rows, file)
  const headers = fileHeaders('application/x-ndjson; charset=utf-8', `${file.name}.ndjson`)
  return new Streamed(headers, encodeChunks(database, rows.statement, '', rows.json()))
}

/** From one snapshot, on a separate connection. */
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

/** Separators of a learner's lines and of the parts of a line: characters that occur in neither. */
const [betweenLines, betweenParts] = ['\u001e', '\u001f']
const part = sql`'\u001f'`
const escaped = (text: Sql) =>
  sql`replace(replace(replace(${text}, '%', '%25'), '\u001e', '%1E'), '\u001f', '%1F')`
const title = escaped(sql`c.title`)
const externalId = sql`replace(${escaped(sql`c.external_id`)}, ',', '%2C')`

const lineOf = ({
  exactText,
}: Dialect) => sql`concat(c.id, ',', c.difficulty, ',', ${externalId}, ',', ${title}, ${part},
  e.status, ',', e.enrolled_at, ',', coalesce(p.status, 'not_started'), ${part}, ${exactText(sql`coalesce(p.percentage, 0)`)},
  ${part}, p.started_at, ',', p.last_accessed, ',', p.completed_at, ${part}, case when g.percent is not null then ${exactText(sql`g.percent`)} end, ${part},
  ${passed}, ',', g.updated_at)`

/**
 * Returns all rows of a filter: learners by email address, the courses of each by title. The database returns all
 * lines of a learner as one cell of text, because nineteen cells per line take longer than finding them.
 */
export function learnerLines(dialect: Dialect, filter: RowFilter): LearnerRows {
  return { columns, statement: linesStatement(dialect, filter), csv: csvLines, json: jsonLines }
}

/** Selects id, email address, first and last name, external id and lines (or null) of each learner. */
export function linesStatement(dialect: Dialect, filter: RowFilter): Sql {
  const found = namedLearners(filter)
  const own: Condition[] = [sql`e.user_id = u.id`, isLearnerEnrollment('e'), sql`c.id = e.course_id`]
  // SQLite keeps the order of a cross join.
  return sql`
    select u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id,
      (select string_agg(${lineOf(dialect)}, '\u001e' order by c.title, c.id)
        from enrollments e cross join courses c ${learning}
        ${where([...own, ...filter.ofEnrollment, ...filter.ofProgress])})
    from ${found ? sql`(with f as materialized (${found}) select distinct user_id from f) k cross join users u` : sql`users u`}
    ${where([found && sql`u.id = k.user_id`, ...filter.ofLearner])} order by u.email, u.id`
}

/** Selects the learners of the first filter that leaves few, by an index; undefined for all. */
function namedLearners({
  query,
  courses,
  learnerIds,
  groupIds,
  termIds,
  inPeriod,
}: RowFilter): Sql | undefined {
  if (learnerIds) return sql`select id as user_id from users where id in (${join(learnerIds)})`
  if (groupIds) return sql`select m.user_id from group_members m where ${isInGroups(groupIds)}`
  if (courses) return sql`select user_id from enrollments where course_id in (${courses})`
  if (inPeriod && !query.include_not_started) {
    return sql`select p.user_id from courses c cross join progress p where p.course_id = c.id and ${inPeriod}`
  }
  return (
    termIds &&
    sql`select e.user_id from courses c cross join enrollments e
      where c.term_id in (${join(termIds)}) and e.course_id = c.id`
  )
}

/** The same in all lines of a course. */
interface LineCourse {
  readonly id: string
  readonly title: string
  readonly difficulty: string
  readonly externalId: string | null
}

function csvLines(raw: boolean): (cells: readonly Cell[]) => string {
  const cell = (value: Cell | undefined) => (typeof value === 'string' ? csvText(value, raw) : '')
  const course = memoise((text) => {
    const { id, title, difficulty, externalId } = courseOf(text)
    return { beginning: `${id},${csvText(title, raw)},${difficulty},`, end: csvText(externalId ?? '', raw) }
  })
  const number = memoise((text) => String(Number(text)))
  return ([id, email, firstName, lastName, externalId, lines]) => {
    if (typeof lines !== 'string') return ''
    const learner = `${id},${cell(email)},${cell(firstName)},${cell(lastName)},${cell(externalId)},`
    let records = ''
    for (const line of lines.split(betweenLines)) {
      const [key = '', standing, percentage = '', times, grade = '', graded] = line.split(betweenParts)
      const { beginning, end } = course(key)
      records += `${learner}${beginning}${standing},${number(percentage)},${times},${grade && number(grade)},${graded},${end}\r\n`
    }
    return records
  }
}

function jsonLines(): (cells: readonly Cell[]) => string {
  const course = memoise(courseOf)
  return ([id, email, firstName, lastName, externalId, lines]) => {
    if (typeof lines !== 'string') return ''
    const learner: Cell[] = [id, email, firstName, lastName, externalId].map((cell) => cell ?? null)
    let rows = ''
    for (const line of lines.split(betweenLines)) {
      const [key = '', ...parts] = line.split(betweenParts)
      const { id, title, difficulty, externalId } = course(key)
      const [standing = [], percentage = [], times = [], grade = [], graded = []] = parts.map((text) =>
        text.split(',').map((value) => (value === '' ? null : value)),
      )
      const cells = [...[...learner, id, title, difficulty], ...standing, ...percentage.map(Number), ...times]
      const grades = [...grade.map((value) => value && Number(value)), ...graded]
      rows += `${JSON.stringify(toRow([...cells, ...grades, externalId]))}\n`
    }
    return rows
  }
}

function courseOf(text: string): LineCourse {
  const [id = '', difficulty = '', externalId = '', ...title] = text.split(',')
  return {
    id,
    title: decodeURIComponent(title.join(',')),
    difficulty,
    externalId: externalId === '' ? null : decodeURIComponent(externalId),
  }
}

const maxCachedTexts = 20_000

/** Caches the results for recent texts. */
function memoise<Result>(make: (text: string) => Result): (text: string) => Result {
  const cache = new Map<string, Result>()
  return (text) => {
    const hit = cache.get(text)
    if (hit !== undefined) return hit
    const result = make(text)
    if (cache.size >= maxCachedTexts) cache.clear()
    cache.set(text, result)
    return result
  }
}

/** Those that an import of grades reads, and the names of the learner and the item. */
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

/** All others are ids, times or numbers. */
const gradeTextColumns: readonly string[] = [
  'email',
  'firstName',
  'lastName',
  'externalId',
  'courseTitle',
  'itemId',
  'source',
  'label',
]
const isPlainGradeCell = gradeColumns.map((name) => !gradeTextColumns.includes(name))

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
