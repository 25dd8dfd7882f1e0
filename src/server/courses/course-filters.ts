import sql, { join, type Sql } from 'sql-template-tag'
import { courseStatuses, difficulties } from '../../contract/course-choices.ts'
import type { courses } from '../../contract/courses.ts'
import type { Found } from '../database/narrow.ts'
import type { Call } from '../http/handler.ts'

/** Courses of these statuses and levels: of both, all that there are where one is not asked for. */
export function isStanding(
  { status, difficulty }: Call<typeof courses.list>['query'],
  publishedOnly: boolean,
): Sql | undefined {
  const wanted = (status ?? courseStatuses).filter((one) => !publishedOnly || one === 'published')
  if (difficulty === undefined && wanted.length === courseStatuses.length) return undefined
  const levels = (difficulty ?? difficulties).map((one) => difficulties.indexOf(one))
  return sql`c.status in (${join(wanted.length === 0 ? [''] : wanted)}) and c.level in (${join(levels)})`
}

/** Courses with this tag. */
export function tagged(tag: string): Found {
  return {
    ids: sql`select t.course_id from course_tags t where t.tag = ${tag}`,
    test: sql`exists (select 1 from course_tags t where t.tag = ${tag} and t.course_id = c.id)`,
  }
}
