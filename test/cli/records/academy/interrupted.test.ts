import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { ConnectionError } from '../../../../src/client/errors.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import { slowRows } from '../../../helpers/slow-rows.ts'
import type { TestAcademy } from '../../../helpers/test-academy.ts'

/** A command line whose network breaks after so many writes of a run. */
async function breaking(academy: TestAcademy) {
  const { key } = await academy.person('admin')
  const transport = transportTo(academy)
  let left = Number.POSITIVE_INFINITY
  let losesAnswer = false
  const cli = testCli({
    transport: async (request) => {
      const isWrite = request.method !== 'GET' && !/\/(apply-lease|changes)/.test(request.url)
      if (isWrite) left -= 1
      if (left < 0) throw new ConnectionError(request, 'reset', 'Connection lost')
      const isLost =
        losesAnswer && request.url.endsWith('/carry-out') && !String(request.body).includes('"isTrial":true')
      const response = await transport(request)
      if (isLost) throw new ConnectionError(request, 'reset', 'Connection lost')
      return response
    },
  })
  onTestFinished(() => cli.remove())
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  return {
    declare: (name: string, document: object) =>
      writeFileSync(join(cli.cwd, name), JSON.stringify({ learnctl: 1, ...document })),
    run: (line: string, writes = Number.POSITIVE_INFINITY) => {
      left = writes
      // The lease of an interrupted run may still be there.
      academy.clock.advance(60_000)
      return cli.run(line, { env })
    },
    lose: () => {
      losesAnswer = true
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

describe('an interrupted apply', () => {
  test.for(slowRows(['apply school.json --yes', 'apply --plan plan.jsonl --yes']))(
    'has done nothing or all, and is complete when it is run again: %s',
    async (line, { academy }) => {
      const { declare, run } = await breaking(academy)
      declare('school.json', school('Old', 10))
      expect(await run('apply school.json --yes')).toMatchObject({ code: 0 })
      const before = (await run('dump')).stdout
      declare('school.json', school('New', 20))
      expect(await run('apply school.json --plan-out plan.jsonl')).toMatchObject({ code: 0 })
      let interruptions = 0
      while ((await run(line, interruptions)).code === 7) {
        interruptions += 1
        expect((await run('dump')).stdout).toBe(before)
      }
      expect(interruptions).toBeGreaterThan(2)
      expect(await run('diff school.json')).toMatchObject({ code: 0 })
    },
  )

  test('whose answer was lost is complete', { tags: ['slow'] }, async ({ academy }) => {
    const { declare, run, lose } = await breaking(academy)
    declare('school.json', school('Old', 10))
    lose()
    expect(await run('apply school.json --yes')).toMatchObject({ code: 7 })
    expect(await run('diff school.json')).toMatchObject({ code: 0 })
  })
})
