import sql from 'sql-template-tag'
import { addToCounters, type Counting } from './count.ts'
import { everyCounted } from './counted-enrollment.ts'
import { addTallies, firstDayKept, learnersKind, type Sums, talliesOf } from './tally.ts'

/** Counters that are held in memory at once. */
const talliesHeld = 100_000

/**
 * Replaces all counters by those of a recount, in one transaction. Takes a time that grows with the enrolments, and
 * memory that does not.
 */
export async function rebuildCounters({ database, now }: Counting): Promise<void> {
  await database.run(sql`delete from counters`)
  await database.run(sql`delete from counter_changes`)
  let sums: Sums = new Map()
  const firstDay = firstDayKept(now)
  let userId: string | undefined
  for await (const walked of everyCounted(database)) {
    for (const one of walked) {
      addTallies(sums, talliesOf(one, firstDay), 1)
      if (one.userId === userId) continue
      userId = one.userId
      addTallies(sums, [{ kind: learnersKind(one.gone), courseId: '', place: 0, learners: 1, amount: 0 }], 1)
    }
    if (sums.size < talliesHeld) continue
    await addToCounters(database, [...sums.values()])
    sums = new Map()
  }
  await addToCounters(database, [...sums.values()])
}
