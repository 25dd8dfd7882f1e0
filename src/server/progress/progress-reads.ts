import sql from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import type { progress } from '../../contract/progress.ts'
import { isTaught, visibleCourses } from '../access/sight.ts'
import { during, page } from '../database/page.ts'
import { resolveFilter } from '../database/reference.ts'
import { plainRoutesOf, type Reads } from '../http/handler.ts'
import { findVisibleUser } from '../users/user-row.ts'
import { progressColumns, toProgress } from './progress-row.ts'

const order = {
  sort: '-lastAccessed',
  expressions: { lastAccessed: sql`p.last_accessed` },
  id: sql`p.course_id`,
}

/** Reads that need no schema, so that they load fast. */
export const progressReads = {
  async list(call) {
    const { database, query, params } = call
    const { id } = await findVisibleUser(call, params.learnerId)
    return page(
      database,
      {
        columns: progressColumns,
        from: sql`progress p`,
        where: [during(sql`p.updated_at`, { since: query.updated_since })],
        within: [
          { field: 'lastAccessed', condition: sql`p.user_id = ${id}` },
          { field: 'lastAccessed', condition: isTaught(call, sql`p.course_id`) },
          { field: 'lastAccessed', condition: during(sql`p.last_accessed`, query) },
          {
            field: 'lastAccessed',
            condition:
              query.course_id &&
              sql`p.course_id = ${await resolveFilter(database, 'courses', query.course_id, 'course_id', visibleCourses(call))}`,
          },
        ],
      },
      order,
      query,
      toProgress,
    )
  },
} satisfies Reads<typeof progress>

export const plainProgressRoutes = plainRoutesOf<typeof progress>(calls.progress, progressReads)
