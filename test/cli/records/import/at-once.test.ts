import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import { slowRows } from '../../../helpers/slow-rows.ts'

describe('two imports of one file at once, from two machines', () => {
  const rows = Array.from({ length: 60 }, (_, row) => row)
  const files: Record<string, string> = {
    users: `externalId,email\n${rows.map((row) => `${row},u${row}@b.example\n`).join('')}`,
    courses: `externalId,title\n${rows.map((row) => `C${row},Course ${row}\n`).join('')}`,
    lessons: `externalId,courseId,title\n${rows.map((row) => `L${row},ext:A,Lesson ${row}\n`).join('')}`,
  }
  test.for(
    slowRows([
      ['users', 4],
      ['users', 1],
      ['courses', 1],
      ['lessons', 1],
    ]),
  )('%s, %d in a request, make each record once', async ([noun, size], { academy }) => {
    const { key, post, get } = await academy.person('admin')
    await post('/v1/courses', { externalId: 'A', title: 'A' })
    const count = async () => (await get(`/v1/${noun}?limit=1&include_total=true`)).body.total
    const before = await count()
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const ran = await Promise.all(
      [1, 2].map(async () => {
        const cli = testCli({ transport: transportTo(academy) })
        onTestFinished(() => cli.remove())
        writeFileSync(join(cli.cwd, 'f.csv'), files[noun] ?? '')
        return cli.run(`${noun} import f.csv --batch-size ${size}`, { env })
      }),
    )
    for (const { code, stderr } of ran) expect(code, stderr).toBe(0)
    const created = ran.map(({ stderr }) => Number(/(\d+) created/.exec(stderr)?.[1] ?? 0))
    const unchanged = ran.map(({ stderr }) => Number(/(\d+) unchanged/.exec(stderr)?.[1] ?? 0))
    expect((created[0] ?? 0) + (created[1] ?? 0)).toBe(60)
    expect((unchanged[0] ?? 0) + (unchanged[1] ?? 0)).toBe(60)
    expect(await count()).toBe(before + 60)
  })
})

test.for<readonly [string, string]>([
  ['update', '1 created, 2 unchanged, 1 updated'],
  ['skip', '1 created, 3 skipped'],
])(
  'a row that another import creates after it was looked for is found again, to %s',
  async ([mode, told], { academy }) => {
    const { key, post } = await academy.person('admin')
    await post('/v1/courses', { externalId: '0', title: 'None' })
    await post('/v1/courses', { externalId: '1', title: 'One' })
    const platform = transportTo(academy)
    const raced: string[] = []
    const transport: typeof platform = async (request) => {
      const answer = await platform(request)
      if (
        answer.status === 404 &&
        decodeURIComponent(request.url).endsWith('/courses/ext:2') &&
        raced.length === 0
      ) {
        raced.push(request.url)
        await post('/v1/courses', { externalId: '2', title: 'Two' })
      }
      return answer
    }
    const cli = testCli({ transport })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const stdin = 'externalId,title,language\n0,None,\n1,One,\n2,Two,en\n3,Three,en\n'
    const { code, stderr } = await cli.run(`courses import - --on-exists ${mode}`, { env, stdin })
    expect(raced).toHaveLength(1)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    for (const part of told.split(', ')) expect(stderr).toContain(part)
  },
)
