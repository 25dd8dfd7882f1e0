import sql from 'sql-template-tag'
import type { Database, Row } from '../../../src/server/database/database.ts'

/** A counter as comparable text: kind, course, place, learners and sum. */
type Counter = readonly [kind: string, courseId: string, place: number, learners: number, amount: number]

/** Counts everything with plain SQL that does not depend on how counters are stored. */
export async function plainCount(database: Database, firstDay: string): Promise<Counter[]> {
  const enrolled = sql`
    select e.user_id, e.course_id, case when u.status = 'deleted' then 'deleted ' else '' end as gone,
      coalesce(p.status, 'none') as status, coalesce(p.percentage, 0) as percentage, g.percent as grade,
      e.status as enrollment,
      cast(c.attributes -> 'assessmentCriteria' ->> 'passingScore' as double precision) as passing,
      substr(coalesce(p.last_accessed, e.enrolled_at), 1, 10) as seen, substr(p.risen_at, 1, 10) as risen
    from enrollments e
    join users u on u.id = e.user_id
    join courses c on c.id = e.course_id
    left join progress p on p.user_id = e.user_id and p.course_id = e.course_id
    left join course_grades g on g.user_id = e.user_id and g.course_id = e.course_id
    where e.role = 'learner' and e.status <> 'deleted'`
  const open = sql`gone = '' and enrollment = 'active' and status <> 'completed'`
  const early = sql`gone = '' and enrollment = 'active' and status = 'in_progress' and percentage < 50`
  const day = (column: 'seen' | 'risen') =>
    column === 'seen'
      ? sql`cast(replace(seen, '-', '') as integer)`
      : sql`cast(replace(risen, '-', '') as integer)`
  const rows = await database.all<Row>(sql`
      with enrolled as (${enrolled})
      select gone || status as kind, course_id, 0 as place, count(*) as learners, round(sum(percentage) * 1000000) as amount
        from enrolled group by 1, 2
      union all select gone || status || ' at', course_id, cast(floor(percentage * 100) as integer), count(*), round(sum(percentage) * 1000000)
        from enrolled group by 1, 2, 3
      union all select gone || status || ' at', '', cast(floor(percentage * 100) as integer), count(*), round(sum(percentage) * 1000000)
        from enrolled group by 1, 2, 3
      union all select gone || status || ' graded', course_id, 0, count(*), round(sum(grade) * 1000000)
        from enrolled where grade is not null group by 1, 2
      union all select gone || status || ' graded', '', 0, count(*), round(sum(grade) * 1000000)
        from enrolled where grade is not null group by 1, 2
      union all select gone || 'learners', '', 0, count(distinct user_id), 0 from enrolled group by 1
      union all select 'open', course_id, 0, count(*), 0 from enrolled where ${open} group by 2
      union all select 'open since', course_id, ${day('seen')}, count(*), 0
        from enrolled where ${open} and seen >= ${firstDay} group by 2, 3
      union all select 'early', course_id, 0, count(*), 0 from enrolled where ${early} group by 2
      union all select 'early since', course_id, ${day('risen')}, count(*), 0
        from enrolled where ${early} and risen >= ${firstDay} group by 2, 3
      union all select 'failed', course_id, 0, count(*), 0
        from enrolled where gone = '' and enrollment = 'active' and grade < passing group by 2`)
  return rows.map((row) => Object.values(row) as unknown as Counter).sort(byPlace)
}

/** Returns the stored counters, without empty ones and days that are no longer needed. */
export async function keptCount(database: Database, firstDay: string): Promise<Counter[]> {
  const rows = await database.all<Row>(sql`
      select kind, course_id, place, sum(learners) as learners, sum(amount) as amount
      from (select * from counters union all select * from counter_changes) k
      where kind not like '% since' or place >= ${Number(firstDay.replaceAll('-', ''))}
      group by 1, 2, 3 having sum(learners) <> 0 or sum(amount) <> 0`)
  return rows.map((row) => Object.values(row) as unknown as Counter).sort(byPlace)
}

function byPlace(one: Counter, other: Counter): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
