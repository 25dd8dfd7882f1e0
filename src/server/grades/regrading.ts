import sql from 'sql-template-tag'
import type { Course } from '../../contract/courses.ts'
import type { Writing } from '../audit/entry.ts'
import type { EnrollmentPlace } from '../counters/counted-enrollment.ts'
import { findCourse, toCourse } from '../courses/course-row.ts'
import type { Database, Row } from '../database/database.ts'

/** What is left to do for the learners of a course after its criteria have changed; who changed them, from where. */
export interface Regrading extends Pick<Writing, 'principal' | 'origin'> {
  /** True where their grades are to be calculated anew. */
  readonly weighted: boolean
  /** The last one who has been looked at; undefined before the first. */
  readonly after: EnrollmentPlace | undefined
}

/** Settings of this kind each have the id of a course behind it. */
const kind = 'regrading '
/** What follows upon all names of that kind. */
const beyond = 'regrading!'

/** So many courses are changed at the same time; those beyond are left to whoever keeps the academy in order. */
const mostAtOnce = 100

/** What is left to do for a course; undefined for nothing. */
export async function unfinishedOf(database: Database, courseId: string): Promise<Regrading | undefined> {
  const row = await database.one<Row & { value: string }>(
    sql`select value from settings where name = ${kind + courseId}`,
  )
  return row && regradingIn(row.value)
}

/**
 * One of the courses for which something is left to do, as it is now; one in the trash waits there.
 *
 * @param requestId of the request that changed it; any where it is undefined
 */
export async function anyUnfinished(
  database: Database,
  requestId: string | undefined,
): Promise<{ readonly course: Course; readonly regrading: Regrading } | undefined> {
  const rows = await database.all<Row & { id: string; value: string }>(sql`
    select c.id, s.value from settings s join courses c on c.id = substr(s.name, ${kind.length + 1})
    where s.name > ${kind} and s.name < ${beyond} order by s.name limit ${mostAtOnce}`)
  for (const { id, value } of rows) {
    const regrading = regradingIn(value)
    if (requestId !== undefined && regrading.origin.requestId !== requestId) continue
    return { course: toCourse(await findCourse(database, id)), regrading }
  }
  return undefined
}

/** Notes what is left to do for a course; nothing where it is undefined. */
export async function keepUnfinished(
  database: Database,
  courseId: string,
  regrading: Regrading | undefined,
): Promise<void> {
  const name = kind + courseId
  await database.run(
    regrading
      ? sql`insert into settings (name, value) values (${name}, ${textOf(regrading)})
            on conflict (name) do update set value = excluded.value`
      : sql`delete from settings where name = ${name}`,
  )
}

function textOf({ weighted, after, principal: { userId, credential }, origin }: Regrading): string {
  return JSON.stringify({ weighted, after, principal: { userId, credential }, origin })
}

function regradingIn(text: string): Regrading {
  // Written by `textOf`.
  return JSON.parse(text) as Regrading
}
