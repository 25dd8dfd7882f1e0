import { beforeEach, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { resultOf } from '../../helpers/result.ts'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  for (const [name, id] of [
    ['ada', 'S-1'],
    ['bob', 'S-2'],
    ['cleo', 'S-3'],
  ]) {
    await local.run(`users create --email ${name}@school.example --external-id ${id}`)
  }
  await local.run('courses create --title Sea --external-id sea --status published')
  await local.run('groups create --name "Class 5b" --external-id 5b')
})

async function membersOf(local: TestCli, group: string): Promise<unknown[]> {
  const members = await resultOf(local, `groups members list ${group}`)
  // Those of one moment have no order across runs.
  return members.map(({ userExternalId }: { userExternalId: unknown }) => userExternalId).sort()
}

test('a group is created, shown, changed and listed', { tags: ['slow'] }, async ({ local }) => {
  const section = await local.run('groups create --name "Section 2" --course sea --external-id s2', {
    tty: 80,
  })
  expect(section).toMatchObject({ code: 0, stderr: 'Created group Section 2 (s2)\n' })
  expect(await resultOf(local, 'groups get s2')).toMatchObject({ name: 'Section 2', courseTitle: 'Sea' })
  const { stderr } = await local.run('groups update s2 --unset course --name Cohort', { tty: 80 })
  expect(stderr).toBe('Updated group Cohort (s2), version 2\n')
  expect(await resultOf(local, 'groups get s2')).toMatchObject({ courseId: null })
  expect(
    (await resultOf(local, 'groups list --search coho')).map(({ name }: { name: unknown }) => name),
  ).toEqual(['Cohort'])
})

test('users are added to a group and removed, several at once', { tags: ['slow'] }, async ({ local }) => {
  const added = await local.run('groups members add 5b S-1 bob@school.example', { tty: 80 })
  expect(added.stderr.replaceAll('\n', ' ')).toBe(
    'Added ada@school.example to group Class 5b (5b) Added bob@school.example to group Class 5b (5b) ',
  )
  expect(await local.run('groups members add 5b --ids -', { stdin: 'S-3\n' })).toMatchObject({ code: 0 })
  expect(await membersOf(local, '5b')).toEqual(['S-1', 'S-2', 'S-3'])
  const removed = await local.run('groups members remove 5b S-1 S-9', { tty: 80 })
  expect(removed).toMatchObject({ code: 8, stderr: expect.stringContaining('S-9: Member S-9 not found') })
  expect(await membersOf(local, '5b')).toEqual(['S-2', 'S-3'])
})

test('a deletion tells of the members; restoring brings them back', { tags: ['slow'] }, async ({ local }) => {
  await local.run('groups members add 5b S-1 S-2')
  const refused = await local.run('groups delete 5b')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('delete group 5b') })
  const { stderr } = await local.run('groups delete 5b', { tty: 200, typed: ['y\r'] })
  expect(stderr).toContain('Delete group Class 5b (5b) with 2 members in')
  expect(stderr).toContain('Deleted group Class 5b (5b) with 2 members; restore until')
  expect(await resultOf(local, 'groups list --deleted')).toMatchObject([{ name: 'Class 5b', members: 2 }])
  expect((await local.run('groups restore 5b')).code).toBe(0)
  expect(await membersOf(local, '5b')).toEqual(['S-1', 'S-2'])
  await local.run('groups create --name "Section 2" --course sea')
  const { stderr: told } = await local.run('courses delete sea --yes', { tty: 200 })
  expect(told).toContain('Deleted course Sea (sea) with 1 group; restore until')
})

test('all members of a group are enrolled, and the counts told', { tags: ['slow'] }, async ({ local }) => {
  await local.run('groups members add 5b S-1 S-2 S-3')
  await local.run('enrollments create --user S-1 --course sea')
  const line = 'enrollments create --group 5b --course sea --role learner'
  const { stdout } = await local.run(`${line} --dry-run`)
  expect(stdout).toBe('Would enrol 3 members of group Class 5b (5b) in course Sea (sea)\n')
  expect(await local.run(line, { tty: 200 })).toMatchObject({
    code: 0,
    stderr: 'Enrolled 2 members of group Class 5b (5b) in course Sea (sea); 1 already enrolled\n',
  })
  expect(await resultOf(local, line)).toMatchObject({ members: 3, enrolled: 0, alreadyEnrolled: 3 })
  expect(await resultOf(local, 'enrollments list --course sea')).toHaveLength(3)
  const quiet = await local.run(`${line} -q`)
  expect(quiet.stdout).toMatch(/^(enr_\w+\n){3}$/)
  const refused = await local.run('enrollments create --group "Class 5b" --course sea -q', { tty: 200 })
  expect(refused).toMatchObject({ code: 0, stdout: quiet.stdout, stderr: '' })
})

test('members who cannot be enrolled are listed', { tags: ['slow'] }, async ({ local }) => {
  await local.run('groups members add 5b S-1 S-2')
  await local.run('courses archive sea')
  const { code, stderr } = await local.run('enrollments create --group 5b --course sea', { tty: 200 })
  expect(code).toBe(8)
  expect(stderr).toContain('Cannot enrol 2 of 2 members of group Class 5b (5b) in course Sea (sea)')
  expect(stderr).toContain('  ada@school.example: Course Sea is archived')
})

test('--group alone names users, of a group that there is', async ({ local }) => {
  for (const more of ['S-1', '--user S-1', '--ids -']) {
    const { code, stderr } = await local.run(`enrollments create ${more} --group 5b --course sea`)
    expect({ code, stderr }, more).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('cannot be used together') },
    })
  }
  expect((await local.run('enrollments create --group 5b')).stderr).toContain('--course is required')
  for (const [line, noun] of [
    ['--group "Class 5c" --course sea', 'groups'],
    ['--group 5b --course seas', 'courses'],
  ]) {
    const { code, stderr } = await local.run(`enrollments create ${line}`)
    expect({ code, stderr }, line).toMatchObject({ code: 3 })
    expect(stderr).toContain(`hint: To list ${noun}: learnctl ${noun} list`)
  }
})

test('groups and members are imported, and exported alike', { tags: ['slow'] }, async ({ local }) => {
  const groups = 'externalId,name,course\n5b,Class 6b,\ns2,Section 2,ext:sea\n'
  expect(await local.run('groups import -', { stdin: groups })).toMatchObject({ code: 0 })
  const members = 'groupId,userId\n5b,S-1\next:5b,bob@school.example\ns2,S-3\n'
  const line = 'groups members import -'
  expect((await local.run(line, { stdin: members })).stderr).toContain('3 created')
  expect((await local.run(line, { stdin: members })).stderr).toContain('3 unchanged')
  const exported = await local.run('groups export --columns externalId,name,course')
  expect(exported.stdout.split('\r\n').sort()).toEqual(
    ['', '5b,Class 6b,', 'externalId,name,course', 's2,Section 2,ext:sea'].sort(),
  )
  expect((await local.run('groups members export --group 5b')).stdout.split('\r\n').sort()).toEqual(
    ['', 'ext:5b,ext:S-1', 'ext:5b,ext:S-2', 'groupId,userId'].sort(),
  )
})
