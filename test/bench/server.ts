import { join } from 'node:path'
import { openAcademy } from '../../src/server/local.ts'
import { type Load, loadTool } from './load.ts'
import { median, served } from './measure.ts'
import type { BenchRow } from './row.ts'
import { makeKey, post } from './seed.ts'

const rounds = 5
const seconds = 3
const connections = 16

/** Requests a second of our server, all its checks on, over a bare one that runs the same SQL; in turn, same load. */
export async function benchServer(bin: string, directory: string): Promise<BenchRow[]> {
  const [ours, bare] = [join(directory, 'ours.db'), join(directory, 'bare.db')]
  const seeds = [await fill(ours), await fill(bare)] as const
  // A limit that nobody reaches: the counting is what is measured.
  const limit = ['--rate-limit', '600000000']
  const academy = await served([bin, 'server', 'start', '--database', ours, '--port', '0', ...limit], {
    XDG_STATE_HOME: directory,
  })
  const tool = loadTool(directory)
  const yardstick = await served([join(import.meta.dirname, 'bare-server.ts'), bare])
  const rows: BenchRow[] = []
  for (const [figure, { goal, requestOf }] of Object.entries(trials)) {
    const [mine, theirs] = [requestOf(seeds[0]), requestOf(seeds[1])]
    const perSecond = (url: string, { key }: Seed, request: Request) =>
      tool.perSecond({
        method: request.method,
        url: url + request.path,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(request.bodies && { bodies: request.bodies }),
        connections,
        seconds,
      })
    rows.push(
      await compare(
        figure,
        goal,
        tool.name,
        () => perSecond(academy.url, seeds[0], mine),
        () => perSecond(yardstick.url, seeds[1], theirs),
      ),
    )
  }
  await academy.stop()
  await yardstick.stop()
  return rows
}

/** What an academy was filled with. */
interface Seed {
  readonly key: string
  readonly courseId: string
  readonly learnerId: string
}

async function fill(path: string): Promise<Seed> {
  const academy = await openAcademy({ path })
  for (let index = 0; index < 999; index += 1) {
    await post(academy, '/v1/courses', { title: `Course ${index}`, description: `About ${index}` })
  }
  const course = await post(academy, '/v1/courses', { title: 'Course 999', status: 'published' })
  const learner = await post(academy, '/v1/users', { email: 'learner@example.org' })
  await post(academy, '/v1/enrollments', { courseId: course['id'], userId: learner['id'] })
  const key = await makeKey(academy)
  await academy.close()
  return { key, courseId: String(course['id']), learnerId: String(learner['id']) }
}

type Request = Pick<Load, 'method' | 'bodies'> & { readonly path: string }

const newCourse = JSON.stringify({ title: 'A course', description: 'About it', difficulty: 'beginner' })

const trials: Readonly<Record<string, { goal: number; requestOf: (seed: Seed) => Request }>> = {
  'list of 20 courses': { goal: 0.9, requestOf: () => ({ method: 'GET', path: '/v1/courses' }) },
  'get a course': {
    goal: 0.85,
    requestOf: ({ courseId }) => ({ method: 'GET', path: `/v1/courses/${courseId}` }),
  },
  'create a course': {
    goal: 1,
    requestOf: () => ({ method: 'POST', path: '/v1/courses', bodies: [newCourse] }),
  },
  // Another percentage each time: what is the same as before would not be written.
  'record progress': {
    goal: 1,
    requestOf: ({ courseId, learnerId }) => ({
      method: 'PUT',
      path: `/v1/learners/${learnerId}/progress`,
      bodies: Array.from({ length: 99 }, (_, percent) =>
        JSON.stringify({ courseId, completionPercentage: percent + 0.5 }),
      ),
    }),
  },
}

async function compare(
  figure: string,
  goal: number,
  tool: string,
  ours: () => Promise<number>,
  bare: () => Promise<number>,
): Promise<BenchRow> {
  const pairs: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [await ours(), await bare()]
    if (round > 0) pairs.push(pair) // The first one warms up.
  }
  const value = median(pairs.map(([one, other]) => one / other))
  const [mine, theirs] = [median(pairs.map(([one]) => one)), median(pairs.map(([, other]) => other))]
  const from = `${mine.toFixed(0)}/s over ${theirs.toFixed(0)}/s, ${tool}, ${connections} connections, ${rounds} × ${seconds} s`
  return { figure: `server: ${figure}`, value, unit: 'ratio', goal, better: 'more', from }
}
