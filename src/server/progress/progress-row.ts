import sql from 'sql-template-tag'
import type { Progress, ProgressStep } from '../../contract/progress.ts'
import type { Database } from '../database/database.ts'
import { type LearnerCourseRow, learnerCourseColumns, learnerCourseOf } from './learner-course.ts'

/** A progress row, with the current names of its learner and course. */
export interface ProgressRow extends LearnerCourseRow {
  readonly percentage: number
  readonly status: string
  readonly started_at: string | null
  readonly last_accessed: string
  readonly completed_at: string | null
  readonly version: number
  readonly updated_at: string
}

/** Columns of ProgressRow, from `progress p`. */
export const progressColumns = sql`${learnerCourseColumns('p')},
  p.percentage, p.status, p.started_at, p.last_accessed, p.completed_at, p.version, p.updated_at`

/** Finds a learner's progress in a course. */
export async function findProgress(
  database: Database,
  userId: string,
  courseId: string,
): Promise<Progress | undefined> {
  const row = await database.one<ProgressRow>(
    sql`select ${progressColumns} from progress p where p.user_id = ${userId} and p.course_id = ${courseId}`,
  )
  return row && toProgress(row)
}

/** Converts a row to the API's form. */
export function toProgress(row: ProgressRow): Progress {
  return {
    ...learnerCourseOf(row),
    completionPercentage: row.percentage,
    status: row.status as Progress['status'],
    startedAt: row.started_at,
    lastAccessed: row.last_accessed,
    completedAt: row.completed_at,
    version: row.version,
    updatedAt: row.updated_at,
  }
}

/** A row of the progress history, with the current names of its learner and course. */
export interface StepRow extends LearnerCourseRow {
  readonly version: number
  readonly percentage: number
  readonly status: string
  readonly last_accessed: string
  readonly recorded_at: string
}

/** Columns of StepRow, from `progress_steps s`. */
export const stepColumns = sql`${learnerCourseColumns('s')},
  s.version, s.percentage, s.status, s.last_accessed, s.recorded_at`

/** Converts a row to the API's form. */
export function toStep(row: StepRow): ProgressStep {
  return {
    ...learnerCourseOf(row),
    version: row.version,
    completionPercentage: row.percentage,
    status: row.status as ProgressStep['status'],
    lastAccessed: row.last_accessed,
    recordedAt: row.recorded_at,
  }
}
