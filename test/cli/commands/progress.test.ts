import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const set = 'progress set email:ada@school.example --course ext:sea'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea --status published --body -', {
    stdin: '{"progressTracking":{"completionThreshold":90}}',
  })
  await local.run('users create --email ada@school.example --external-id S-1')
})

describe('set', () => {
  test('enrols the learner, and derives the status', async ({ local }) => {
    const { id } = await resultOf(local, 'users get ext:S-1')
    expect(await resultOf(local, `${set} --completion 40`)).toMatchObject({
      learnerId: id,
      completionPercentage: 40,
      status: 'in_progress',
      startedAt: '2026-03-01T12:00:00.000Z',
      lastAccessed: '2026-03-01T12:00:00.000Z',
      completedAt: null,
    })
    expect(await rowsOf(local, 'enrollments list --user ext:S-1 --columns status')).toEqual([['active']])
  })

  test('without a time says now, in UTC, and keeps a later time that is stored', async ({ local }) => {
    const dry = await local.run(`${set} --completion 10 --dry-run -o json`)
    expect(JSON.parse(dry.stdout)).toMatchObject({
      headers: { prefer: 'handling=lenient' },
      body: { courseId: 'ext:sea', completionPercentage: 10, lastAccessed: '2026-03-01T12:00:00.000Z' },
    })
    await local.run(`${set} --completion 60 --last-accessed 2026-03-01T12:03:00Z`)
    expect(await resultOf(local, `${set} --completion 90`)).toMatchObject({
      completionPercentage: 90,
      lastAccessed: '2026-03-01T12:03:00.000Z',
    })
  })

  test('sends the time that was given as it is, on the command line or in the body', async ({ local }) => {
    const stdin =
      '{"courseId": "ext:sea", "completionPercentage": 10, "lastAccessed": "2026-02-10T08:00:00Z"}'
    for (const line of [
      'progress set ext:S-1 --body -',
      `${set} --completion 10 --last-accessed 2026-02-10T08:00:00Z`,
    ]) {
      const { stdout } = await local.run(`${line} --dry-run -o json`, { stdin })
      const { headers, body } = JSON.parse(stdout)
      expect(headers).not.toHaveProperty('prefer')
      expect(body.lastAccessed).toMatch(/^2026-02-10T08:00:00/)
    }
  })
})
