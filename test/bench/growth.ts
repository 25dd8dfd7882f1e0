import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type OpenAcademy, openAcademy } from '../../src/server/academy/local-academy.ts'
import { makeAcademyOf, sizes } from './growth-seed.ts'
import { atMost, type BenchRow, median } from './measure.ts'

const rounds = 9
const goal = 1.5

/** Requests to each academy; `{course}`, `{large}` and `{user}` stand for one of its own. */
const questions: readonly string[] = [
  ...['/v1/courses', '/v1/courses?q=biology%2012', '/v1/courses?q=nothing', '/v1/courses?sort=title'],
  ...['/v1/courses?sort=-difficulty', '/v1/courses?tag=tag-7', '/v1/courses?status=draft&difficulty=expert'],
  ...[
    '/v1/lessons',
    '/v1/lessons?sort=title',
    '/v1/lessons?sort=-updatedAt&status=draft',
    '/v1/lessons?course_id={course}',
  ],
  ...['/v1/users', '/v1/users?sort=email', '/v1/users?sort=updatedAt', '/v1/users?include_total=true'],
  ...['/v1/users?q=zzzzqq', '/v1/users?q=learner777%40', '/v1/users?q=%E7%A7%80%E8%8B%B1', '/v1/users?q=ad'],
  ...[
    '/v1/users?role=admin',
    '/v1/users?role=analyst&status=suspended',
    '/v1/users?status=suspended&sort=updatedAt',
  ],
  // Medium density: too many rows to sort, too few to meet soon.
  ...[
    '/v1/users?q=lovelace%2099',
    '/v1/users?role=instructor&q=learner777',
    '/v1/users?role=instructor&sort=email',
  ],
  ...['/v1/enrollments?role=instructor&course_id={course}', '/v1/users?status=suspended&q=ad'],
  ...['/v1/users?managed_by=sis', '/v1/users?updated_since=2030-01-01T00:00:00Z'],
  ...['/v1/users?updated_since=2024-01-01T00:00:00Z'],
  ...['/v1/enrollments', '/v1/enrollments?sort=updatedAt', '/v1/enrollments?sort=-enrolledAt'],
  ...['/v1/enrollments?include_total=true', '/v1/enrollments?role=instructor'],
  ...[
    '/v1/enrollments?role=instructor&status=deleted&include_total=true',
    '/v1/enrollments?status=inactive&sort=-updatedAt',
  ],
  ...['/v1/enrollments?course_id={large}', '/v1/enrollments?course_id={course}'],
  ...['/v1/enrollments?course_id={course}&status=inactive&sort=updatedAt', '/v1/enrollments?user_id={user}'],
  ...['/v1/learners/{user}/progress', '/v1/keys', '/v1/grants'],
]

/**
 * Measures the CPU time of each list in a large academy against a small one. The large one has a hundred thousand
 * users, or a million with LEARNCTL_GROWTH=L, which takes half an hour and 16 GB to make.
 */
export async function benchGrowth(_bin: string, directory: string): Promise<BenchRow[]> {
  const large = process.env['LEARNCTL_GROWTH'] === 'L' ? 'L' : 'M'
  const before = await measured('S', directory)
  const after = await measured(large, directory)
  return questions.map((question, index) => {
    const [small = Number.NaN, big = Number.NaN] = [before[index], after[index]]
    return {
      figure: `growth: ${question}`,
      value: big / small,
      ...atMost(goal),
      from: `${big.toFixed(2)} ms over ${small.toFixed(2)} ms, ${large} over S`,
    }
  })
}

/** Returns the CPU time of each request, in milliseconds. */
async function measured(size: keyof typeof sizes, directory: string): Promise<number[]> {
  const path = join(directory, `${size}.db`)
  await makeAcademyOf(sizes[size], path)
  const academy = await openAcademy({ path })
  const names = namesIn(path)
  const costs: number[] = []
  for (const question of questions) {
    const url = `http://localhost${question.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '')}`
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) times.push(await costOf(academy, url))
    costs.push(median(times))
  }
  await academy.close()
  return costs
}

async function costOf({ transport }: OpenAcademy, url: string): Promise<number> {
  const before = process.cpuUsage()
  const { status, body } = await transport({ method: 'GET', url, headers: {} })
  const { user, system } = process.cpuUsage(before)
  if (status !== 200) throw new Error(`GET ${url}: ${status} ${String(body)}`)
  return (user + system) / 1000
}

/** A typical course, a course with every tenth learner, and a learner. */
function namesIn(path: string): Readonly<Record<string, string>> {
  const database = new DatabaseSync(path, { readOnly: true })
  const first = (query: string) => String(database.prepare(query).get()?.['id'] ?? '')
  const names = {
    large: first('select id from courses order by id limit 1'),
    course: first("select id from courses where status = 'published' order by id desc limit 1"),
    user: first('select user_id as id from enrollments order by id limit 1'),
  }
  database.close()
  return names
}
