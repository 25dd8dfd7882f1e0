import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../../src/client/errors.ts'
import type { Transport } from '../../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import type { TestAcademy } from '../../../helpers/test-academy.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A network that fails after a write and before its response arrives, until it is repaired. */
function mortal(transport: Transport, writes: number) {
  let left = writes
  const through: Transport = async (request) => {
    const lost = () => new ConnectionError(request, 'reset', 'Connection lost')
    if (left <= 0) throw lost()
    const response = await transport(request)
    if (request.method !== 'GET' && !request.url.includes('/v1/changes')) left -= 1
    if (left === 0) throw lost()
    return response
  }
  return { through, mend: () => (left = Number.POSITIVE_INFINITY) }
}

async function interrupted(academy: TestAcademy, line: string, csv: string, writes: number) {
  const { key, get } = await academy.person('admin')
  const { through, mend } = mortal(transportTo(academy), writes)
  const cli = testCli({ transport: through, now: () => academy.clock.now().getTime() })
  onTestFinished(() => cli.remove())
  writeFileSync(join(cli.cwd, 'f.csv'), csv)
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const run = (flags: string) => cli.run(`${line} --concurrency 1 ${flags}`, { env })
  const stopped = await run('')
  expect(stopped.code, stopped.stderr).toBe(7)
  mend()
  const count = async (path: string) => (await get(`${path}?limit=100`)).body.data.length
  return { run, count }
}

const keyed = `externalId,title\n${Array.from({ length: 12 }, (_, n) => `C${n},Course ${n}\n`).join('')}`
const people = `email\n${Array.from({ length: 12 }, (_, n) => `u${n}@b.example\n`).join('')}`
const keyless = `title\n${Array.from({ length: 12 }, (_, n) => `Course ${n}\n`).join('')}`

describe('an import whose last request the platform has forgotten', () => {
  test('is exact, row by row: what has a key is looked up', { tags: ['slow'] }, async ({ academy }) => {
    const { run, count } = await interrupted(academy, 'courses import f.csv --batch-size 1', keyed, 5)
    academy.clock.advance(25 * dayMs)
    const resumed = await run('--resume')
    expect(resumed.stderr).toContain('Imported 12 rows of 12 from f.csv: 12 created')
    expect(await count('/v1/courses')).toBe(12)
  })

  test('says of a row without a key that it may be there, and creates none twice', {
    tags: ['slow'],
  }, async ({ academy }) => {
    const { run, count } = await interrupted(academy, 'courses import f.csv --batch-size 1', keyless, 5)
    academy.clock.advance(25 * dayMs)
    const resumed = await run('--resume')
    expect(resumed.code).toBe(8)
    expect(resumed.stderr).toContain('11 created, 1 failed')
    expect(await count('/v1/courses')).toBe(12)
  })

  test('is refused in batches, with what to do', { tags: ['slow'] }, async ({ academy }) => {
    const { run, count } = await interrupted(academy, 'users import f.csv --batch-size 4', people, 2)
    academy.clock.advance(dayMs)
    const refused = await run('--resume')
    expect(refused.code).toBe(2)
    expect(refused.stderr.split('\n')).toEqual([
      'error: The import was interrupted too long ago to be continued',
      '  It lost the response to a request, which the platform remembers for 24 hours; nothing was sent',
      '  hint: Begin again from the first row; existing records are recognised: learnctl users import f.csv --concurrency 1 --batch-size 4 --restart',
      '',
    ])
    expect(await count('/v1/users')).toBe(10)
    // Asking does not make it younger.
    expect((await run('--resume')).code).toBe(2)
    expect((await run('--restart')).stderr).toContain('4 created, 8 unchanged')
    expect(await count('/v1/users')).toBe(14)
  })

  test('sends durations as they were when it began', { tags: ['slow'] }, async ({ academy }) => {
    const csv = `courseId,userId,enrolledAt\n${Array.from({ length: 12 }, (_, n) => `ext:A,u${n}@b.example,30d\n`).join('')}`
    const { post, get } = await academy.person('admin')
    await post('/v1/courses', { externalId: 'A', title: 'A' })
    for (let n = 0; n < 12; n += 1) await post('/v1/users', { email: `u${n}@b.example` })
    const line = 'enrollments import f.csv --batch-size 4'
    const before = new Date(academy.clock.now().getTime() - 30 * dayMs).toISOString()
    const { run } = await interrupted(academy, line, csv, 2)
    academy.clock.advance(dayMs / 2)
    expect((await run('--resume')).stderr).toContain('12 created')
    const { body } = await get('/v1/enrollments?limit=100')
    expect(new Set(body.data.map(({ enrolledAt }: { enrolledAt: string }) => enrolledAt))).toEqual(
      new Set([before]),
    )
  })

  test('goes on within a day', { tags: ['slow'] }, async ({ academy }) => {
    const { run, count } = await interrupted(academy, 'users import f.csv --batch-size 4', people, 2)
    academy.clock.advance(dayMs - 2 * 60 * 60 * 1000)
    expect((await run('--resume')).stderr).toContain('12 created')
    expect(await count('/v1/users')).toBe(14)
  })
})
