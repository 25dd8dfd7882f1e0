import { randomUUID } from 'node:crypto'
import sql, { join } from 'sql-template-tag'
import type { Row, Store, Transaction } from '../database/database.ts'
import { countTallies, invalidCorrection, correctionMark as mark } from './count.ts'
import { academyDifferences, comparedAtOnce, courseDifferences, rangesOf } from './counter-check.ts'
import { dayKinds, firstDayKept, type Tally } from './tally.ts'

/** Maximum attempts if deleted courses are restored meanwhile. */
const maxAttempts = 20

/** Counters per transaction, a few milliseconds' worth. */
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
    if (await correct(store, now, atOnce)) return true
    // Otherwise another process has started one, and may have finished.
    const isInvalid = sql`select 1 from settings where name = ${mark} and value = ${invalidCorrection}`
    if (!(await store.one(isInvalid))) return false
  }
  return false
}

async function correct(store: Store, now: () => Date, atOnce: number): Promise<boolean> {
  const correction = randomUUID()
  await store.write((transaction) => begin(transaction, correction))
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
    const firstDay = firstDayKept(now().toISOString())
    if (!(await add(await store.read((view) => courseDifferences(view, range, firstDay))))) return false
  }
  // After the courses: deleting a course subtracts its counters from the academy's.
  if (!(await add(await store.read(academyDifferences)))) return false
  return write((transaction) => transaction.run(sql`delete from settings where name = ${mark}`))
}

async function begin(transaction: Transaction, correction: string): Promise<void> {
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
  const firstDay = firstDayKept(now)
  const courseIds = [...new Set(differences.map(({ courseId }) => courseId))].filter((id) => id !== '')
  const there = new Set(await existing(database, courseIds))
  const gone = courseIds.filter((id) => !there.has(id))
  if (gone.length > 0) {
    await database.run(sql`delete from counters where course_id in (${join(gone)})`)
    await database.run(sql`delete from counter_changes where course_id in (${join(gone)})`)
  }
  const added = differences.filter(
    ({ kind, courseId, place }) =>
      (courseId === '' || there.has(courseId)) && (!dayKinds.includes(kind) || place >= firstDay),
  )
  await countTallies(counting, added)
}

async function existing(database: Transaction, courseIds: readonly string[]): Promise<string[]> {
  if (courseIds.length === 0) return []
  const rows = await database.all<Row & { id: string }>(
    sql`select id from courses where id in (${join(courseIds)})`,
  )
  return rows.map(({ id }) => id)
}
