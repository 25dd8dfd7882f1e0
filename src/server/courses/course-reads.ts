import sql, { join, type Sql } from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { courseStatuses, difficulties } from '../../contract/constants.ts'
import type { courses } from '../../contract/courses.ts'
import { isTaught } from '../access/sight.ts'
import { during, type Found, page } from '../database/page.ts'
import { referenceFilter } from '../database/reference.ts'
import { findMatches } from '../database/search.ts'
import { type Call, isRole, plainRoutesOf, type Reads } from '../http/handler.ts'
import { Written, writePage } from '../http/reply.ts'
import { type CourseRow, courseColumns, findVisibleCourse, toCourseText } from './course-row.ts'

const order = {
  createdAt: sql`c.created_at`,
  updatedAt: sql`c.updated_at`,
  title: sql`c.title_key`,
  difficulty: sql`c.level`,
}

export const courseReads = {
  async list(call) {
    const { query } = call
    const term = await referenceFilter(sql`c.term_id`, call.database, 'terms', query.term_id, 'term_id')
    const listed = await page<CourseRow, string>(
      call.database,
      {
        columns: courseColumns,
        from: sql`courses c`,
        where: [isStanding(query, isRole(call, 'learner'))],
        by: [isTaught(call, sql`c.id`), term, query.external_id && sql`c.external_id = ${query.external_id}`],
        narrow: [
          query.q && findMatches(call.database, 'courses', sql`c.search_key`, query.q),
          query.tag && hasTag(query.tag),
          query.managed_by && sql`c.managed_by = ${query.managed_by}`,
        ],
        within: [
          { field: 'createdAt', condition: during(order.createdAt, query) },
          {
            field: 'updatedAt',
            condition: during(sql`c.updated_at`, { since: query.updated_since }),
          },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`c.id` },
      query,
      toCourseText,
    )
    return writePage(listed)
  },

  async get(call) {
    const row = await findVisibleCourse(call, call.params.courseId)
    return new Written(toCourseText(row), { version: row.version })
  },
} satisfies Reads<typeof courses>

export const plainCourseRoutes = plainRoutesOf<typeof courses>(calls.courses, courseReads)

/**
 * Returns the condition for statuses and levels. If only one is given, it lists all values of the other, so
 * that the index is used.
 */
function isStanding(
  { status, difficulty }: Call<typeof courses.list>['query'],
  publishedOnly: boolean,
): Sql | undefined {
  const wanted = (status ?? courseStatuses).filter((one) => !publishedOnly || one === 'published')
  if (difficulty === undefined && wanted.length === courseStatuses.length) return undefined
  const levels = (difficulty ?? difficulties).map((one) => difficulties.indexOf(one))
  return sql`c.status in (${join(wanted.length === 0 ? [''] : wanted)}) and c.level in (${join(levels)})`
}

function hasTag(tag: string): Found {
  return {
    ids: sql`select t.course_id from course_tags t where t.tag = ${tag}`,
    test: sql`exists (select 1 from course_tags t where t.tag = ${tag} and t.course_id = c.id)`,
  }
}
