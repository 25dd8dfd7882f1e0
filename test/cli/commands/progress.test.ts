import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const set = 'progress set email:ada@school.example --course ext:sea'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea --status published --completion-threshold 90')
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

  test.for([
    ['0', 'in_progress'],
    ['33.5', 'in_progress'],
    ['90', 'completed'],
  ])('to %s makes it %s', async ([percentage = '', status = ''], { local }) => {
    expect(await resultOf(local, `${set} --completion-percentage ${percentage}`)).toMatchObject({
      completionPercentage: Number(percentage),
      status,
    })
  })

  test('asks for course and percentage on a terminal', { tags: ['slow'] }, async ({ local }) => {
    const { code, stdout } = await local.run('progress set -o json', {
      tty: 80,
      typed: ['ext:S-1\r', 'ext:sea\r', '75\r'],
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ completionPercentage: 75 })
  })

  test('takes the record from standard input', async ({ local }) => {
    const stdin = '{"courseId": "ext:sea", "completionPercentage": 10}'
    expect(await resultOf(local, 'progress set ext:S-1 --body - --completion 20', { stdin })).toMatchObject({
      completionPercentage: 20,
    })
  })

  test('that is older than what is stored exits 6 and changes nothing', async ({ local }) => {
    await local.run(`${set} --completion 60 --last-accessed 2026-02-10T08:00:00Z`)
    const { code, stdout, stderr } = await local.run(
      `${set} --completion 90 --last-accessed 2026-02-09T08:00:00Z`,
    )
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(stderr).toMatch(/^error: .*2026-02-10T08:00:00.000Z.*2026-02-09T08:00:00.000Z.*\n/)
    expect(await rowsOf(local, 'progress get ext:S-1 --columns completionPercentage,lastAccessed')).toEqual([
      ['60', '2026-02-10T08:00:00.000Z'],
    ])
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

  test('sent twice does no harm', async ({ local }) => {
    const line = `${set} --completion 60 --last-accessed 2026-02-10T08:00:00Z`
    expect(await resultOf(local, line)).toEqual(await resultOf(local, line))
  })

  test('keeps the day on which it was first completed', async ({ local }) => {
    await local.run(`${set} --completion 95 --last-accessed 2026-02-10T08:00:00Z`)
    expect(
      await resultOf(local, `${set} --completion 50 --last-accessed 2026-02-11T08:00:00Z`),
    ).toMatchObject({
      status: 'in_progress',
      completedAt: '2026-02-10T08:00:00.000Z',
    })
  })

  test('for an enrolment that is stopped exits 6', { tags: ['slow'] }, async ({ local }) => {
    const { id } = await resultOf(
      local,
      'enrollments create --course ext:sea --user ext:S-1 --status inactive',
    )
    expect(await local.run(`${set} --completion 10`)).toMatchObject({ code: 6, stdout: '' })
    expect(await rowsOf(local, 'progress get ext:S-1')).toEqual([])
    expect(id).toMatch(/^enr_/)
  })

  test('with --dry-run prints the request and sends nothing', async ({ local }) => {
    const { stdout } = await local.run(`${set} --completion 10 --dry-run -o json`)
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'PUT',
      url: 'http://localhost/v1/learners/email%3Aada%40school.example/progress',
      body: { courseId: 'ext:sea', completionPercentage: 10 },
    })
    expect(await rowsOf(local, 'progress get ext:S-1')).toEqual([])
  })
})

describe('get', () => {
  test('lists the courses of a learner, or one of them', { tags: ['slow'] }, async ({ local }) => {
    await local.run('courses create --title Land --external-id land --status published')
    await local.run(`${set} --completion 60`)
    await local.run('progress set ext:S-1 --course ext:land --completion 10')
    const percentages = async (flags: string) =>
      (await rowsOf(local, `progress get ext:S-1 --columns completionPercentage ${flags}`)).flat().sort()
    expect(await percentages('')).toEqual(['10', '60'])
    expect(await percentages('--course ext:land')).toEqual(['10'])
    expect(await local.run('progress get ext:S-2')).toMatchObject({ code: 3, stdout: '' })
  })

  test('has nothing to print ids of', async ({ local }) => {
    expect(await local.run('progress get ext:S-1 -q')).toMatchObject({ code: 2, stdout: '' })
  })

  test('of a learner without progress is an empty list in every format', async ({ local }) => {
    const printed = async (format: string) => (await local.run(`progress get ext:S-1 -o ${format}`)).stdout
    expect(await printed('table')).toBe('')
    expect(await printed('json')).toBe('[]\n')
    expect(await printed('jsonl')).toBe('')
    expect(await printed('yaml')).toBe('[]\n')
    expect(await printed('csv')).toBe(
      'learnerId,userEmail,userExternalId,courseId,courseTitle,courseExternalId,completionPercentage,status,startedAt,lastAccessed,completedAt,version,updatedAt\r\n',
    )
  })
})

describe('history', () => {
  test('has every step that was taken, newest first', { tags: ['slow'] }, async ({ local }) => {
    for (const day of ['01', '02', '03']) {
      await local.run(`${set} --completion ${Number(day) * 20} --last-accessed 2026-02-${day}T08:00:00Z`)
    }
    expect(
      await rowsOf(
        local,
        'progress history ext:S-1 --course ext:sea --columns completionPercentage,lastAccessed',
      ),
    ).toEqual([
      ['60', '2026-02-03T08:00:00.000Z'],
      ['40', '2026-02-02T08:00:00.000Z'],
      ['20', '2026-02-01T08:00:00.000Z'],
    ])
  })

  test('needs a course', async ({ local }) => {
    expect(await local.run('progress history ext:S-1')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('course'),
    })
  })
})
