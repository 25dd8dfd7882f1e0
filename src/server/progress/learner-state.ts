import sql from 'sql-template-tag'
import { countsAsLearner } from '../analytics/rows.ts'
import type { Database, Row } from '../database/database.ts'
import { isOf } from '../database/reference.ts'

/** How a learner stands in a course. Without progress, the status is `none` at 0%. */
export interface LearnerState {
  readonly userId: string
  readonly courseId: string
  readonly enrollment: string
  readonly status: string
  readonly percentage: number
  /** When the percentage last rose; null before the first progress. */
  readonly risenAt: string | null
  readonly grade: number | null
}

interface StateRow extends Row {
  readonly user_id: string
  readonly course_id: string
  readonly enrollment: string
  readonly status: string | null
  readonly percentage: number | null
  readonly risen_at: string | null
  readonly grade: number | null
}

const columns = sql`e.user_id, e.course_id, e.status as enrollment, p.status, p.percentage, p.risen_at, g.percent as grade`

const tables = sql`enrollments e
  left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
  left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id`

/** Undefined if the user is not a learner of the course. */
export async function findState(
  database: Database,
  userId: string,
  courseId: string,
): Promise<LearnerState | undefined> {
  const row = await database.one<StateRow>(sql`
    select ${columns} from ${tables}
    where e.user_id = ${userId} and e.course_id = ${courseId} and e.role = 'learner'`)
  return row && toState(row)
}

export interface ProgressBehind {
  readonly startedAt: string | null
  readonly lastAccessed: string
  readonly completedAt: string | null
  readonly version: number
  readonly updatedAt: string
}

interface OneRow extends StateRow {
  readonly started_at: string | null
  readonly last_accessed: string | null
  readonly completed_at: string | null
  readonly version: number
  readonly updated_at: string
}

export interface StateWithProgress {
  readonly state: LearnerState
  readonly progress: ProgressBehind | undefined
}

/** In one statement; undefined if the user is not a learner of the course. */
export async function readStateWithProgress(
  database: Database,
  userId: string,
  course: string,
): Promise<StateWithProgress | undefined> {
  const row = await database.one<OneRow>(sql`
    select ${columns}, p.started_at, p.last_accessed, p.completed_at, p.version, p.updated_at from ${tables}
    where e.user_id = ${userId} and ${isOf(sql`e.course_id`, 'courses', course)} and e.role = 'learner'`)
  if (!row) return undefined
  const { started_at: startedAt, last_accessed: lastAccessed, completed_at: completedAt, version } = row
  return {
    state: toState(row),
    progress:
      lastAccessed === null
        ? undefined
        : { startedAt, lastAccessed, completedAt, version, updatedAt: row.updated_at },
  }
}

interface InCourseRow extends StateRow {
  readonly completed_at: string | null
  readonly created_at: string
  readonly id: string
}

export type WalkedInCourse = LearnerState & Pick<ProgressBehind, 'completedAt'>

const atOnce = 1_000

export async function* readCourseEnrollments(
  database: Database,
  courseId: string,
): AsyncGenerator<WalkedInCourse[], undefined> {
  for (let after = sql`true`; ; ) {
    const rows = await database.all<InCourseRow>(sql`
      select ${columns}, p.completed_at, e.created_at, e.id from ${tables}
      where e.course_id = ${courseId} and ${countsAsLearner('e')} and ${after}
      order by e.created_at, e.id limit ${atOnce}`)
    yield rows.map((row) => ({ completedAt: row.completed_at, ...toState(row) }))
    const last = rows[atOnce - 1]
    if (!last) return
    after = sql`(e.created_at, e.id) > (${last.created_at}, ${last.id})`
  }
}

export function toState(row: StateRow): LearnerState {
  return {
    userId: row.user_id,
    courseId: row.course_id,
    enrollment: row.enrollment,
    status: row.status ?? 'none',
    percentage: row.percentage ?? 0,
    risenAt: row.risen_at,
    grade: row.grade,
  }
}
