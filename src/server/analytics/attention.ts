import sql, { type Sql } from 'sql-template-tag'
import { type Attention, attentionDays, stuckBelow } from '../../contract/constants.ts'

/** Limits from which a learner needs attention. */
interface AttentionLimits {
  /** Calendar days (UTC) without access. */
  readonly inactiveDays: number
  /** Calendar days (UTC) without progress. */
  readonly stuckDays: number
  /** Percentage from which a learner is not stuck. */
  readonly stuckBelow: number
}

/** Those of the dashboard and of digests. */
const standardLimits: AttentionLimits = { inactiveDays: attentionDays, stuckDays: attentionDays, stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** A learner whose last access is earlier is inactive. */
function recentSince(now: Date, days: number): string {
  const day = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * Returns the condition for each reason, in a query over enrolments in published courses (`c`, `e`, `p` and `g`). A
 * completed enrolment is neither inactive nor stuck; `not_passed` requires a grade, and like the pass rate any enrolment.
 */
export function attentionConditions(
  now: Date,
  { inactiveDays, stuckDays, stuckBelow }: AttentionLimits = standardLimits,
  course = { status: sql`c.status`, passingScore: sql`c.passing_score` },
): Readonly<Record<Attention, Sql>> {
  const isOpen = sql`${course.status} = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'`
  return {
    inactive: sql`(${isOpen} and coalesce(p.last_accessed, e.enrolled_at) < ${recentSince(now, inactiveDays)})`,
    stuck: sql`(${isOpen} and p.status = 'in_progress' and p.percentage < ${stuckBelow} and p.risen_at < ${recentSince(now, stuckDays)})`,
    not_passed: sql`(${course.status} = 'published' and g.percent < ${course.passingScore})`,
  }
}
