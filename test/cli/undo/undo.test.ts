import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { AuditEntry } from '../../../src/contract/audit.ts'
import type { Change } from '../../../src/contract/changes.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { slowRows } from '../../helpers/slow-rows.ts'
import { canvas, moodle, oneRoster, put, smallSchool } from '../roster/write-rosters.ts'

const school = {
  users: [1, 2, 3].map((n) => ({
    externalId: `${n}`,
    email: `u${n}@b.example`,
    profile: { firstName: `First ${n}`, bio: 'long '.repeat(20) },
  })),
  courses: [
    {
      externalId: 'A',
      title: 'Alps',
      status: 'published',
      description: 'high '.repeat(1500),
      tags: ['hills'],
      modules: [
        {
          title: 'One',
          lessons: [
            { externalId: 'A1', title: 'Start' },
            { externalId: 'A2', title: 'Way' },
          ],
        },
        { title: 'Two', lessons: [{ externalId: 'A3', title: 'Top' }] },
      ],
    },
    { externalId: 'B', title: 'Bays', lessons: [{ externalId: 'B1', title: 'Sea' }] },
    { externalId: 'C', title: 'Capes', status: 'archived' },
  ],
  enrollments: [
    { courseId: 'A', userId: '1' },
    { courseId: 'A', userId: '2', status: 'inactive' },
    { courseId: 'B', userId: '3' },
  ],
  grades: [{ courseId: 'A', learnerId: '1', itemId: 'exam', scoreGiven: 40 }],
}

function declare(cli: TestCli, name: string, document: object): void {
  writeFileSync(join(cli.cwd, name), JSON.stringify({ learnctl: 1, ...document }))
}

async function ok(cli: TestCli, line: string): Promise<string> {
  const ran = await cli.run(line)
  expect(ran.code, `${line}\n${ran.stderr}`).toBe(0)
  return ran.stdout
}

/** Returns the academy as files, without times. */
async function stateOf(cli: TestCli): Promise<string> {
  return (await ok(cli, 'dump')).replaceAll(/^ +(gradedAt|enrolledAt|lastAccessed):.*\n/gm, '')
}

async function changesOf(cli: TestCli): Promise<Change[]> {
  return JSON.parse(await ok(cli, 'undo list --all -o json')) as Change[]
}

/** Returns the id of the only change of a command that has not been undone. */
async function idOf(cli: TestCli, command: string): Promise<string> {
  const found = (await changesOf(cli)).filter((each) => each.command === command && each.undoneBy === null)
  expect(found).toHaveLength(1)
  return found[0]?.id ?? ''
}

/** Makes the school, and returns its state. */
async function withSchool(cli: TestCli): Promise<string> {
  declare(cli, 'school.json', school)
  await ok(cli, 'apply school.json --label ci --yes')
  return stateOf(cli)
}

describe('undo returns to the state before', () => {
  test.for(
    slowRows([
      ['users import', 'users import u.csv'],
      ['grades import', 'grades import g.csv'],
      ['courses copy', 'courses copy ext:A --title Andes'],
      ['users update', 'users update ext:1 ext:2 --role instructor'],
      ['users delete', 'users delete ext:1 ext:2 --yes'],
      ['courses archive', 'courses archive ext:A ext:B'],
      ['courses delete', 'courses delete ext:A ext:B --force --yes'],
      ['lessons delete', 'lessons delete ext:A1 ext:A3 --yes'],
      ['courses apply', 'courses apply -f c.json --yes'],
    ]),
  )('%s', async ([command = '', line = ''], { local }) => {
    const before = await withSchool(local)
    writeFileSync(join(local.cwd, 'u.csv'), 'externalId,email,username\n1,x@b.example,x\n7,u1@b.example,u\n')
    writeFileSync(
      join(local.cwd, 'g.csv'),
      'learnerId,courseId,itemId,scoreGiven\n1,A,exam,95\n1,A,essay,5\n',
    )
    writeFileSync(
      join(local.cwd, 'c.json'),
      JSON.stringify({ externalId: 'B', title: 'Bights', lessons: [{ title: 'Sky' }] }),
    )
    await ok(local, line)
    expect(await stateOf(local)).not.toBe(before)
    await ok(local, `undo ${await idOf(local, command)} --yes`)
    expect(await stateOf(local)).toBe(before)
  })
})

const courseFile = {
  ...{
    externalId: 'C',
    title: 'Capes',
    status: 'published',
    modules: [{ title: 'One', lessons: [{ title: 'Way' }] }],
  },
  lessons: [{ externalId: 'L', title: 'Sea', contentBlocks: [{ type: 'text', body: 'Waves' }] }],
}
const lines = {
  'an academy file': 'apply school.json --label ci --yes',
  'a course file': 'courses apply -f course.json',
  'Canvas files': 'roster apply canvas --format canvas --yes',
  'Moodle files': 'roster apply moodle --format moodle --yes',
  'OneRoster files': 'roster apply oneroster --yes',
  'an import': 'courses import c.csv',
}

test.for(Object.entries(lines))(
  'undone and redone twice: %s',
  { tags: ['slow'] },
  async ([, line], { local }) => {
    declare(local, 'school.json', school)
    put(local, 'canvas', canvas(smallSchool))
    put(local, 'moodle', moodle(smallSchool))
    put(local, 'oneroster', oneRoster(smallSchool))
    writeFileSync(join(local.cwd, 'course.json'), JSON.stringify(courseFile))
    writeFileSync(join(local.cwd, 'c.csv'), 'externalId,title\nC,Capes\n')
    const empty = await stateOf(local)
    await ok(local, line)
    const applied = await stateOf(local)
    for (let round = 0; round < 2; round += 1) {
      const command = line.split(' ', line.startsWith('apply') ? 1 : 2).join(' ')
      await ok(local, `undo ${await idOf(local, command)} --yes`)
      expect(await stateOf(local)).toBe(empty)
      const { code, stderr } = await local.run(line)
      expect([code, stderr]).toEqual([0, expect.stringMatching(/Restore[sd] from the trash: course /)])
      expect(await stateOf(local)).toBe(applied)
    }
  },
)

describe('undo of terms, groups and mappings', () => {
  const more = {
    terms: [
      { externalId: 'S', name: 'Spring' },
      { externalId: 'F', name: 'Autumn', startDate: '2026-09-01' },
    ],
    groups: [
      { externalId: 'G', name: '5a', members: ['1', '2'] },
      { externalId: 'H', name: '5b', course: 'A', members: ['3'] },
    ],
  }
  const taught = {
    ...{ ...school, ...more },
    courses: school.courses.map((course) => ({ ...course, term: course.externalId === 'A' ? 'S' : 'F' })),
  }

  /** Makes a school, applies another, undoes it and redoes it. */
  async function undoAndRedo(cli: TestCli, other: object, made: object = taught): Promise<void> {
    declare(cli, 'taught.json', made)
    await ok(cli, 'apply taught.json --label ci --yes')
    const before = await stateOf(cli)
    const first = await idOf(cli, 'apply')
    declare(cli, 'other.json', other)
    await ok(cli, 'apply other.json --label ci --prune --yes')
    const after = await stateOf(cli)
    expect(after).not.toBe(before)
    const id = (await changesOf(cli)).find((each) => each.command === 'apply' && each.id !== first)?.id
    await ok(cli, `undo ${id} --yes`)
    expect(await stateOf(cli)).toBe(before)
    expect((await cli.run(`undo ${id} --yes`)).stderr).toContain('Nothing to undo')
    await ok(cli, `undo ${await idOf(cli, 'undo')} --yes`)
    expect(await stateOf(cli)).toBe(after)
    await ok(cli, `undo ${id} --yes`)
    expect(await stateOf(cli)).toBe(before)
  }

  test('a deleted term returns to its courses, also to a deleted one', async ({ local }) => {
    const alps = { externalId: 'A', title: 'Alps' }
    const bays = { externalId: 'B', title: 'Bays' }
    const made = {
      terms: [{ externalId: 'S', name: 'Spring' }],
      courses: [
        { ...alps, term: 'S' },
        { ...bays, term: 'S' },
      ],
    }
    await undoAndRedo(local, { terms: [], courses: [{ ...alps, term: null }] }, made)
  })

  test('lessons return from a new course that is archived', { tags: ['slow'] }, async ({ local }) => {
    const [alps, bays, capes] = taught.courses
    const dunes = { externalId: 'D', title: 'Dunes', status: 'archived', lessons: bays?.lessons }
    await undoAndRedo(local, { ...taught, courses: [alps, { ...bays, lessons: [] }, capes, dunes] })
  })

  test('a mapping returns to what it named, a new one goes', { tags: ['slow'] }, async ({ local }) => {
    await withSchool(local)
    const mappings = async () =>
      (await ok(local, 'integrations mappings canvas --columns noun,externalKey,name')).split('\n').sort()
    const put = (text: string) =>
      writeFileSync(join(local.cwd, 'm.csv'), `noun,externalKey,reference\n${text}`)
    put('course,1,ext:A\nuser,1,ext:1\n')
    await ok(local, 'integrations map canvas --file m.csv')
    const before = await mappings()
    const first = await idOf(local, 'mappings import')
    put('course,1,ext:B\ncourse,2,ext:A\n')
    await ok(local, 'integrations map canvas --file m.csv')
    const after = await mappings()
    expect(after).not.toBe(before)
    const id = (await changesOf(local)).find(
      (each) => each.command === 'mappings import' && each.id !== first,
    )?.id
    await ok(local, `undo ${id} --yes`)
    expect(await mappings()).toEqual(before)
    await ok(local, `undo ${await idOf(local, 'undo')} --yes`)
    expect(await mappings()).toEqual(after)
    await ok(local, 'integrations unmap canvas course 2')
    const entries = JSON.parse(await ok(local, 'audit list --action mapping.deleted -o json')) as AuditEntry[]
    const unmapped = await idOf(local, 'integrations unmap')
    const entry = entries.find(({ changeId }) => changeId === unmapped)
    await ok(local, `audit revert ${entry?.id} --yes`)
    expect(await mappings()).toEqual(after)
  })
})

describe('undo', () => {
  test('keeps fields that were changed since, and says so', { tags: ['slow'] }, async ({ local }) => {
    await withSchool(local)
    await ok(local, 'users update ext:1 ext:2 --first-name Ada --role instructor')
    const id = await idOf(local, 'users update')
    await ok(local, 'users update ext:2 --role analyst')
    const shown = await ok(local, `undo ${id} --dry-run`)
    expect(shown).toBe(
      [
        'users',
        '  ~ u1@b.example',
        '      role: "instructor" → "learner"',
        '      profile.firstName: "Ada" → "First 1"',
        '  ~ u2@b.example',
        '      profile.firstName: "Ada" → "First 2"',
        'kept as they are',
        '  user u2@b.example: role was changed since',
        '',
        '0 to remove, 0 to restore, 2 to change back; 1 kept',
        '',
      ].join('\n'),
    )
    const ran = await local.run(`undo ${id} --yes`)
    expect(ran.stderr).toContain('note: Kept user u2@b.example (role), which was changed since')
    expect(await ok(local, 'users get ext:2 --columns role,profile.firstName')).toBe('analyst\tFirst 2\n')
  })

  test('says what it does not undo: progress, passwords, erasure', { tags: ['slow'] }, async ({ local }) => {
    await withSchool(local)
    writeFileSync(join(local.cwd, 'p.csv'), 'learnerId,courseId,completionPercentage\n1,A,50\n3,A,60\n')
    await ok(local, 'progress import p.csv')
    const ran = await local.run(`undo ${await idOf(local, 'progress import')} --yes`)
    expect(ran.stderr).toMatch(
      /^Undone: 1 removed, .*\nnote: Not undone: 2 progress records: older progress never replaces newer\n$/,
    )
    await ok(local, 'users update ext:1 ext:2 --first-name Ada')
    await ok(local, 'users delete ext:2 --erase --yes')
    const erased = await local.run(`undo ${await idOf(local, 'users update')} --yes`)
    expect(erased.stderr).toMatch(
      /^Undone: 0 removed, 0 restored, 1 changed back.*\nnote: Not undone: 1 action whose values were erased with a user or are not visible to you\n$/,
    )
  })

  test('asks, and without a terminal requires --yes', { tags: ['slow'] }, async ({ local }) => {
    const before = await withSchool(local)
    await ok(local, 'users update ext:1 ext:2 --first-name Ada')
    const id = await idOf(local, 'users update')
    const refused = await local.run(`undo ${id}`)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(
      'error: Refusing to undo users update (2 users) of 2026-03-01 12:00 by admin@academy.local without',
    )
    const declined = await local.run(`undo ${id}`, { tty: 100, typed: ['n\r'] })
    expect(declined).toMatchObject({ code: 1 })
    expect(declined.stderr).toContain('~ u1@b.example')
    expect(await stateOf(local)).not.toBe(before)
  })

  test('finds a change by its first letters, or as the last one', { tags: ['slow'] }, async ({ local }) => {
    await withSchool(local)
    const id = await idOf(local, 'apply')
    expect(await ok(local, `undo ${id.slice(0, 30)} --dry-run`)).toContain('- Alps')
    expect(await ok(local, 'undo last --dry-run')).toContain('- Alps')
    const missing = await local.run('undo chg_none --yes')
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('Change chg_none not found') })
  })

  test('prints what it did as JSON, with what was refused', { tags: ['slow'] }, async ({ local }) => {
    await withSchool(local)
    await ok(local, 'users update ext:1 ext:2 --email u1@b.example').catch(() => {})
    writeFileSync(join(local.cwd, 'u.csv'), 'externalId,email\n1,x@b.example\n')
    await ok(local, 'users import u.csv')
    await ok(local, 'users create --email u1@b.example')
    const ran = await local.run(`undo ${await idOf(local, 'users import')} --yes -o json`)
    expect(ran.code).toBe(8)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      summary: { remove: 0, restore: 0, change: 0, kept: 0, done: 0 },
      failed: [{ action: 'update', noun: 'user', name: 'x@b.example', code: 'duplicate' }],
    })
  })
})

test('unfinished undos of one change are continued in their order', async ({ remote, admin }) => {
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
  const run = async (line: string) => {
    const ran = await remote.run(line, { env })
    expect(ran.code, ran.stderr).toBe(0)
    return ran
  }
  const create = async (body: object) => (await admin.post('/v1/changes', body)).body.id
  const rename = (title: string, changeId: string) =>
    admin.put('/v1/courses/ext:A', { title }, { 'change-id': changeId })
  await admin.post('/v1/courses', { externalId: 'A', title: 'Alps' })
  const change = await create({ command: 'courses apply' })
  await rename('Andes', change)
  const undos = [
    await create({ command: 'undo', undoes: change }),
    await create({ command: 'undo', undoes: change }),
  ]
  await rename('Apennines', undos[0])
  await rename('Atlas', undos[1])

  const { stderr } = await run(`undo ${change} --yes`)
  expect(stderr.match(/Continuing undo chg_\w+/g)).toEqual(undos.map((id) => `Continuing undo ${id}`))
  expect((await admin.get('/v1/courses/ext:A')).body.title).toBe('Alps')
})

test('an undone academy file is applied again, with the groups of its courses', async ({ local }) => {
  const stdin = `learnctl: 1
users: [{externalId: u, email: u@b.example}]
courses: [{externalId: A, title: A}]
groups: [{externalId: H, name: H, course: A, members: [u]}, {externalId: W, name: W}]
`
  const run = async (line: string) => {
    const ran = await local.run(line, { stdin })
    expect(ran.code, ran.stderr).toBe(0)
    return ran
  }
  for (const _ of ['first', 'again', 'a third time']) {
    await run('apply - --yes')
    await run('diff -')
    await run('undo last --yes')
    expect((await run('groups list -q')).stdout).toBe('')
  }
})

test('undo list leaves out changes that changed nothing, unless --all is given', async ({ local }) => {
  const users = { stdin: 'externalId,email,firstName\n1,a@b.example,A\n' }
  for (const _ of [1, 2, 3]) await local.run('users import -', users)
  expect(await local.run('undo list --columns done')).toMatchObject({
    stdout: '1 user created\n',
    stderr: 'note: Not shown: 2 changes that changed nothing; use --all to see them\n',
  })
  const { stdout } = await local.run('undo list --columns done,why --all')
  const nothing = '\tnothing was changed'
  expect(stdout.split('\n').sort()).toEqual(['', nothing, nothing, '1 user created\t'])
})

test('undo list says when there are more changes than it shows', async ({ local }) => {
  for (const title of ['Alps', 'Andes', 'Atlas']) {
    writeFileSync(join(local.cwd, 'c.csv'), `externalId,title\n${title},${title}\n`)
    await ok(local, 'courses import c.csv')
  }
  const listed = async (limit: number) => (await local.run(`undo list --limit ${limit}`)).stderr
  expect(await listed(2)).toBe('note: Showing the first 2; use --all for the rest\n')
  expect(await listed(3)).toBe('')
})
