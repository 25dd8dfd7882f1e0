import sql, { join } from 'sql-template-tag'
import type { Row } from '../database/database.ts'
import { added, type Counting } from './count.ts'
import { dayKinds, firstDayKept } from './tally.ts'

/** Changes per transaction, about ten milliseconds' worth. */
const batchSize = 2000

/** Adds the changes of many writers to the counters, in one transaction with a snapshot. Returns true if more are left. */
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
    delete from counters where kind in (${join(dayKinds)}) and place < ${firstDayKept(now)}
      and course_id in (select course_id from counter_changes where ${folded})`)
  await database.run(sql`delete from counter_changes where ${folded}`)
  return last !== undefined
}
