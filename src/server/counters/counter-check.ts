import { randomUUID } from 'node:crypto'
import sql, { join, type Sql } from 'sql-template-tag'
import type { Database, Row, Store, Transaction } from '../database/database.ts'
import { type Counting, counters, countTallies, invalidCorrection, correctionMark as mark } from './count.ts'
import { type CourseRange, countsAsLearner, readEnrollments } from './counted-enrollment.ts'
import {
  addTallies,
  dayKinds,
  firstCountedDay,
  learnersKind,
  nonZero,
  type Sums,
  sharedKinds,
  type Tally,
  talliesOf,
} from './tally.ts'

const comparedAtOnce = 100_000

/**
 * Counts counters that differ from a recount, in one snapshot. Time grows with the enrolments, memory does not: many
 * counters are compared in several rounds.
 */
export async function countDifferingCounters(
  { database, now }: Counting,
  atOnce = comparedAtOnce,
): Promise<number> {
  const firstDay = firstCountedDay(now)
  const academy: Sums = new Map()
  let differing = 0
  for (const range of await rangesOf(database, atOnce)) {
    const differences = await courseDifferences(database, range, firstDay, (tallies) => {
      addTallies(academy, tallies, 1)
    })
    differing += differences.length
  }
  addTallies(academy, await countLearnersByStatus(database), 1)
  addTallies(academy, await readCounters(database, ofAcademy), -1)
  return differing + nonZero(academy).length
}

/**
 * Returns the differences of courses' counters from a recount.
 *
 * @param onTallies receives the tallies of each enrolment for the academy as a whole
 */
async function courseDifferences(
  database: Database,
  range: CourseRange,
  firstDay: number,
  onTallies: (tallies: readonly Tally[]) => void = () => {},
): Promise<Tally[]> {
  const own: Sums = new Map()
  for await (const enrollments of readEnrollments(database, range)) {
    for (const one of enrollments) {
      const tallies = talliesOf(one, firstDay)
      addTallies(
        own,
        tallies.filter(({ courseId }) => courseId !== ''),
        1,
      )
      onTallies(tallies.filter(({ courseId }) => courseId === ''))
    }
  }
  addTallies(own, await readCourseCounters(database, range, firstDay), -1)
  return nonZero(own)
}

/** From the sum of its courses' counters and a count of its learners. */
async function academyDifferences(database: Database): Promise<Tally[]> {
  const sums = await database.all<Row & Tally>(sql`
    select kind, '' as "courseId", place, sum(learners) as learners, sum(amount) as amount from ${counters}
    where course_id <> '' and kind in (${join(sharedKinds)}) group by kind, place`)
  const academy: Sums = new Map()
  addTallies(academy, [...sums, ...(await countLearnersByStatus(database))], 1)
  addTallies(academy, await readCounters(database, ofAcademy), -1)
  return nonZero(academy)
}

/** Each has about `atOnce` counters. */
async function rangesOf(database: Database, atOnce: number): Promise<CourseRange[]> {
  const sizes = await database.all<Row & { course_id: string; size: number }>(
    sql`select course_id, count(*) as size from ${counters} where course_id <> '' group by course_id order by course_id`,
  )
  const starts = ['']
  let inRange = 0
  for (const { course_id: courseId, size } of sizes) {
    if (inRange > 0 && inRange + size > atOnce) {
      starts.push(courseId)
      inRange = 0
    }
    inRange += size
  }
  return starts.map((start, index) => {
    const below = starts[index + 1]
    return below === undefined ? [start] : [start, below]
  })
}

async function readCourseCounters(
  database: Database,
  [least, below]: CourseRange,
  firstDay: number,
): Promise<Tally[]> {
  const end = below === undefined ? sql`true` : sql`course_id < ${below}`
  return (await readCounters(database, sql`course_id <> '' and course_id >= ${least} and ${end}`)).filter(
    // Earlier days are unused, and deleted by the next change.
    ({ kind, place }) => !dayKinds.includes(kind) || place >= firstDay,
  )
}

const ofAcademy = sql`course_id = ''`

async function readCounters(database: Database, condition: Sql): Promise<Tally[]> {
  return database.all<Row & Tally>(
    sql`select kind, course_id as "courseId", place, learners, amount from ${counters} where ${condition}`,
  )
}

async function countLearnersByStatus(database: Database): Promise<Tally[]> {
  const counted = await database.all<Row & { status: string; learners: number }>(sql`
    select case when u.status = 'deleted' then 'deleted' else '' end as status, count(*) as learners from users u
    where exists (select 1 from enrollments e where e.user_id = u.id and ${countsAsLearner('e')}) group by 1`)
  return counted.map(({ status, learners }) => ({
    kind: learnersKind(status === 'deleted'),
    courseId: '',
    place: 0,
    learners,
    amount: 0,
  }))
}

/** Maximum attempts if deleted courses are restored meanwhile. */
const maxAttempts = 20

/** A few milliseconds' worth. */
const batchSize = 500

/**
 * Corrects counters by a recount while other processes write. The difference is read from one snapshot and stays valid
 * until it is added, because every write changes counters and data alike. Takes time proportional to the enrolments, in
 * short transactions. Returns false if another process has started a correction, which it finishes.
 */
export async function correctCounters(
  store: Store,
  now: () => Date,
  atOnce = comparedAtOnce,
): Promise<boolean> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (await correctOnce(store, now, atOnce)) return true
    // Otherwise another process has started one, and may have finished.
    const isInvalid = sql`select 1 from settings where name = ${mark} and value = ${invalidCorrection}`
    if (!(await store.one(isInvalid))) return false
  }
  return false
}

async function correctOnce(store: Store, now: () => Date, atOnce: number): Promise<boolean> {
  const correction = randomUUID()
  await store.write((transaction) => claimCorrection(transaction, correction))
  // Two concurrent corrections would add the same difference twice.
  const write = (work: (transaction: Transaction) => Promise<unknown>) =>
    store.write(async (transaction) => {
      const own = await isOwn(transaction, correction)
      if (own) await work(transaction)
      return own
    })
  const add = async (differences: readonly Tally[]) => {
    for (let from = 0; from < differences.length; from += batchSize) {
      const some = differences.slice(from, from + batchSize)
      const time = now().toISOString()
      if (!(await write((database) => addDifferences({ database, now: time }, some)))) return false
    }
    return true
  }
  for (const range of await store.read((view) => rangesOf(view, atOnce))) {
    const firstDay = firstCountedDay(now().toISOString())
    if (!(await add(await store.read((view) => courseDifferences(view, range, firstDay))))) return false
  }
  // After the courses: deleting a course subtracts its counters from the academy's.
  if (!(await add(await store.read(academyDifferences)))) return false
  return write((transaction) => transaction.run(sql`delete from settings where name = ${mark}`))
}

async function claimCorrection(transaction: Transaction, correction: string): Promise<void> {
  await transaction.run(sql`delete from settings where name = ${mark}`)
  await transaction.run(sql`insert into settings (name, value) values (${mark}, ${correction})`)
}

async function isOwn(transaction: Transaction, correction: string): Promise<boolean> {
  const own = sql`select 1 from settings where name = ${mark} and value = ${correction}`
  return (await transaction.one(own)) !== undefined
}

async function addDifferences(
  counting: { readonly database: Transaction; readonly now: string },
  differences: readonly Tally[],
): Promise<void> {
  const { database, now } = counting
  const firstDay = firstCountedDay(now)
  const courseIds = [...new Set(differences.map(({ courseId }) => courseId))].filter((id) => id !== '')
  const existing = new Set(await findCourses(database, courseIds))
  const deletedIds = courseIds.filter((id) => !existing.has(id))
  if (deletedIds.length > 0) {
    await database.run(sql`delete from counters where course_id in (${join(deletedIds)})`)
    await database.run(sql`delete from counter_changes where course_id in (${join(deletedIds)})`)
  }
  const added = differences.filter(
    ({ kind, courseId, place }) =>
      (courseId === '' || existing.has(courseId)) && (!dayKinds.includes(kind) || place >= firstDay),
  )
  await countTallies(counting, added)
}

async function findCourses(database: Transaction, courseIds: readonly string[]): Promise<string[]> {
  if (courseIds.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from courses where id in (${join(courseIds)})`,
  )
  return rows.map(({ id }) => id)
}
