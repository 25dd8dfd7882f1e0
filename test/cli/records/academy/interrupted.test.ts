import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../../src/client/errors.ts'
import type { HttpRequest } from '../../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import { slowRows } from '../../../helpers/slow-rows.ts'
import type { TestAcademy } from '../../../helpers/test-academy.ts'

/** A command line whose network breaks after so many writes of a run. */
async function breaking(academy: TestAcademy) {
  const { key, get, put } = await academy.person('admin')
  const transport = transportTo(academy)
  const sent: HttpRequest[] = []
  let left = Number.POSITIVE_INFINITY
  const cli = testCli({
    transport: async (request) => {
      const isWrite = request.method !== 'GET' && !/\/(apply-lease|changes)/.test(request.url)
      if (isWrite) sent.push(request)
      if (isWrite) left -= 1
      if (left < 0) throw new ConnectionError(request, 'reset', 'Connection lost')
      return transport(request)
    },
  })
  onTestFinished(() => cli.remove())
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  return {
    ...{ sent, get, put },
    declare: (name: string, document: object) =>
      writeFileSync(join(cli.cwd, name), JSON.stringify({ learnctl: 1, ...document })),
    run: (line: string, writes = Number.POSITIVE_INFINITY) => {
      left = writes
      sent.length = 0
      // The lease of an interrupted run may still be there.
      academy.clock.advance(60_000)
      return cli.run(line, { env })
    },
    journals: () => {
      const directory = join(cli.home, '.local/state/learnctl/applies')
      return existsSync(directory) ? readdirSync(directory) : []
    },
  }
}

const school = (word: string, percentage: number) => ({
  users: [1, 2, 3].map((n) => ({
    externalId: `${n}`,
    email: `u${n}@b.example`,
    profile: { firstName: word },
  })),
  courses: ['A', 'B'].map((externalId) => ({
    externalId,
    title: `${word} ${externalId}`,
    status: externalId === 'A' ? 'archived' : 'published',
    lessons: [
      { title: `${word} one` },
      { externalId: `${externalId}-${word}`, title: 'Two' },
      { externalId: `${externalId}-end`, title: `${word} end` },
    ],
  })),
  enrollments: ['A', 'B'].map((courseId) => ({ courseId, userId: '1', enrolledAt: '2026-01-01T00:00:00Z' })),
  progress: ['A', 'B'].map((courseId) => ({
    ...{ courseId, learnerId: '1', completionPercentage: percentage },
    lastAccessed: `2026-01-02T00:00:${percentage}Z`,
  })),
})

describe('a saved plan that was interrupted', () => {
  test.for(slowRows([1, 2, 4]))(
    'is complete after interruptions at every %s writes',
    async (writes, { academy }) => {
      const { declare, run, journals } = await breaking(academy)
      declare('school.json', school('Old', 10))
      expect((await run('apply school.json --yes')).code).toBe(0)
      declare('school.json', school('New', 20))
      expect((await run('apply school.json --plan-out plan.jsonl')).code).toBe(0)
      let interruptions = 0
      for (;;) {
        const ran = await run('apply --plan plan.jsonl --yes', writes)
        if (ran.code === 0) break
        expect(ran.code, ran.stderr).toBe(7)
        interruptions += 1
        expect(interruptions).toBeLessThan(60)
      }
      expect(interruptions).toBeGreaterThan(2)
      const compared = await run('diff school.json')
      expect(compared.code, compared.stdout).toBe(0)
      expect(journals()).toEqual([])
    },
  )

  test('is refused when something that is left has changed since', { tags: ['slow'] }, async ({
    academy,
  }) => {
    const { declare, run, put } = await breaking(academy)
    declare('school.json', school('Old', 10))
    expect((await run('apply school.json --yes')).code).toBe(0)
    declare('school.json', school('New', 20))
    expect((await run('apply school.json --plan-out plan.jsonl')).code).toBe(0)
    expect((await run('apply --plan plan.jsonl --yes', 3)).code).toBe(7)
    await put('/v1/courses/ext:B', { language: 'en' })
    const ran = await run('apply --plan plan.jsonl --yes')
    expect(ran.code).toBe(6)
    expect(ran.stderr).toContain('The academy has changed since the plan was made')
  })
})

describe('an interrupted apply', () => {
  test('left a course open, which the next one closes, whatever files it has', { tags: ['slow'] }, async ({
    academy,
  }) => {
    const { declare, run, get, journals } = await breaking(academy)
    const course = (title: string) => ({
      courses: [{ externalId: 'A', title: 'A', status: 'archived', lessons: [{ externalId: 'L', title }] }],
    })
    declare('course.json', course('Before'))
    expect((await run('apply course.json --yes')).code).toBe(0)
    declare('course.json', course('After'))
    expect((await run('apply course.json --yes', 1)).code).toBe(7)
    expect((await get('/v1/courses/ext:A')).body.status).toBe('published')
    declare('users.json', { users: [{ email: 'a@b.example' }] })
    const ran = await run('apply users.json --yes')
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    expect((await get('/v1/courses/ext:A')).body.status).toBe('archived')
    expect(journals()).toEqual([])
  })

  test('repeats a creation without an answer with its Idempotency-Key, and any other with a new one', {
    tags: ['slow'],
  }, async ({ academy }) => {
    const { declare, run, sent } = await breaking(academy)
    const keyOfCreation = () =>
      sent.find(({ url, method }) => method === 'POST' && url.endsWith('/courses'))?.headers?.[
        'idempotency-key'
      ]
    declare('course.json', { courses: [{ externalId: 'A', title: 'A' }] })
    expect((await run('apply course.json --yes', 0)).code).toBe(7)
    const first = keyOfCreation()
    expect((await run('apply course.json --yes')).code).toBe(0)
    expect(first).toBeDefined()
    expect(keyOfCreation()).toBe(first)
    await run('courses delete ext:A --erase --force --yes')
    expect((await run('apply course.json --yes')).code).toBe(0)
    expect(keyOfCreation()).not.toBe(first)
  })
})
