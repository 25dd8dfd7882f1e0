import sql from 'sql-template-tag'
import { addToCounters, type Counting } from './count.ts'
import { everyCounted } from './counted-enrollment.ts'
import { addTallies, firstDayKept, learnersKind, type Sums, talliesOf } from './tally.ts'

/** Maximum counters in memory. */
const maxTallies = 100_000

/** Replaces all counters by a recount, in one transaction. Time grows with the enrolments, memory does not. */
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
    if (sums.size < maxTallies) continue
    await addToCounters(database, [...sums.values()])
    sums = new Map()
  }
  await addToCounters(database, [...sums.values()])
}
