import { analytics } from '../../contract/analytics.ts'
import { courses } from '../../contract/courses.ts'
import { everyLearner } from '../analytics/course-learners.ts'
import { learnerFile, learnerRows } from '../analytics/learner-file.ts'
import { courseRoutes } from '../courses/courses.ts'
import { requireRight } from '../http/handler.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { filterOf, learnerQueryOf } from './learner-query.ts'
import { ask } from './signed-in-request.ts'

/** The learners of a course as a CSV file, those that its page shows with the same filter and in the same order. */
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
    const { headers, chunks } = learnerFile(
      signedIn.database,
      learnerRows(everyLearner(signedIn.database.dialect, filter, signedIn.request.now)),
      // Who downloads from a page opens it in a spreadsheet.
      { name: `learners_${slug.slice(0, 60) || id}`, format: 'csv', bom: true, raw: false },
    )
    return { status: 200, headers: { ...headers, ...signedIn.visitor.headers }, body: chunks }
  },
}
