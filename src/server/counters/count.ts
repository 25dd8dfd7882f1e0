import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row, Transaction } from '../database/database.ts'
import {
  type CountedEnrollment,
  countsAsLearner,
  type GradedCount,
  gradedBetween,
  readCourseEnrollments,
  readEnrollments,
} from './counted-enrollment.ts'
import {
  addTallies,
  type CountedStatus,
  changedTallies,
  courseKinds,
  dayKinds,
  firstCountedDay,
  kindsOf,
  learnersKind,
  nonZero,
  type Sums,
  sharedKinds,
  type Tally,
  talliesOf,
} from './tally.ts'

/** Undefined if it does not exist. */
export interface StandingChange {
  readonly before: CountedEnrollment | undefined
  readonly after: CountedEnrollment | undefined
}

/** `now` is ISO 8601 in UTC. */
export interface Counting {
  readonly database: Database
  readonly now: string
}

interface CountingWrite extends Counting {
  readonly database: Transaction
  /** Collects the tallies of a batch, which are written at its end. */
  readonly batch?: { readonly tallies: Tally[] } | undefined
}

/** Setting with the id of the running correction. */
export const correctionMark = 'counter_correction'

/** Replaces the id: the differences that the correction has read are outdated. */
export const invalidCorrection = 'invalid'

/** Within both engines' maximum of parameters. */
const rowsAtOnce = 1000

/** Includes changes that are not folded in yet. */
export const counters = sql`(
  select kind, course_id, place, learners, amount from counters
  union all select kind, course_id, place, learners, amount from counter_changes) k`

/** In the transaction that changes enrolments. */
export async function countStandings(
  counting: CountingWrite,
  standings: readonly StandingChange[],
): Promise<void> {
  const firstDay = firstCountedDay(counting.now)
  const changes = standings.map(({ before, after }) => ({
    before: unlessDeleted(before),
    after: unlessDeleted(after),
  }))
  const of = (one: CountedEnrollment | undefined) => (one ? talliesOf(one, firstDay) : [])
  const tallies = [
    ...changes.flatMap(({ before, after }) => changedTallies(of(before), of(after))),
    ...learnerTallies(changes),
  ]
  // The tallies of one change are distinct.
  await writeTallies(counting, changes.length > 1 ? sumTallies(tallies) : tallies)
}

/** A deleted enrolment counts as none. */
function unlessDeleted(standing: CountedEnrollment | undefined): CountedEnrollment | undefined {
  return standing?.enrollment === 'deleted' ? undefined : standing
}

export async function countTallies(counting: CountingWrite, tallies: readonly Tally[]): Promise<void> {
  await writeTallies(counting, sumTallies(tallies))
}

function sumTallies(tallies: readonly Tally[]): Tally[] {
  const sums: Sums = new Map()
  addTallies(sums, tallies)
  return nonZero(sums)
}

/** By first or last enrolments, and deleted or restored users. */
function learnerTallies(changes: readonly StandingChange[]): Tally[] {
  const tallies: Tally[] = []
  const moved = new Set<string>()
  for (const { before, after } of changes) {
    if (before && after) {
      if (before.isUserDeleted === after.isUserDeleted || moved.has(after.userId)) continue
      moved.add(after.userId)
      tallies.push(learnerTally(before.isUserDeleted, -1), learnerTally(after.isUserDeleted, 1))
    } else if (after?.isOnly) tallies.push(learnerTally(after.isUserDeleted, 1))
    else if (before?.isOnly) tallies.push(learnerTally(before.isUserDeleted, -1))
  }
  return tallies
}

function learnerTally(isUserDeleted: boolean, learners: number): Tally {
  return { kind: learnersKind(isUserDeleted), courseId: '', place: 0, learners, amount: 0 }
}

/** Before it is deleted with its enrolments. */
export async function uncountCourse({ database, now }: CountingWrite, courseId: string): Promise<void> {
  const shared = await database.all<Row & Tally>(sql`
    select kind, '' as "courseId", place, -sum(learners) as learners, -sum(amount) as amount from ${counters}
    where kind in (${join(sharedKinds)}) and course_id = ${courseId} group by kind, place`)
  const learners = await onlyLearnersOf(database, courseId, -1)
  await countTallies({ database, now }, [...shared, ...learners])
  const own = sql`kind in (${join(courseKinds)}) and course_id = ${courseId}`
  await database.run(sql`delete from counters where ${own}`)
  await database.run(sql`delete from counter_changes where ${own}`)
}

export async function countCourse({ database, now }: CountingWrite, courseId: string): Promise<void> {
  const sums: Sums = new Map()
  const firstDay = firstCountedDay(now)
  for await (const enrollments of readCourseEnrollments(database, courseId)) {
    for (const one of enrollments) addTallies(sums, talliesOf(one, firstDay))
  }
  const learners = await onlyLearnersOf(database, courseId, 1)
  await countTallies({ database, now }, [...nonZero(sums), ...learners])
  // A running correction may have read this course's differences before.
  await database.run(sql`update settings set value = ${invalidCorrection} where name = ${correctionMark}`)
}

/** Counts learners without another course, as the change of the number of distinct learners. */
async function onlyLearnersOf(database: Database, courseId: string, times: 1 | -1): Promise<Tally[]> {
  const only = await database.all<Row & { status: string; learners: number }>(sql`
    select case when u.status = 'deleted' then 'deleted' else '' end as status, count(*) as learners
    from enrollments e join users u on u.id = e.user_id
    where e.course_id = ${courseId} and ${countsAsLearner('e')} and not exists (
      select 1 from enrollments o where o.user_id = e.user_id and ${countsAsLearner('o')} and o.course_id <> e.course_id)
    group by 1`)
  return only.map(({ status, learners }) => learnerTally(status === 'deleted', times * learners))
}

/** After a change of the course's passing score. */
export async function countPassingScore(
  { database, now }: CountingWrite,
  courseId: string,
  before: number,
  after: number,
): Promise<void> {
  if (before === after) return
  const between = gradedBetween(courseId, Math.min(before, after), Math.max(before, after))
  const sign = after > before ? 1 : -1
  const tallies = (await database.all<GradedCount>(between)).flatMap((counted): Tally[] => {
    const isUserDeleted = counted.user_status === 'deleted'
    const { passed } = kindsOf(counted.status as CountedStatus, isUserDeleted)
    const change = { place: 0, learners: sign * counted.learners, amount: 0 }
    return [
      { ...change, kind: passed, courseId, learners: -change.learners },
      { ...change, kind: passed, courseId: '', learners: -change.learners },
    ]
  })
  await countTallies({ database, now }, tallies)
}

/**
 * Adds to the counters. With a single writer their rows are updated at once. With many writers (PostgreSQL) all would wait
 * for the rows of their course, so each change is inserted as a row of its own, and `foldChanges` adds them up later.
 */
async function writeTallies(
  { database, now, batch }: CountingWrite,
  tallies: readonly Tally[],
): Promise<void> {
  if (batch) {
    batch.tallies.push(...tallies)
    return
  }
  if (!database.dialect.hasManyWriters) {
    await addToCounters(database, tallies)
    return removeOldDays(database, tallies, firstCountedDay(now))
  }
  await inBatches(tallies, async (rows) =>
    database.queue(
      sql`insert into counter_changes (kind, course_id, place, learners, amount) values ${rows}`,
    ),
  )
}

function addToCounters(database: Database, tallies: readonly Tally[]): Promise<void> {
  return inBatches(tallies, (rows) =>
    database.run(
      sql`insert into counters (kind, course_id, place, learners, amount) values ${rows} ${added}`,
    ),
  )
}

async function inBatches(tallies: readonly Tally[], write: (rows: Sql) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < tallies.length; from += rowsAtOnce) {
    const rows = tallies
      .slice(from, from + rowsAtOnce)
      .map(
        ({ kind, courseId, place, learners, amount }) =>
          sql`(${kind}, ${courseId}, ${place}, ${learners}, ${amount})`,
      )
    await write(join(rows))
  }
}

/** The first count of a day deletes the days that are no longer kept. */
async function removeOldDays(database: Database, tallies: readonly Tally[], firstDay: number): Promise<void> {
  for (const { kind, courseId, learners } of tallies) {
    if (learners < 0 || !dayKinds.includes(kind)) continue
    await database.run(
      sql`delete from counters where kind = ${kind} and course_id = ${courseId} and place < ${firstDay}`,
    )
  }
}

/** Adds to existing counters. */
const added = sql`on conflict (kind, course_id, place) do update set
  learners = counters.learners + excluded.learners, amount = counters.amount + excluded.amount`

/** About ten milliseconds' worth. */
const batchSize = 2000

/** In one transaction with a snapshot. Returns true if more are left. */
export async function foldChanges({ database, now }: Counting, limit = batchSize): Promise<boolean> {
  const last = await database.one<Row & { kind: string; course_id: string; place: number }>(sql`
    select kind, course_id, place from counter_changes order by kind, course_id, place limit 1 offset ${limit - 1}`)
  const folded = last
    ? sql`(kind, course_id, place) <= (${last.kind}, ${last.course_id}, ${last.place})`
    : sql`true`
  await database.run(sql`
    insert into counters (kind, course_id, place, learners, amount)
    select kind, course_id, place, sum(learners), sum(amount) from counter_changes where ${folded}
    group by kind, course_id, place ${added}`)
  // Delete outdated days of the courses that changed.
  await database.run(sql`
    delete from counters where kind in (${join(dayKinds)}) and place < ${firstCountedDay(now)}
      and course_id in (select course_id from counter_changes where ${folded})`)
  await database.run(sql`delete from counter_changes where ${folded}`)
  return last !== undefined
}

/** Maximum counters in memory. */
const maxTallies = 100_000

/** In one transaction. Time grows with the enrolments, memory does not. */
export async function rebuildCounters({ database, now }: Counting): Promise<void> {
  await database.run(sql`delete from counters`)
  await database.run(sql`delete from counter_changes`)
  let sums: Sums = new Map()
  const firstDay = firstCountedDay(now)
  let userId: string | undefined
  for await (const walked of readEnrollments(database)) {
    for (const one of walked) {
      addTallies(sums, talliesOf(one, firstDay), 1)
      if (one.userId === userId) continue
      userId = one.userId
      addTallies(
        sums,
        [{ kind: learnersKind(one.isUserDeleted), courseId: '', place: 0, learners: 1, amount: 0 }],
        1,
      )
    }
    if (sums.size < maxTallies) continue
    await addToCounters(database, [...sums.values()])
    sums = new Map()
  }
  await addToCounters(database, [...sums.values()])
}
