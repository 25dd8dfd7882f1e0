import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'

const people = `learnctl: 1
users:
  - {externalId: S-1, email: ada@b.example}
  - {externalId: S-2, email: bob@b.example}
  - {email: cleo@b.example}
courses:
  - {externalId: BIO, title: Biology}
`
const school = `${people}groups:
  - {externalId: 5b, name: Class 5b, members: [S-1, BOB@b.example, email:cleo@b.example]}
  - {externalId: s2, name: Section 2, course: BIO, members: []}
  - {externalId: open, name: Open}
`

function academy(cli: TestCli, text: string, name = 'academy.yaml'): void {
  writeFileSync(join(cli.cwd, name), text)
}

/** Runs a line that must succeed; returns its output. */
async function done(cli: TestCli, line: string): Promise<string> {
  const ran = await cli.run(line)
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  return ran.stdout
}

async function membersOf(cli: TestCli, group: string): Promise<string[]> {
  const members = JSON.parse(await done(cli, `groups members list ${group} -o json`))
  return members.map(({ userEmail }: { userEmail: string }) => userEmail).sort()
}

test('groups are applied with their members, and a second time nothing changes', { tags: ['slow'] }, async ({
  local,
}) => {
  academy(local, school)
  expect(await done(local, 'validate')).toBe('')
  await done(local, 'apply --yes')
  expect(await membersOf(local, '5b')).toEqual(['ada@b.example', 'bob@b.example', 'cleo@b.example'])
  expect(JSON.parse(await done(local, 'groups get s2 -o json'))).toMatchObject({ courseTitle: 'Biology' })
  expect(await done(local, 'diff')).toContain('No changes; 10 as declared')
})

test('declared members are the only ones; a group without that list keeps its own', {
  tags: ['slow'],
}, async ({ local }) => {
  academy(local, school)
  await done(local, 'apply --yes')
  for (const group of ['s2', 'open']) await done(local, `groups members add ${group} S-2`)
  academy(local, school.replace('S-1, BOB@b.example', 'S-1'))
  const { code, stdout } = await local.run('diff')
  expect(code).toBe(9)
  expect(stdout).toContain(`memberships
  - ext:5b, ext:S-2
  - ext:s2, ext:S-2

0 to create, 0 to change, 2 to delete; 9 as declared`)
  await done(local, 'apply --yes')
  expect(await membersOf(local, '5b')).toEqual(['ada@b.example', 'cleo@b.example'])
  expect(await membersOf(local, 's2')).toEqual([])
  expect(await membersOf(local, 'open')).toEqual(['bob@b.example'])
})

test('an unknown member is a problem with its line', async ({ local }) => {
  academy(local, school.replace('[S-1,', '[S-9,'))
  const { code, stderr } = await local.run('apply --yes', { tty: 200 })
  expect(code).toBe(2)
  expect(stderr).toContain('academy.yaml:9: userId: user S-9 is neither declared nor in the academy')
})

test('a member named twice by other names is a problem, one repeated is not', async ({ local }) => {
  academy(local, school.replace('[S-1,', '[S-1, ext:S-1, S-1,'))
  expect(await local.run('validate', { tty: 200 })).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('group member ext:5b, ext:S-1 is declared twice') },
  })
  academy(local, school.replace('[S-1,', '[S-1, S-1,'))
  await done(local, 'validate')
})

test('labelled groups that are not declared are pruned, and come back when they are', {
  tags: ['slow'],
}, async ({ local }) => {
  academy(local, school)
  await done(local, 'apply --yes --label school')
  academy(local, school.replace(/ {2}- \{externalId: 5b.*\n/, ''))
  const { stdout } = await local.run('diff --label school --prune')
  expect(stdout).toContain('groups\n  - ext:5b  Class 5b\n')
  await done(local, 'apply --yes --label school --prune')
  expect((await local.run('groups get 5b')).code).toBe(3)
  academy(local, school)
  await done(local, 'apply --yes --label school')
  expect(await membersOf(local, '5b')).toHaveLength(3)
})

test('a dump has the groups with their members, and applies to an empty academy', { tags: ['slow'] }, async ({
  local,
  cli,
}) => {
  academy(local, school)
  await done(local, 'apply --yes')
  const dumped = await done(local, 'dump')
  expect(dumped).toContain(`groups:
- externalId: 5b
  name: Class 5b
  members:
    - email:cleo@b.example
    - ext:S-1
    - ext:S-2
`)
  academy(cli, dumped)
  await done(cli, 'apply --yes --database other.db')
  expect(await done(cli, 'dump --database other.db')).toBe(dumped)
})

test('a table of groups lists members', async ({ local }) => {
  academy(local, `${people}groups: {file: groups.jsonl}\n`)
  academy(local, '{"externalId": "5b", "name": "Class 5b", "members": ["S-1", "S-2"]}\n', 'groups.jsonl')
  await done(local, 'apply --yes')
  expect(await membersOf(local, '5b')).toEqual(['ada@b.example', 'bob@b.example'])
  academy(local, `${people}groups: {file: groups.csv}\n`)
  academy(local, 'externalId,name,members\n5b,Class 5b,S-2\n', 'groups.csv')
  await done(local, 'apply --yes')
  expect(await membersOf(local, '5b')).toEqual(['bob@b.example'])
})
