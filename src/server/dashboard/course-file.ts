import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { everyLearner } from '../analytics/course-learners.ts'
import { gradesOfCourse } from '../analytics/grade-file.ts'
import { csvFile, type FileRows, learnerRows } from '../analytics/learner-file.ts'
import { standingsOf } from '../analytics/standing.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { requireRight } from '../http/handler.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { filterOf, learnerQueryOf } from './learner-query.ts'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/**
 * The learners of a course as a CSV file, those that its page shows with the same filter and in the same order; of a
 * course that is too large to be sorted, all that the filter leaves, as they are found.
 */
export const courseFile = fileAt('learners', async (signedIn, { id }) => {
  const { database, request } = signedIn
  const filter = filterOf(id, learnerQueryOf(signedIn))
  const learners = (await standingsOf(database, [id])).get(id)?.enrollments ?? 0
  return learnerRows(everyLearner(database.dialect, filter, request.now, { learners }))
})

/** All grades of a course as a CSV file. */
export const gradeFile = fileAt('grades', async (_, { id }) => gradesOfCourse(id))

/** A CSV file about a course, called after what is in it and the course. */
function fileAt(
  what: string,
  rowsOf: (signedIn: SignedInRequest, course: Course) => Promise<FileRows>,
): DashboardPage {
  return {
    path: `/dashboard/courses/:courseId/${what}.csv`,
    isLong: () => true,
    async show(signedIn) {
      requireRight(signedIn.principal, analytics.learners)
      const course = await ask(signedIn, courseReadRoutes, courses.get, { params: signedIn.params })
      const rows = await rowsOf(signedIn, course)
      // Who downloads from a page opens it in a spreadsheet.
      const file = { name: `${what}_${slugOf(course)}`, bom: true, raw: false }
      const { headers, chunks } = csvFile(signedIn.database, rows, file)
      return { status: 200, headers: { ...headers, ...signedIn.visitor.headers }, body: chunks }
    },
  }
}

function slugOf({ id, title }: Course): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return slug.slice(0, 60) || id
}
