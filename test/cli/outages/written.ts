import sql, { type Sql } from 'sql-template-tag'
import { differingCounters } from '../../../src/server/counters/counter-check.ts'
import type { Row, Store } from '../../../src/server/database/database.ts'
import { emailsOf, subjectOf, type Told, type Write } from './writes.ts'

/** Effect of a write: its responses, and for progress its state. */
interface Made extends Row {
  readonly subject: string
  readonly answer: string
  readonly percentage: number | null
  readonly version: number | null
}

/** Returns the problems of an academy after these writes: lost, duplicate, partial or miscounted ones. */
export async function faultsIn(database: Store, writes: readonly Write[], told: Told): Promise<string[]> {
  const faults = [...told.wrong]
  const expectSame = (what: string, is: unknown, wanted: unknown) => {
    if (is !== wanted) faults.push(`${what}: ${is} in place of ${wanted}`)
  }
  const rows = await madeBy(database)
  const bySubject = Map.groupBy(rows, ({ subject }) => subject)
  for (const write of writes) {
    const name = `${write.kind} ${write.number}`
    const answers = new Set(told.done.get(write.number))
    expectSame(`${name}: different answers`, answers.size, 1)
    const made = subjectsOf(write).map((subject) => bySubject.get(subject) ?? [])
    for (const { length } of made) expectSame(`${name}: rows`, length, 1)
    expectSame(name, made.map(([row]) => row?.answer).join(' '), [...answers][0])
    if (write.kind !== 'progress') continue
    const [{ percentage, version } = {}] = made.flat()
    expectSame(`${name}: percentage`, percentage, subjectOf(write).percentage)
    expectSame(`${name}: version`, version, 1)
  }
  expectSame('rows of all', rows.length, writes.flatMap(subjectsOf).length)
  const keys = (standing: Sql) =>
    database.one(sql`select count(*) as found from idempotency where key like 'write-%' and ${standing}`)
  const kept = writes.filter(({ kind }) => kind !== 'progress').length
  expectSame('kept keys', (await keys(sql`status between 200 and 299`))?.['found'], kept)
  expectSame('keys without an answer', (await keys(sql`status = 0`))?.['found'], 0)
  const now = new Date().toISOString()
  expectSame('differing counters', await differingCounters({ database, now }), 0)
  return faults
}

function subjectsOf(write: Write): string[] {
  const { learner, course, title } = subjectOf(write)
  if (write.kind === 'course') return [title]
  if (write.kind === 'users' || write.kind === 'user') return emailsOf(write)
  return [`${write.kind} ${learner} ${course}`]
}

function madeBy(database: Store): Promise<Made[]> {
  return database.all<Made>(sql`
    select title as subject, id as answer, cast(null as double precision) as percentage, cast(null as bigint) as version
      from courses where title like 'Written %'
    union all
    select email, id, null, null from users where email like 'written-%'
    union all
    select case when p.user_id is null then 'enrolment ' else 'progress ' end || u.external_id || ' ' || c.external_id,
      case when p.user_id is null then e.id else e.user_id || ' ' || e.course_id end, p.percentage, p.version
    from enrollments e join users u on u.id = e.user_id join courses c on c.id = e.course_id
      left join progress p on p.user_id = e.user_id and p.course_id = e.course_id`)
}
