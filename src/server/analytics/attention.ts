import sql, { type Sql } from 'sql-template-tag'

/** Why a learner may need help, in the order in which it is shown. */
export const attentionKinds = ['inactive', 'stuck', 'not_passed'] as const
export type Attention = (typeof attentionKinds)[number]

/** Days without access, or without progress, after which a learner is looked after. */
export const quietDays = 14
/** Percentage completed below which a learner without progress is stuck. */
export const stuckBelow = 50

const dayMs = 24 * 60 * 60 * 1000

/**
 * The conditions on a learner in a published course (`c`, `e`, `p` and `g` of a statement over enrolments), each 0 or 1,
 * at this time. A completed enrolment is neither inactive nor stuck; without a grade nobody has failed to pass.
 */
export function attentionConditions(now: Date): Readonly<Record<Attention, Sql>> {
  const since = new Date(now.getTime() - quietDays * dayMs).toISOString()
  return {
    inactive: sql`(c.status = 'published' and e.status = 'active' and coalesce(p.status, '') <> 'completed'
      and coalesce(p.last_accessed, e.enrolled_at) <= ${since})`,
    // That they had got as far before tells that they have got no further since.
    stuck: sql`(c.status = 'published' and e.status = 'active' and coalesce(p.status, '') = 'in_progress'
      and p.percentage < ${stuckBelow} and exists (
        select 1 from progress_steps s where s.user_id = p.user_id and s.course_id = p.course_id
          and s.percentage >= p.percentage and s.last_accessed <= ${since}))`,
    not_passed: sql`(c.status = 'published' and e.status in ('active', 'completed')
      and coalesce(g.percent < json_extract(c.attributes, '$.assessmentCriteria.passingScore'), 0))`,
  }
}
