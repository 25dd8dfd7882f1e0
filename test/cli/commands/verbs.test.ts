import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title Sea --external-id sea --status published')
  await local.run('users create --email ada@school.example --external-id S-1 --first-name Ada')
  await local.run('users create --email bob@school.example --external-id S-2')
})

describe('a user', () => {
  test('is suspended, activated, deleted and restored', { tags: ['slow'] }, async ({ local }) => {
    const said = async (line: string) => (await local.run(line, { tty: 100 })).stderr
    expect(await said('users suspend S-1')).toBe('Suspended user Ada (ada@school.example)\n')
    expect(await resultOf(local, 'users get S-1')).toMatchObject({ status: 'suspended' })
    expect(await said('users activate ada@school.example')).toBe('Activated user Ada (ada@school.example)\n')
    expect(await said('users delete S-1 --yes')).toBe(
      'Deleted user Ada (ada@school.example); restore with: learnctl users restore S-1\n',
    )
    expect(await said('users restore S-1')).toBe('Restored user Ada (ada@school.example)\n')
    expect(await resultOf(local, 'users get S-1')).toMatchObject({ status: 'active' })
  })

  test.for(['ada@school.example', 'email:ADA@school.example', 'S-1', 'ext:S-1'])(
    'who was deleted is restored by %s, too',
    async (reference, { local }) => {
      await local.run('users delete S-1 --yes')
      expect(await resultOf(local, `users restore ${reference}`)).toMatchObject({ status: 'active' })
    },
  )

  test('a user who is not deleted cannot be restored', { tags: ['slow'] }, async ({ local }) => {
    await local.run('users suspend S-1')
    const { code, stderr } = await local.run('users restore S-1')
    expect(code).toBe(6)
    expect(stderr).toContain('error: User Ada (ada@school.example) is not deleted\n')
    expect(stderr).toContain('hint: To activate: learnctl users activate S-1\n')
    expect(await resultOf(local, 'users get S-1')).toMatchObject({ status: 'suspended' })
  })
})

describe('an enrolment', () => {
  const both = '--user S-1 --course sea'

  test('is updated and deleted by user and course', { tags: ['slow'] }, async ({ local }) => {
    const { id } = await resultOf(local, `enrollments create ${both}`)
    const updated = await local.run(`enrollments update ${both} --status inactive`, { tty: 100 })
    expect(updated).toMatchObject({
      code: 0,
      stderr: 'Updated enrolment of user ada@school.example in course Sea, version 2\n',
    })
    const deleted = await local.run('enrollments delete --user ada@school.example --course ext:sea --yes')
    expect(deleted).toMatchObject({ code: 0, stdout: '' })
    expect(await resultOf(local, `enrollments get ${id}`)).toMatchObject({ status: 'deleted' })
    expect(await local.run(`enrollments delete ${both} --yes`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('error: No enrolment of user S-1 in course sea\n'),
    })
    expect(await local.run(`enrollments update ${both} --status active`)).toMatchObject({ code: 0 })
  })

  test('of one who is learner and instructor takes the role', { tags: ['slow'] }, async ({ local }) => {
    await local.run(`enrollments create ${both}`)
    const { id } = await resultOf(local, `enrollments create ${both} --role instructor`)
    const { code, stderr } = await local.run(`enrollments delete ${both} --yes`)
    expect(code).toBe(2)
    expect(stderr).toContain('error: 2 enrolments of user S-1 in course sea\n')
    expect(stderr).toContain(`  ${id}: instructor, active\n`)
    expect(await local.run(`enrollments delete ${both} --role instructor --yes`)).toMatchObject({ code: 0 })
    expect(await rowsOf(local, 'enrollments list --status active --columns role')).toEqual([['learner']])
  })

  test('is asked about by the names of both', { tags: ['slow'] }, async ({ local }) => {
    await local.run(`enrollments create ${both}`)
    const { stderr } = await local.run(`enrollments delete ${both}`, { tty: 200, typed: ['y\r'] })
    expect(stderr).toContain('Delete the enrolment of Ada (ada@school.example) in course Sea (sea)')
  })

  test.for([
    ['enrollments delete --user S-1 --yes', '--course is required'],
    ['enrollments delete enr_1 --course sea --yes', '--course cannot be used together with the id'],
    ['enrollments delete --yes', '<enrollment> is required'],
  ])('%s exits 2', async ([line = '', why = ''], { local }) => {
    expect(await local.run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
  })
})

describe('a key', () => {
  test('whose name others have is not guessed: they are listed', { tags: ['slow'] }, async ({ local }) => {
    const one = await resultOf(local, 'keys create --name ci')
    const other = await resultOf(local, 'keys create --name ci --scopes read,write')
    const { code, stderr } = await local.run('keys revoke ci --yes')
    expect(code).toBe(2)
    expect(stderr).toContain('error: 2 API keys are named "ci"\n')
    for (const { id, last4 } of [one, other]) expect(stderr).toContain(`${id}: ends in ${last4}, `)
    expect(
      (await resultOf(local, 'keys list')).map(({ revokedAt }: { revokedAt: unknown }) => revokedAt),
    ).toEqual([null, null])
  })

  test('that was revoked does not block one of its name', { tags: ['slow'] }, async ({ local }) => {
    const { id } = await resultOf(local, 'keys create --name ci')
    await local.run(`keys revoke ${id} --yes`)
    await local.run('keys create --name ci')
    expect(await local.run('keys revoke ci --yes')).toMatchObject({ code: 0 })
    expect(await local.run('keys revoke nobody --yes')).toMatchObject({ code: 3 })
  })
})

test('a verb without effect says so, and keeps the version', { tags: ['slow'] }, async ({ local }) => {
  const said = async (line: string) => {
    const ran = await local.run(line)
    expect(ran.code, ran.stderr).toBe(0)
    return ran.stderr
  }
  await local.run('users create --email ada@example.org --first-name Ada --last-name Byron --external-id ada')
  const ada = 'Ada Byron (ada@example.org)'
  expect(await said('users suspend ada')).toBe(`Suspended user ${ada}\n`)
  expect(await said('users suspend ada')).toBe(`User ${ada} is already suspended\n`)
  expect(await said('users update ada --status suspended')).toBe(`No changes to user ${ada}, version 2\n`)
  expect(await said('users activate ada')).toBe(`Activated user ${ada}\n`)
  expect(await said('users activate ada ada@example.org')).toBe(`User ${ada} is already active\n`.repeat(2))

  await local.run('courses create --title Go --external-id go')
  expect(await said('courses publish go')).toBe('Published course Go (go), version 2\n')
  expect(await said('courses publish go')).toBe('Course Go (go) is already published\n')
  expect(await said('courses update go --title Go')).toBe('No changes to course Go (go), version 2\n')
  await local.run('lessons create --course go --title One --external-id one')
  expect(await said('lessons update one --status draft')).toBe('Updated lesson One (one), version 2\n')
  expect(await said('lessons update one --status draft')).toBe('No changes to lesson One (one), version 2\n')

  await local.run('enrollments create ada --course go')
  const enrolment = 'enrolment of user ada@example.org in course Go'
  const update = 'enrollments update --course go --user ada --status inactive'
  expect(await said(update)).toBe(`Updated ${enrolment}, version 2\n`)
  expect(await said(update)).toBe(`No changes to ${enrolment}, version 2\n`)
})

test('messages name users by address, and courses by title', { tags: ['slow'] }, async ({ local }) => {
  const refused = async (line: string) => {
    const ran = await local.run(line)
    expect(ran.code, ran.stderr).toBe(6)
    expect(ran.stderr).not.toMatch(/(usr|crs)_/)
    return ran.stderr
  }
  const grade = 'grades set S-1 --course sea --score 5'
  expect(await refused(grade)).toContain('User ada@school.example is not enrolled in course Sea as a learner')
  await local.run('users suspend S-1')
  expect(await refused('progress set S-1 --course sea --completion 5')).toContain(
    'User ada@school.example is suspended',
  )
  await local.run('courses archive sea')
  expect(await refused(grade)).toContain('Course Sea is archived; publish it first')
})
