import { analytics } from '../../contract/analytics.ts'
import { courses } from '../../contract/courses.ts'
import { everyLearner } from '../analytics/course-learners.ts'
import { learnerFile, learnerRows } from '../analytics/learner-file.ts'
import { standingsOf } from '../analytics/standing.ts'
import { courseRoutes } from '../courses/courses.ts'
import { requireRight } from '../http/handler.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { filterOf, learnerQueryOf } from './learner-query.ts'
import { ask } from './signed-in-request.ts'

/**
 * The learners of a course as a CSV file, those that its page shows with the same filter and in the same order; of a
 * course that is too large to be sorted, all that the filter leaves, as they are found.
 */
export const courseFile: DashboardPage = {
  path: '/dashboard/courses/:courseId/learners.csv',
  isLong: () => true,
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const { id, title } = await ask(signedIn, courseRoutes, courses.get, { params: signedIn.params })
    const filter = filterOf(id, learnerQueryOf(signedIn))
    const slug = title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    const { database, request } = signedIn
    const learners = (await standingsOf(database, [id])).get(id)?.enrollments ?? 0
    const { headers, chunks } = learnerFile(
      database,
      learnerRows(everyLearner(database.dialect, filter, request.now, { learners })),
      // Who downloads from a page opens it in a spreadsheet.
      { name: `learners_${slug.slice(0, 60) || id}`, format: 'csv', bom: true, raw: false },
    )
    return { status: 200, headers: { ...headers, ...signedIn.visitor.headers }, body: chunks }
  },
}
