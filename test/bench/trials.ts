import { openAcademy } from '../../src/server/academy/local-academy.ts'
import type { Load, Sent } from './load.ts'
import { makeKey, post } from './seed.ts'

/** Content of an academy. */
export interface Seed {
  readonly key: string
  readonly courseId: string
  /** Ids of learners, all enrolled in the course. */
  readonly learnerIds: readonly string[]
}

/** Makes an academy of 1,000 courses in a file. */
export async function fillAcademy(path: string, learners = 1): Promise<Seed> {
  const academy = await openAcademy({ path })
  for (let index = 0; index < 999; index += 1) {
    await post(academy, '/v1/courses', { title: `Course ${index}`, description: `About ${index}` })
  }
  const course = await post(academy, '/v1/courses', { title: 'Course 999', status: 'published' })
  const learnerIds: string[] = []
  for (let index = 0; index < learners; index += 1) {
    const learner = await post(academy, '/v1/users', { email: `learner${index}@example.org` })
    await post(academy, '/v1/enrollments', { courseId: course['id'], userId: learner['id'] })
    learnerIds.push(String(learner['id']))
  }
  const key = await makeKey(academy)
  await academy.close()
  return { key, courseId: String(course['id']), learnerIds }
}

/** Requests to both servers, sent repeatedly. */
export interface Trial {
  readonly figure: string
  readonly method: Load['method']
  readonly requestsOf: (seed: Seed) => readonly Sent[]
}

const newCourse = JSON.stringify({ title: 'A course', description: 'About it', difficulty: 'beginner' })

/** Operations whose cost is compared. */
export const trials = {
  list: { figure: 'list of 20 courses', method: 'GET', requestsOf: () => [{ path: '/v1/courses' }] },
  get: {
    figure: 'get a course',
    method: 'GET',
    requestsOf: ({ courseId }) => [{ path: `/v1/courses/${courseId}` }],
  },
  create: {
    figure: 'create a course',
    method: 'POST',
    requestsOf: () => [{ path: '/v1/courses', body: newCourse }],
  },
  // A new percentage each time: unchanged progress would not be written.
  progress: {
    figure: 'record progress',
    method: 'PUT',
    requestsOf: ({ courseId, learnerIds }) =>
      Array.from({ length: 99 }, (_, percent) =>
        JSON.stringify({ courseId, completionPercentage: percent + 0.5 }),
      ).flatMap((body) => learnerIds.map((id) => ({ path: `/v1/learners/${id}/progress`, body }))),
  },
} as const satisfies Readonly<Record<string, Trial>>
