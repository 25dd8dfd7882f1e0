import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import {
  atLeast,
  type BenchRow,
  compareInTurn,
  type Load,
  perSecond,
  type Sent,
  serveAcademy,
  startServer,
} from './measure.ts'
import { makeKey, post } from './seed.ts'

const rounds = 5
const seconds = 3
const connections = 16

/**
 * Measures requests a second of our server with all its checks against a bare one that runs the same SQL, alternately
 * and with the same load.
 */
export async function benchServer(bin: string, directory: string): Promise<BenchRow[]> {
  const [ours, bare] = [join(directory, 'ours.db'), join(directory, 'bare.db')]
  const seeds = [await fillAcademy(ours), await fillAcademy(bare)] as const
  const academy = await serveAcademy(bin, ours, directory)
  const yardstick = await startServer([join(import.meta.dirname, 'bare-server.ts'), bare])
  const rows: BenchRow[] = []
  for (const [name, trial] of Object.entries(trials)) {
    const load = { connections, seconds }
    const { mine, theirs, ratio } = await compareInTurn(
      rounds,
      () => perSecond({ ...loadOf(trial, academy.url, seeds[0]), ...load }),
      () => perSecond({ ...loadOf(trial, yardstick.url, seeds[1]), ...load }),
    )
    rows.push({
      figure: `server: ${trial.figure}`,
      value: ratio,
      ...atLeast(goals[name as keyof typeof goals]),
      from: `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${connections} connections, ${rounds} × ${seconds} s`,
    })
  }
  await academy.stop()
  await yardstick.stop()
  return rows
}

const goals = { list: 0.95, get: 0.85, create: 0.55, progress: 0.9 }

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

/** Returns the requests of a trial to a server with this content. */
export function loadOf(
  { method, requestsOf }: Trial,
  url: string,
  seed: Seed,
): Omit<Load, 'connections' | 'seconds'> {
  const headers = { authorization: `Bearer ${seed.key}`, 'content-type': 'application/json' }
  return { url, method, headers, requests: requestsOf(seed) }
}
