import sql, { type Sql } from 'sql-template-tag'
import { stuckBelow } from '../counters/tally.ts'

/** Reasons why a learner may need help, in display order. */
export const attentionKinds = ['inactive', 'stuck', 'not_passed'] as const
export type Attention = (typeof attentionKinds)[number]

/** Calendar days (UTC) without access or progress after which a learner needs attention. */
export const quietDays = 14
export { stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** Returns the start of the first recent day: a learner whose last access is earlier is inactive. */
export function recentSince(now: Date): string {
  const day = new Date(now.getTime() - (quietDays - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * Returns the condition for each reason, in a query over enrolments in published courses (`c`, `e`, `p` and `g`). A
 * completed enrolment is neither inactive nor stuck; `not_passed` requires a grade.
 */
export function attentionConditions(now: Date): Readonly<Record<Attention, Sql>> {
  const since = recentSince(now)
  const isOpen = sql`c.status = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'`
  return {
    inactive: sql`(${isOpen} and coalesce(p.last_accessed, e.enrolled_at) < ${since})`,
    stuck: sql`(${isOpen} and p.status = 'in_progress' and p.percentage < ${stuckBelow} and p.risen_at < ${since})`,
    not_passed: sql`(c.status = 'published' and e.status = 'active' and g.percent <
      cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision))`,
  }
}
