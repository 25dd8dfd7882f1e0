import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row, Transaction } from '../database/database.ts'
import {
  type CountedEnrollment,
  countedIn,
  countedOf,
  gradedBetween,
  learns,
  type OwnEnrollment,
} from './counted-enrollment.ts'
import {
  addTallies,
  changedTallies,
  courseKinds,
  dayKinds,
  firstDayKept,
  learnersKind,
  type Sums,
  sharedKinds,
  type Tally,
  talliesOf,
  withoutNothing,
} from './tally.ts'

/** How an enrolment stood and stands; undefined where it was not, or is no longer. */
export interface Change {
  readonly before: CountedEnrollment | undefined
  readonly after: CountedEnrollment | undefined
}

/** A transaction, and the time of it, ISO 8601 in UTC. */
export interface Counting {
  readonly database: Database
  readonly now: string
}

/** The same, for what is counted together with what changes it. */
export interface CountingWrite extends Counting {
  readonly database: Transaction
}

/** The row of `settings` that says who corrects the counters. */
export const correctionMark = 'counter_correction'

/** In place of whoever that is: what was found lacking is no longer what lacks, and has to be found anew. */
export const invalidCorrection = 'invalid'

/** Rows of one statement: as many parameters as any engine takes. */
const rowsAtOnce = 1000

/** All rows of the counters: those that are kept, and the changes that are not folded into them yet. */
export const counters = sql`(
  select kind, course_id, place, learners, amount from counters
  union all select kind, course_id, place, learners, amount from counter_changes) k`

/** Brings the counters up to date with changes of learners' enrolments, in the transaction that writes those. */
export async function count(
  { database, now }: CountingWrite,
  changes: readonly Change[],
  others: readonly Tally[] = [],
): Promise<void> {
  const firstDay = firstDayKept(now)
  const of = (one: CountedEnrollment | undefined) => (one ? talliesOf(one, firstDay) : [])
  const changed = changes.flatMap(({ before, after }) => changedTallies(of(before), of(after)))
  const tallies =
    changes.length + others.length > 1 ? summed([...changed, ...others]) : [...changed, ...others]
  await add(database, tallies)
  if (!hasManyWriters(database)) await removeOldDays(database, tallies, firstDay)
}

function summed(tallies: readonly Tally[]): Tally[] {
  const sums: Sums = new Map()
  addTallies(sums, tallies)
  return withoutNothing(sums)
}

/**
 * Does what changes how a learner stands in a course, or in all of theirs, and counts it: in the transaction that it
 * belongs to.
 */
export async function counting<Result>(
  { database, now }: CountingWrite,
  { userId, courseId }: { readonly userId: string; readonly courseId?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await countedOf(database, userId, courseId)
  const result = await work()
  const after = await countedOf(database, userId, courseId)
  const changes = [...new Set([...before, ...after].map((one) => one.courseId))].map((id) => ({
    before: before.find((one) => one.courseId === id),
    after: after.find((one) => one.courseId === id),
  }))
  await count({ database, now }, changes, learnerChange(before, after))
  return result
}

/** What is counted besides of somebody who has just been enrolled: one learner more, where this is their first course. */
export function newLearner(enrolled: OwnEnrollment): Tally[] {
  return learnerChange([], [enrolled])
}

/** Whoever begins or ends to learn anywhere, or is deleted or restored, is one learner more or less. */
function learnerChange([before]: readonly OwnEnrollment[], [after]: readonly OwnEnrollment[]): Tally[] {
  const learners = (gone: boolean, times: 1 | -1): Tally[] => [
    { kind: learnersKind(gone), courseId: '', place: 0, learners: times, amount: 0 },
  ]
  if (before && after) {
    return before.gone === after.gone ? [] : [...learners(before.gone, -1), ...learners(after.gone, 1)]
  }
  if (after) return after.isOnly ? learners(after.gone, 1) : []
  return before?.isOnly ? learners(before.gone, -1) : []
}

/** Takes a course out of the counters, before it is deleted with its enrolments. */
export async function forgetCourse({ database, now }: CountingWrite, courseId: string): Promise<void> {
  const shared = await database.all<Row & Tally>(sql`
    select kind, '' as "courseId", place, -sum(learners) as learners, -sum(amount) as amount from ${counters}
    where kind in (${join(sharedKinds)}) and course_id = ${courseId} group by kind, place`)
  const learners = await onlyLearnersOf(database, courseId, -1)
  await count({ database, now }, [], [...shared, ...learners])
  const own = sql`kind in (${join(courseKinds)}) and course_id = ${courseId}`
  await database.run(sql`delete from counters where ${own}`)
  await database.run(sql`delete from counter_changes where ${own}`)
}

/** Puts a course into the counters again, after it came back with its enrolments. */
export async function countCourse({ database, now }: CountingWrite, courseId: string): Promise<void> {
  const sums: Sums = new Map()
  const firstDay = firstDayKept(now)
  for await (const enrollments of countedIn(database, courseId)) {
    for (const one of enrollments) addTallies(sums, talliesOf(one, firstDay))
  }
  const learners = await onlyLearnersOf(database, courseId, 1)
  await count({ database, now }, [], [...withoutNothing(sums), ...learners])
  // Whoever corrects the counters may have found before what the course lacked then.
  await database.run(sql`update settings set value = ${invalidCorrection} where name = ${correctionMark}`)
}

/** Who learns in this course alone, as the change of how many learn anywhere. */
async function onlyLearnersOf(database: Database, courseId: string, times: 1 | -1): Promise<Tally[]> {
  const only = await database.all<Row & { status: string; learners: number }>(sql`
    select case when u.status = 'deleted' then 'deleted' else '' end as status, count(*) as learners
    from enrollments e join users u on u.id = e.user_id
    where e.course_id = ${courseId} and ${learns('e')} and not exists (
      select 1 from enrollments o where o.user_id = e.user_id and ${learns('o')} and o.course_id <> e.course_id)
    group by 1`)
  return only.map(({ status, learners }) => ({
    kind: learnersKind(status === 'deleted'),
    courseId: '',
    place: 0,
    learners: times * learners,
    amount: 0,
  }))
}

/** Counts whom a new passing score of a course lets pass or fail. */
export async function countPassingScore(
  { database, now }: CountingWrite,
  courseId: string,
  before: number,
  after: number,
): Promise<void> {
  if (before === after) return
  const between = gradedBetween(courseId, Math.min(before, after), Math.max(before, after))
  const learners = (await database.one<Row & { learners: number }>(between))?.learners ?? 0
  const change = after > before ? learners : -learners
  await count({ database, now }, [], [{ kind: 'failed', courseId, place: 0, learners: change, amount: 0 }])
}

/**
 * Adds to the counters. Where one program writes at a time their rows are changed at once. On an engine with many
 * writers all learners of a course would wait for its row: there each change is a row of its own, and `foldChanges`
 * brings them together.
 */
function add(database: Transaction, tallies: readonly Tally[]): Promise<void> {
  if (!hasManyWriters(database)) return addToCounters(database, tallies)
  return inParts(tallies, async (rows) =>
    database.later(
      sql`insert into counter_changes (kind, course_id, place, learners, amount) values ${rows}`,
    ),
  )
}

/** Adds to the rows of the counters themselves. */
export function addToCounters(database: Database, tallies: readonly Tally[]): Promise<void> {
  return inParts(tallies, (rows) =>
    database.run(
      sql`insert into counters (kind, course_id, place, learners, amount) values ${rows} ${added}`,
    ),
  )
}

async function inParts(tallies: readonly Tally[], write: (rows: Sql) => Promise<unknown>): Promise<void> {
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

/** With the first count of a day go those of a day that is kept no longer. */
async function removeOldDays(database: Database, tallies: readonly Tally[], firstDay: number): Promise<void> {
  for (const { kind, courseId, learners } of tallies) {
    if (learners < 0 || !dayKinds.includes(kind)) continue
    await database.run(
      sql`delete from counters where kind = ${kind} and course_id = ${courseId} and place < ${firstDay}`,
    )
  }
}

/** True on an engine where transactions of several programs go on at the same time. */
export function hasManyWriters({ dialect }: Pick<Database, 'dialect'>): boolean {
  return dialect.name === 'postgres'
}

/** Adds rows to the counters that are there. */
export const added = sql`on conflict (kind, course_id, place) do update set
  learners = counters.learners + excluded.learners, amount = counters.amount + excluded.amount`
