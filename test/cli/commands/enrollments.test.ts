import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const enrol = 'enrollments create --course ext:sea --user email:ada@school.example'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea --status published')
  await local.run('users create --email ada@school.example --external-id S-1')
})

describe('create', () => {
  test("takes the school's own ids, and answers with the academy's", async ({ local }) => {
    const course = await resultOf(local, 'courses get ext:sea')
    const user = await resultOf(local, 'users get ext:S-1')
    const body = { stdin: '{"enrolledAt":"2026-02-01T08:00:00+01:00"}' }
    expect(await resultOf(local, `${enrol} --body -`, body)).toMatchObject({
      courseId: course.id,
      userId: user.id,
      role: 'learner',
      status: 'active',
      enrolledAt: '2026-02-01T07:00:00.000Z',
      completedAt: null,
      source: 'api',
    })
  })

  test('of one who is enrolled already names the enrolment, and adds none', async ({ local }) => {
    const { id } = await resultOf(local, enrol)
    const { code, stdout, stderr } = await local.run(enrol)
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(stderr).toContain(id)
    expect(await rowsOf(local, 'enrollments list')).toHaveLength(1)
  })

  test('of the people in a file counts outcomes, and exits 8', { tags: ['slow'] }, async ({ local }) => {
    await local.run('users create --email bob@school.example')
    await local.run(enrol)
    writeFileSync(
      join(local.cwd, 'people.txt'),
      '\ufeffS-1\r\next:S-1\r\nBob@school.example\r\n\r\ncarl@school.example\r\nbob@school.example\r\n',
    )
    const first = await local.run('enrollments create --course sea --ids people.txt --if-not-exists')
    expect([first.code, first.stdout.trim().split('\n').length]).toEqual([8, 4])
    expect(first.stderr).toContain(`5 enrolments: 1 created, 3 already existed, 1 refused
error: Cannot create 1 of 5 enrolments
  carl@school.example: User carl@school.example not found
`)
    const people = 'S-1\nbob@school.example\n'
    const again = await local.run('enrollments create --course sea --ids -', { stdin: people })
    expect([again.code, again.stderr]).toEqual([
      8,
      expect.stringContaining('2 enrolments: 0 created, 2 refused\nerror: Cannot create 2 of 2 enrolments\n'),
    ])
    expect(again.stderr).toContain('hint: To leave existing enrolments as they are: --if-not-exists')
  })
})

test('several courses and people are listed and exported', { tags: ['slow'] }, async ({ local }) => {
  const places = ['sea', 'a,b', 'land'].flatMap((course) =>
    ['S-1', 'S-2', 'S-3'].map((user) => [course, user]),
  )
  for (const course of ['a,b', 'land']) {
    await local.run(`courses create --title "${course}" --external-id "${course}" --status published`)
  }
  for (const user of ['S-2', 'S-3'])
    await local.run(`users create --email ${user}@b.example --external-id ${user}`)
  const lines = (head: string, more: string) =>
    `${head}\n${places.map(([course, user]) => `"ext:${course}",ext:${user}${more}\n`).join('')}`
  await local.run('enrollments import -', { stdin: lines('courseId,userId', '') })
  await local.run('progress import -', { stdin: lines('courseId,learnerId,completionPercentage', ',5') })
  await local.run('grades import -', { stdin: lines('courseId,learnerId,scoreGiven', ',5') })
  await local.run('lessons import -', {
    stdin: 'courseId,title\next:sea,One\n"ext:a,b",Two\next:land,Three\n',
  })
  const two = '--course sea --course land'
  for (const sort of ['', '--sort createdAt', '--sort -updatedAt']) {
    expect(await rowsOf(local, `enrollments list ${two} ${sort}`)).toHaveLength(6)
    expect(await rowsOf(local, `enrollments list ${two} --user S-1 --user S-3 ${sort}`)).toHaveLength(4)
    expect(await rowsOf(local, `grades list ${two} --learner S-2 --learner S-3 ${sort}`)).toHaveLength(4)
    expect(await rowsOf(local, `lessons list ${two} ${sort}`)).toHaveLength(2)
  }
  for (const noun of ['enrollments', 'progress', 'grades'] as const) {
    const { stderr } = await local.run(`${noun} export --course sea --course "a,b"`)
    expect(stderr).toBe('Exported 6 rows\n')
  }
  expect((await local.run('progress export --history --learner S-1 --learner S-2')).stderr).toBe(
    'Exported 6 rows\n',
  )
  // A comma inside an external id does not separate two.
  expect(await rowsOf(local, 'enrollments list --course "a,b"')).toHaveLength(3)
  const none = await local.run('enrollments delete --course "sea,land" --user S-1 --yes')
  expect(none).toMatchObject({ code: 3, stdout: '' })
  expect(await local.run('enrollments delete --course "a,b" --user S-1 --yes')).toMatchObject({ code: 0 })
  const missing = await local.run('enrollments list --course sea --course nowhere --course gone')
  expect(missing.code).toBe(3)
  expect(missing.stderr).toContain('nowhere')
  expect(missing.stderr).toContain('gone')
})

test('a deleted enrolment is revived by the next create, and its progress was kept', async ({ local }) => {
  await local.run('progress set ext:S-1 --course ext:sea --completion 40')
  const [id = ''] = (await rowsOf(local, 'enrollments list --columns id')).flat()
  expect(await local.run(`enrollments delete ${id} --yes`)).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Deleted enrolment of user ada@school.example in course Sea; progress is kept\n',
  })
  expect(await resultOf(local, enrol)).toMatchObject({ id, status: 'active' })
  expect(await rowsOf(local, 'progress get ext:S-1 --columns completionPercentage')).toEqual([['40']])
})

test('a list says who takes which course in which role, and ids on request', async ({ local }) => {
  const { id } = await resultOf(local, enrol)
  const { stdout, stderr } = await local.run('enrollments list --color never', { tty: 80 })
  expect(stdout).toMatch(/^ada@school\.example +Sea +learner +active +2026-03-01T12:00Z/m)
  expect(stderr).toBe('')
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(stdout).not.toContain('enr_')
  expect(await rowsOf(local, 'enrollments list')).toEqual([
    ['ada@school.example', 'Sea', 'learner', 'active', '2026-03-01T12:00:00.000Z', ''],
  ])
  expect(await rowsOf(local, 'enrollments list --columns id,userEmail')).toEqual([[id, 'ada@school.example']])
})
