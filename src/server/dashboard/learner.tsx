import { rowsOfUser } from '../analytics/analytics-rows.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framed } from './frame.tsx'
import { gradeList } from './grade-list.tsx'
import { learnerCourses } from './learner-courses.tsx'
import { learnerHeading, learnerOf } from './learner-heading.tsx'

/** One learner and the courses they take, for those who work for the academy. */
export const learnerPage: DashboardPage = {
  path: '/dashboard/learners/:userId',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framed(
      signedIn,
      { title: name, section: '/dashboard' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Courses' })}
        {
          await learnerCourses({
            signedIn,
            conditions: rowsOfUser(user.id),
            caption: `Courses of ${name}`,
            none: 'Not enrolled in a course yet.',
          })
        }
      </>,
    )
  },
}

/** All grades of one learner, for those who work for the academy. */
export const learnerGradesPage: DashboardPage = {
  path: '/dashboard/learners/:userId/grades',
  async show(signedIn) {
    const { user, name } = await learnerOf(signedIn)
    return framed(
      signedIn,
      { title: `Grades of ${name}`, section: '/dashboard' },
      <>
        {await learnerHeading({ signedIn, user, name, shown: 'Grades' })}
        <section class="card" aria-labelledby="grades">
          <h2 id="grades">Grades</h2>
          {
            await gradeList({
              signedIn,
              learnerId: user.id,
              caption: `Grades of ${name}, the latest first`,
              none: <p>No grades yet.</p>,
            })
          }
        </section>
      </>,
    )
  },
}
