import sql, { type Sql } from 'sql-template-tag'
import { stuckBelow } from '../counters/tally.ts'

/** Why a learner may need help, in the order in which it is shown. */
export const attentionKinds = ['inactive', 'stuck', 'not_passed'] as const
export type Attention = (typeof attentionKinds)[number]

/** Days without access, or without progress, after which a learner is looked after: days of the calendar, in UTC. */
export const quietDays = 14
export { stuckBelow }

const dayMs = 24 * 60 * 60 * 1000

/** The first day that is recent at this time, as an instant: whoever was last there before it is inactive. */
export function recentSince(now: Date): string {
  const day = new Date(now.getTime() - (quietDays - 1) * dayMs).toISOString().slice(0, 10)
  return `${day}T00:00:00.000Z`
}

/**
 * The conditions on a learner in a published course (`c`, `e`, `p` and `g` of a statement over enrolments), at this time. A
 * completed enrolment is neither inactive nor stuck; without a grade nobody has failed to pass.
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
