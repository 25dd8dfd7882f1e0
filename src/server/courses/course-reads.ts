import sql from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { courses } from '../../contract/courses.ts'
import { during } from '../database/keyset.ts'
import { page } from '../database/page.ts'
import { found } from '../database/search.ts'
import { isRole } from '../http/handler.ts'
import { plainRoutesOf, type Reads } from '../http/plain-routes.ts'
import { Written, writtenPage } from '../http/reply.ts'
import { isStanding, tagged } from './course-filters.ts'
import { type CourseRow, courseColumns, courseText, findCourse } from './course-row.ts'

const order = {
  createdAt: sql`c.created_at`,
  updatedAt: sql`c.updated_at`,
  title: sql`c.title_key`,
  difficulty: sql`c.level`,
}

/** What reads courses without more than a query. */
export const courseReads = {
  async list(call) {
    const { query } = call
    const listed = await page<CourseRow, string>(
      call.database,
      {
        columns: courseColumns,
        from: sql`courses c`,
        where: [isStanding(query, isRole(call, 'learner'))],
        narrow: [
          query.q && (await found(call.database, 'courses', sql`c.search_key`, query.q)),
          query.tag && tagged(query.tag),
          query.external_id && sql`c.external_id = ${query.external_id}`,
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
      courseText,
    )
    return writtenPage(listed)
  },

  async get(call) {
    const row = await findCourse(call.database, call.params.courseId, isRole(call, 'learner'))
    return new Written(courseText(row), { version: row.version })
  },
} satisfies Reads<typeof courses>

export const plainCourseRoutes = plainRoutesOf<typeof courses>(calls.courses, courseReads)
