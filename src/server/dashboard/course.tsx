import { analytics } from '../../contract/analytics.ts'
import { type Course, courses } from '../../contract/courses.ts'
import { rowsOfUser, rowsPage } from '../analytics/analytics-rows.ts'
import { courseReadRoutes } from '../courses/courses.ts'
import { isRole } from '../http/handler.ts'
import { courseHeading } from './course-heading.tsx'
import { courseLearners } from './course-learners.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framed } from './frame.tsx'
import { gradeList } from './grade-list.tsx'
import { CourseTable } from './learner-table.tsx'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/** A course: for those who work for the academy its learners, for a learner their own progress. */
export const coursePage: DashboardPage = {
  path: '/dashboard/courses/:courseId',
  isLong: (signedIn) => isRole(signedIn, ...analytics.learners.roles),
  async show(signedIn) {
    const course = await ask(signedIn, courseReadRoutes, courses.get, { params: signedIn.params })
    const content = isRole(signedIn, ...analytics.learners.roles) ? courseLearners : ownProgress
    return framed(
      signedIn,
      { title: course.title, section: '/dashboard' },
      <>
        {await courseHeading({ signedIn, course, shown: 'Learners' })}
        {course.description === '' ? null : <p class="text">{course.description}</p>}
        {await content({ signedIn, course })}
      </>,
    )
  },
}

async function ownProgress({ signedIn, course }: { signedIn: SignedInRequest; course: Course }) {
  const { database, user } = signedIn
  const conditions = rowsOfUser(user.id, { courseId: course.id })
  const { data } = await rowsPage(database, { limit: 1 }, { conditions })
  const grades = await gradeList({
    signedIn,
    learnerId: signedIn.user.id,
    courseId: course.id,
    caption: 'My grades in this course, the latest first',
    none: null,
  })
  return (
    <>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">My progress</h2>
        {data.length === 0 ? (
          <p>You are not enrolled in this course.</p>
        ) : (
          <CourseTable caption="My progress in this course" rows={data} />
        )}
      </section>
      {grades ? (
        <section class="card" aria-labelledby="grades">
          <h2 id="grades">My grades</h2>
          {grades}
        </section>
      ) : null}
    </>
  )
}
