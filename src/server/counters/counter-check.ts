import sql, { type Sql } from 'sql-template-tag'
import type { Database, Row } from '../database/database.ts'
import { type Counting, counters } from './count.ts'
import { type CourseRange, everyCounted, learns } from './counted-enrollment.ts'
import {
  addTallies,
  dayKinds,
  firstDayKept,
  learnersKind,
  type Sums,
  type Tally,
  talliesOf,
  withoutNothing,
} from './tally.ts'

/** Counters that are compared at once. */
const comparedAtOnce = 100_000

/**
 * How many counters differ from a recount; all of it in one view of the data. Takes a time that grows with the
 * enrolments, and memory that does not: with very many counters they are compared in several rounds.
 */
export async function differingCounters(
  { database, now }: Counting,
  atOnce = comparedAtOnce,
): Promise<number> {
  const firstDay = firstDayKept(now)
  const academy: Sums = new Map()
  let differing = 0
  for (const range of await rangesOf(database, atOnce)) {
    const own: Sums = new Map()
    for await (const enrollments of everyCounted(database, range)) {
      for (const one of enrollments) {
        const tallies = talliesOf(one, firstDay)
        addTallies(
          own,
          tallies.filter(({ courseId }) => courseId !== ''),
          1,
        )
        addTallies(
          academy,
          tallies.filter(({ courseId }) => courseId === ''),
          1,
        )
      }
    }
    differing += compared(own, await keptIn(database, range, firstDay))
  }
  addTallies(academy, await learnersCounted(database), 1)
  return differing + compared(academy, await keptOfAcademy(database))
}

/** Ranges of courses with so many counters each; what is counted without a course is in the last. */
async function rangesOf(database: Database, atOnce: number): Promise<CourseRange[]> {
  const sizes = await database.all<Row & { course_id: string; size: number }>(
    sql`select course_id, count(*) as size from ${counters} where course_id <> '' group by course_id order by course_id`,
  )
  const starts = ['']
  let held = 0
  for (const { course_id: courseId, size } of sizes) {
    if (held > 0 && held + size > atOnce) {
      starts.push(courseId)
      held = 0
    }
    held += size
  }
  return starts.map((start, index) => {
    const below = starts[index + 1]
    return below === undefined ? [start] : [start, below]
  })
}

async function keptIn(database: Database, [least, below]: CourseRange, firstDay: number): Promise<Tally[]> {
  const end = below === undefined ? sql`true` : sql`course_id < ${below}`
  return (await kept(database, sql`course_id <> '' and course_id >= ${least} and ${end}`)).filter(
    // Nobody asks for earlier days, and they go with the next change.
    ({ kind, place }) => !dayKinds.includes(kind) || place >= firstDay,
  )
}

async function keptOfAcademy(database: Database): Promise<Tally[]> {
  return kept(database, sql`course_id = ''`)
}

async function kept(database: Database, condition: Sql): Promise<Tally[]> {
  return database.all<Row & Tally>(
    sql`select kind, course_id as "courseId", place, learners, amount from ${counters} where ${condition}`,
  )
}

async function learnersCounted(database: Database): Promise<Tally[]> {
  const counted = await database.all<Row & { status: string; learners: number }>(sql`
    select case when u.status = 'deleted' then 'deleted' else '' end as status, count(*) as learners from users u
    where exists (select 1 from enrollments e where e.user_id = u.id and ${learns('e')}) group by 1`)
  return counted.map(({ status, learners }) => ({
    kind: learnersKind(status === 'deleted'),
    courseId: '',
    place: 0,
    learners,
    amount: 0,
  }))
}

/** How many differ. */
function compared(counted: Sums, kept: readonly Tally[]): number {
  addTallies(counted, kept, -1)
  return withoutNothing(counted).length
}
