import { parse } from 'csv-parse/sync'
import stringWidth from 'string-width'
import { expect } from 'vitest'
import { testWithFilled } from '../../helpers/filled-academy.ts'
import { rowsOf } from '../../helpers/result.ts'

const plain = { tty: 80, env: { NO_COLOR: '1' } }

/** Two courses of one title, with learners who fell behind, finished and were just enrolled. */
const test = testWithFilled(async (local) => {
  for (const id of ['BIO-1', 'BIO-2']) {
    await local.run(`courses create --title "Marine Biology" --external-id ${id} --status published`)
  }
  const progress = [
    ['ada', 'BIO-1', 30, '2026-01-31'],
    ['bob', 'BIO-1', 100, '2026-02-01'],
    ['ada', 'BIO-2', 60, '2026-02-20'],
  ] as const
  for (const name of ['ada', 'bob', 'eve']) await local.run(`users create --email ${name}@school.example`)
  for (const [name, course, percentage, day] of progress) {
    await local.run(
      `progress set email:${name}@school.example --course ext:${course} --completion ${percentage} --last-accessed ${day}`,
    )
  }
  await local.run('enrollments create --course ext:BIO-1 --user email:eve@school.example')
  for (const [name, score] of [
    ['ada', 40],
    ['bob', 90],
  ] as const) {
    await local.run(
      `grades set email:${name}@school.example --course ext:BIO-1 --item exam --label Exam --score ${score} --body -`,
      { stdin: 'gradedAt: 2026-02-10T00:00:00Z' },
    )
  }
})

test('at-risk lists who may need help, and tells courses apart', { tags: ['slow'] }, async ({ local }) => {
  const columns = '--columns email,courseExternalId,reasons'
  expect(await rowsOf(local, `analytics at-risk ${columns}`)).toEqual([
    ['ada@school.example', 'BIO-1', 'inactive, stuck, not_passed'],
  ])
  expect(await rowsOf(local, `analytics at-risk --inactive-days 5 ${columns}`)).toHaveLength(2)
  expect(await local.run('analytics at-risk --reason stuck --stuck-days 90')).toMatchObject({
    code: 0,
    stdout: '',
  })
  const { stdout } = await local.run('analytics at-risk -o csv')
  expect(parse(stdout, { columns: true })).toMatchObject([
    { email: 'ada@school.example', completionPercentage: '30', gradePercent: '40', passingScore: '70' },
  ])
})

test('at-risk on a terminal has reasons, and a course as needed', { tags: ['slow'] }, async ({ local }) => {
  const { stdout } = await local.run('analytics at-risk', plain)
  expect(stdout).toContain('ada@school.example  inactive, stuck, not_passed  BIO-1')
  const ofOne = await local.run('analytics at-risk --course ext:BIO-1', plain)
  expect(ofOne.stdout.split('\n')[0]).toBe(
    'email               reasons                      lastAccessed       gradePercent',
  )
  for (const line of `${stdout}${ofOne.stdout}`.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(80)
})

test('activity counts by day, week and month, and zeros', { tags: ['slow'] }, async ({ local }) => {
  expect(
    (await local.run('analytics activity --by month --start-date 2026-01-01 --end-date 2026-03-31', plain))
      .stdout,
  ).toBe(`period   activeLearners  progressUpdates  completions  grades
2026-01  1               1                0            0
2026-02  2               2                1            2
2026-03  0               0                0            0
`)
  expect(await rowsOf(local, 'analytics activity')).toHaveLength(12)
  const days = 'analytics activity --by day --start-date 2026-01-31 --end-date 2026-02-01'
  const columns = '--columns period,start,activeLearners'
  expect(await rowsOf(local, `${days} ${columns}`)).toEqual([
    ['2026-01-31', '2026-01-31T00:00:00.000Z', '1'],
    ['2026-02-01', '2026-02-01T00:00:00.000Z', '1'],
  ])
  // Midnight in UTC is the evening before.
  expect(await rowsOf(local, `${days} ${columns} --timezone America/New_York`)).toEqual([
    ['2026-01-31', '2026-01-31T05:00:00.000Z', '1'],
    ['2026-02-01', '2026-02-01T05:00:00.000Z', '0'],
  ])
  const { stdout } = await local.run(`${days} -o json`, { env: { LEARNCTL_TIMEZONE: 'Asia/Tokyo' } })
  expect(JSON.parse(stdout)).toMatchObject([
    { period: '2026-01-31', start: '2026-01-30T15:00:00.000Z', progressUpdates: 1 },
    { period: '2026-02-01', start: '2026-01-31T15:00:00.000Z', progressUpdates: 1, completions: 1 },
  ])
})

test('grades has a row for each item, with quartiles', async ({ local }) => {
  expect((await local.run('analytics grades --by item --course ext:BIO-1', plain)).stdout).toBe(
    `itemTitle  count  mean  median  passRate  lowerQuartile  upperQuartile
Exam       2      65    65      50        52.5           77.5
`,
  )
  expect(await rowsOf(local, 'analytics grades --columns courseExternalId,itemId,count')).toEqual([
    ['BIO-1', 'exam', '2'],
  ])
})

test.for([
  ['activity --start-date 2099-01-01', 2, '--start-date must not be in the future, not "2099-01-01"'],
  [
    'activity --by day --start-date 2000-01-01',
    2,
    '--start-date must leave at most 1000 periods of a day, not "2000-01-01"',
  ],
  ['activity --course ext:BIO-3', 3, 'Course ext:BIO-3 not found'],
  ['at-risk --stuck-days 0', 2, '--stuck-days must be at least 1, not 0'],
  ['grades --term Spring', 3, 'Term Spring not found'],
] as const)('analytics %s: exit code %i', async ([line, code, message], { local }) => {
  const ran = await local.run(`analytics ${line}`)
  expect(ran).toMatchObject({ code, stdout: '' })
  expect(ran.stderr.split('\n')[0]).toContain(`error: ${message}`)
})
