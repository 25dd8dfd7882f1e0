import { analytics } from '../../contract/analytics.ts'
import type { Course } from '../../contract/courses.ts'
import { hasGrades } from '../grades/course-grades.ts'
import { isRole } from '../http/handler.ts'
import { Parts } from './parts.tsx'
import type { SignedInRequest } from './signed-in-request.ts'

/** What all pages about a course begin with: its name, and the ways to the others. */
export async function courseHeading({
  signedIn,
  course,
  shown,
}: {
  signedIn: SignedInRequest
  course: Course
  shown: 'Learners' | 'Grades'
}) {
  const place = `${signedIn.base}/dashboard/courses/${encodeURIComponent(course.id)}`
  const hasParts = isRole(signedIn, ...analytics.learners.roles)
  return (
    <>
      <p class="back">
        <a href={`${signedIn.base}/dashboard`}>Overview</a>
      </p>
      <h1>{course.title}</h1>
      <p class="note">
        {course.difficulty} · {course.status}
        {course.externalId === null ? null : (
          <>
            {' · '}
            <code>{course.externalId}</code>
          </>
        )}
      </p>
      {hasParts && (shown === 'Grades' || (await hasGrades(signedIn.database, course.id))) ? (
        <Parts
          label="Course"
          shown={shown}
          parts={[
            [place, 'Learners'],
            [`${place}/grades`, 'Grades'],
          ]}
        />
      ) : null}
    </>
  )
}
