import sql, { join, Sql } from 'sql-template-tag'
import { csvText } from '../../codec/csv.ts'
import { isLearners } from '../counters/counted-enrollment.ts'
import type { Cell, Database, Dialect, Row } from '../database/database.ts'
import { type Condition, where } from '../database/keyset.ts'
import { columns, passed, toRow } from './analytics-rows.ts'
import type { LearnerRows } from './learner-file.ts'
import { type RowFilter, timeCondition, withStatus } from './row-filter.ts'

/** Maximum rows of a filter to find and sort; if there are more, a scan of all learners soon meets some. */
const few = 20_000

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
export async function learnerLines(database: Database, filter: RowFilter): Promise<LearnerRows> {
  return { columns, statement: await everyLine(database, filter), csv: csvLines, json: jsonLines }
}

/** Returns their statement: id, email address, first and last name, external id and lines (or null) of each learner. */
export async function everyLine(database: Database, filter: RowFilter): Promise<Sql> {
  const found = await firstFew(database, narrow(filter))
  const own: Condition[] = [sql`e.user_id = u.id`, isLearners('e'), sql`c.id = e.course_id`]
  // SQLite keeps the order of a cross join.
  return sql`
    select u.id, u.email, u.profile ->> 'firstName', u.profile ->> 'lastName', u.external_id,
      (select string_agg(${lineOf(database.dialect)}, '\u001e' order by c.title, c.id)
        from enrollments e cross join courses c
          left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
          left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
        ${where([...own, ...filter.ofEnrollment, timeCondition(filter)])})
    from ${found ? sql`(with f as materialized (${found}) select distinct user_id from f) k cross join users u` : sql`users u`}
    ${where([found && sql`u.id = k.user_id`, ...filter.ofLearner])} order by u.email, u.id`
}

/** Returns for each selective filter a statement that finds its learners through an index. */
function narrow({ query, courseIds, learnerIds, inPeriod }: RowFilter): Sql[] {
  const { difficulty, include_not_started: withUnstarted } = query
  return [
    learnerIds && sql`select id as user_id from users where id in (${join(learnerIds)})`,
    courseIds && sql`select user_id from enrollments where course_id in (${join(courseIds)})`,
    inPeriod &&
      !withUnstarted &&
      sql`select p.user_id from courses c cross join progress p where p.course_id = c.id and ${inPeriod}`,
    query.enrollment_status &&
      sql`select e.user_id from enrollments e where ${withStatus(query.enrollment_status)}`,
    difficulty &&
      sql`select e.user_id from courses c cross join enrollments e
        where c.difficulty in (${join(difficulty)}) and e.course_id = c.id`,
  ].filter((ids) => ids instanceof Sql)
}

/** Returns the first statement that finds few learners. */
async function firstFew(database: Database, statements: readonly Sql[]): Promise<Sql | undefined> {
  for (const ids of statements) if (await isFew(database, ids)) return ids
  return undefined
}

async function isFew(database: Database, ids: Sql): Promise<boolean> {
  const counted = await database.one<Row & { found: number }>(
    sql`select count(*) as found from (select 1 from (${ids}) i limit ${few + 1}) f`,
  )
  return (counted?.found ?? 0) <= few
}

/** The part of a line that is the same for all lines of a course. */
interface LineCourse {
  readonly id: string
  readonly title: string
  readonly difficulty: string
  readonly externalId: string | null
}

function csvLines(raw: boolean): (cells: readonly Cell[]) => string {
  const cell = (value: Cell | undefined) => (typeof value === 'string' ? csvText(value, raw) : '')
  const course = remembered((text) => {
    const { id, title, difficulty, externalId } = courseOf(text)
    return { known: `${id},${csvText(title, raw)},${difficulty},`, last: csvText(externalId ?? '', raw) }
  })
  const number = remembered((text) => String(Number(text)))
  return ([id, email, firstName, lastName, externalId, lines]) => {
    if (typeof lines !== 'string') return ''
    const learner = `${id},${cell(email)},${cell(firstName)},${cell(lastName)},${cell(externalId)},`
    let records = ''
    for (const line of lines.split(betweenLines)) {
      const [key = '', standing, percentage = '', times, grade = '', graded] = line.split(betweenParts)
      const { known, last } = course(key)
      records += `${learner}${known}${standing},${number(percentage)},${times},${grade && number(grade)},${graded},${last}\r\n`
    }
    return records
  }
}

function jsonLines(): (cells: readonly Cell[]) => string {
  const course = remembered(courseOf)
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

const mostRemembered = 20_000

/** Returns a function that caches its results for recent texts. */
function remembered<Result>(make: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  return (text) => {
    const old = known.get(text)
    if (old !== undefined) return old
    const made = make(text)
    if (known.size >= mostRemembered) known.clear()
    known.set(text, made)
    return made
  }
}
