import type { Course } from '../../contract/courses.ts'
import { lessons } from '../../contract/lessons.ts'
import { lessonRoutes } from '../courses/lessons.ts'
import { ask, type SignedInRequest } from './signed-in-request.ts'

/** What a course without learners needs next, each step with its command. */
export async function nextSteps(signedIn: SignedInRequest, course: Course) {
  const { id, status } = course
  const { data } = await ask(signedIn, lessonRoutes, lessons.list, {
    params: { courseId: id },
    query: { limit: '1' },
  })
  const steps = [
    data.length === 0 && ['Add a lesson', `learnctl lessons create --course ${id} --title "First lesson"`],
    status !== 'published' && [
      status === 'archived' ? 'Publish it again' : 'Publish the course',
      `learnctl courses publish ${id}`,
    ],
    ['Enrol learners', `learnctl enrollments create --course ${id} --user email:ada@example.org`],
  ].filter((step) => step !== false)
  return (
    <>
      <h3>What to do next</h3>
      <Commands steps={steps} />
    </>
  )
}

/** Steps, each with a command to copy. */
export function Commands({ steps }: { steps: readonly (readonly string[])[] }) {
  return (
    <ol class="steps">
      {steps.map(([what, command]) => (
        <li>
          {what}
          <code class="code">{command}</code>
        </li>
      ))}
    </ol>
  )
}
