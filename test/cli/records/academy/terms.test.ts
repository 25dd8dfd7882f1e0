import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'

const academy = `learnctl: 1
terms:
  - {externalId: 2027S, name: Spring 2027, startDate: 2027-02-01, endDate: 2027-07-31}
  - {externalId: 2027A, name: Autumn 2027}
courses:
  - {externalId: BIO-101, title: Marine Biology, term: 2027S}
  - {externalId: BIO-102, title: Botany, term: Autumn 2027}
  - {externalId: BIO-103, title: Zoology}
`

function write(cli: TestCli, name: string, text: string): void {
  writeFileSync(join(cli.cwd, name), text)
}

async function done(cli: TestCli, line: string): Promise<string> {
  const ran = await cli.run(line)
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  return ran.stdout
}

async function termOf(cli: TestCli, course: string): Promise<unknown> {
  return JSON.parse(await done(cli, `courses get ext:${course} -o json`)).termExternalId
}

test('terms are applied before the courses that belong to them', { tags: ['slow'] }, async ({ local }) => {
  write(local, 'academy.yaml', academy)
  const plan = await local.run('diff')
  expect(plan.stdout).toContain(`terms
  + ext:2027S  Spring 2027
  + ext:2027A  Autumn 2027
courses
`)
  await done(local, 'apply --yes')
  expect(await Promise.all(['BIO-101', 'BIO-102', 'BIO-103'].map((course) => termOf(local, course)))).toEqual(
    ['2027S', '2027A', null],
  )
  expect(await done(local, 'diff')).toBe('No changes; 5 as declared\n')
})

test('a course moves to another term, and out of it with null', async ({ local }) => {
  write(local, 'academy.yaml', academy)
  await done(local, 'apply --yes')
  write(
    local,
    'moved.yaml',
    `learnctl: 1
courses:
  - {externalId: BIO-101, title: Marine Biology, term: Autumn 2027}
  - {externalId: BIO-102, title: Botany, term: null}
`,
  )
  expect((await local.run('diff moved.yaml')).stdout).toBe(`courses
  ~ ext:BIO-101  Marine Biology
      term: "ext:2027S" → "ext:2027A"
  ~ ext:BIO-102  Botany
      term: "ext:2027A" → none

0 to create, 2 to change, 0 to delete; 0 as declared
`)
  await done(local, 'apply moved.yaml --yes')
  expect([await termOf(local, 'BIO-101'), await termOf(local, 'BIO-102')]).toEqual(['2027A', null])
})

test('a term that is neither declared nor there is reported with its line', async ({ local }) => {
  write(
    local,
    'academy.yaml',
    `learnctl: 1\ncourses:\n  - {externalId: BIO-101, title: Biology, term: 1066}\n`,
  )
  write(
    local,
    'quoted.yaml',
    `learnctl: 1\ncourses:\n  - {externalId: BIO-101, title: Biology, term: "1066"}\n`,
  )
  expect((await local.run('apply academy.yaml --yes')).stderr).toContain(
    'academy.yaml:3: courses[0].term must be',
  )
  const refused = await local.run('apply quoted.yaml --yes')
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('quoted.yaml:3: term: term 1066 is neither declared nor in the academy'),
  ])
})

test('a dump has the terms, and applies to an empty academy', { tags: ['slow'] }, async ({ local }) => {
  write(local, 'academy.yaml', academy)
  await done(local, 'apply --yes')
  const dumped = await done(local, 'dump')
  expect(dumped).toContain('terms:\n- externalId: 2027A\n  name: Autumn 2027\n')
  expect(dumped).toContain('  term: ext:2027S\n')
  write(local, 'dump.yaml', dumped)
  await done(local, 'apply dump.yaml --yes --database other.db')
  expect(await done(local, 'dump --database other.db')).toBe(dumped)
  await done(local, 'dump --folder folder')
  expect((await local.run('diff folder --database other.db')).stdout).toMatch(/^No changes/)
})

test('pruning deletes a term with its label once no course is in it', async ({ local }) => {
  write(local, 'academy.yaml', academy)
  await done(local, 'apply --yes --label sis')
  write(
    local,
    'less.yaml',
    `learnctl: 1
terms:
  - {externalId: 2027S, name: Spring 2027}
courses:
  - {externalId: BIO-102, title: Botany, term: 2027S}
`,
  )
  await done(local, 'apply less.yaml --yes --label sis --prune')
  const { data } = JSON.parse(await done(local, 'api GET /v1/terms -o json'))
  expect(data.map(({ externalId }: { externalId: string }) => externalId)).toEqual(['2027S'])
})

test('a course file names its term', { tags: ['slow'] }, async ({ local }) => {
  await done(local, 'api POST /v1/terms --field name="Spring 2027" --field externalId=2027S')
  write(local, 'course.yaml', 'externalId: BIO-101\ntitle: Biology\nterm: Spring 2027\n')
  await done(local, 'courses apply -f course.yaml')
  expect(await termOf(local, 'BIO-101')).toBe('2027S')
  expect(await done(local, 'courses diff -f course.yaml')).toBe('No changes to course Biology (BIO-101)\n')
  expect(await done(local, 'courses get BIO-101 --with-lessons -o yaml')).toContain('term: ext:2027S\n')
  write(local, 'course.yaml', 'externalId: BIO-101\ntitle: Biology\nterm: Hilary\n')
  expect((await local.run('courses apply -f course.yaml')).code).toBe(3)
})

test('a table of courses names terms', { tags: ['slow'] }, async ({ local }) => {
  await done(local, 'api POST /v1/terms --field name="Spring 2027" --field externalId=2027S')
  write(local, 'courses.csv', 'externalId,title,term\nBIO-101,Biology,2027S\nBIO-102,Botany,Spring 2027\n')
  await done(local, 'courses import courses.csv')
  expect([await termOf(local, 'BIO-101'), await termOf(local, 'BIO-102')]).toEqual(['2027S', '2027S'])
  const again = await local.run('courses import courses.csv --dry-run')
  expect(again.stderr).toContain('2 unchanged')
  expect(await done(local, 'courses export --columns externalId,term')).toBe(
    'externalId,term\r\nBIO-101,ext:2027S\r\nBIO-102,ext:2027S\r\n',
  )
  write(local, 'courses.csv', 'externalId,title,term\nBIO-101,Biology,\nBIO-103,Zoology,Hilary\n')
  const plan = await local.run('courses import courses.csv --clear-empty --dry-run')
  expect(plan.stdout).toMatch(/update\s.*term/)
  expect(plan.stdout).toContain('term: term Hilary not found')
})
