import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'
import { csv, published } from './read-roster.ts'
import { canvas, manifestOf, moodle, oneRoster, put, type School, smallSchool } from './write-rosters.ts'

async function listed(cli: TestCli, line: string): Promise<Record<string, unknown>[]> {
  return JSON.parse((await ran(cli, `${line} --all -o json`)).stdout)
}

/** Returns the people of an academy besides its admin, as `ada active`. */
async function people(cli: TestCli): Promise<string[]> {
  const users = await listed(cli, 'users list --include-deleted')
  return users
    .filter(({ role }) => role !== 'admin')
    .map(({ externalId, status }) => `${externalId} ${status}`)
    .sort()
}

async function enrolled(cli: TestCli): Promise<string[]> {
  const found = await listed(cli, 'enrollments list')
  return found.map((each) => `${each['courseExternalId']} ${each['userExternalId']} ${each['role']}`).sort()
}

const everyone = ['bio ada learner', 'bio bob learner', 'bio cleo instructor', 'che bob learner']

/** The school after Bob has left it and Ada has married. */
const nextYear: School = {
  ...smallSchool,
  users: smallSchool.users
    .filter(({ id }) => id !== 'bob')
    .map((user) => (user.id === 'ada' ? { ...user, first: 'Adele' } : user)),
  enrollments: smallSchool.enrollments.filter(({ user }) => user !== 'bob'),
}

describe('a roster', () => {
  for (const [name, format] of Object.entries({ OneRoster: oneRoster, Canvas: canvas, Moodle: moodle })) {
    test(`of ${name} is applied, and both sides are equal afterwards`, async ({ local }) => {
      put(local, 'school', format(smallSchool))
      const { stdout, stderr } = await ran(local, 'roster apply school --yes')
      expect(stdout).toContain('users: 3 of 3 equal\n')
      expect(stdout).toContain('courses: 2 of 2 equal\n')
      expect(stdout).toContain('enrollments: 4 of 4 equal\n')
      expect(stderr).toMatch(/Applied: \d+ created, 0 changed, 0 removed; 0 as declared\n$/)
      expect(await enrolled(local)).toEqual(everyone)
    })
  }

  test('that equals the academy prints nothing, so that a scheduled run stays silent', {
    tags: ['slow'],
  }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    expect(await ran(local, 'roster apply school --yes')).toEqual({ code: 0, stdout: '', stderr: '' })
    const { stdout } = await ran(local, 'roster apply school --yes -o json')
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'equal', exitCode: 0, differenceCount: 0 })
    const { stderr } = await local.run('roster apply school --yes', { tty: 100 })
    expect(stderr).toContain('No changes; 11 as declared')
  })

  test('changes what differs and leaves everything else of a record as it is', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    await ran(local, 'users update ext:ada --body -', 0, { stdin: 'profile: {bio: Likes tides}' })
    await ran(local, 'lessons create --course ext:bio --title Tides')
    put(local, 'school', oneRoster(nextYear))
    const { stderr } = await ran(local, 'roster apply school --yes')
    expect(stderr).toContain('Applied: 0 created, 1 changed, 0 removed')
    const { stdout } = await ran(local, 'users get ext:ada -o json')
    expect(JSON.parse(stdout)).toMatchObject({ profile: { firstName: 'Adele', bio: 'Likes tides' } })
    expect(await listed(local, 'lessons list --course ext:bio')).toHaveLength(1)
    // Without --prune nothing is removed.
    expect(await people(local)).toEqual(['ada active', 'bob active', 'cleo active'])
  })

  test('finds people by their address who had no external id, and does not label them', {
    tags: ['slow'],
  }, async ({ local }) => {
    await ran(local, 'users create --email ADA@school.example --first-name Ada')
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    const users = await listed(local, 'users list --q school.example')
    expect(users).toHaveLength(3)
    const labels = Object.fromEntries(users.map(({ externalId, managedBy }) => [externalId, managedBy]))
    expect(labels).toEqual({ ada: null, bob: 'roster:Springfield', cleo: 'roster:Springfield' })
  })
})

describe('people and courses that a roster lacks', () => {
  test('are suspended, archived and taken out of their courses by --prune', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    await ran(local, 'progress set ext:bob --course ext:bio --completion 40')
    put(local, 'school', oneRoster({ ...nextYear, courses: nextYear.courses.slice(0, 1) }))
    const { stderr } = await ran(local, 'roster apply school --yes --prune')
    expect(stderr).toContain('Applied: 0 created, 1 changed, 4 removed')
    expect(await people(local)).toEqual(['ada active', 'bob suspended', 'cleo active'])
    expect(await enrolled(local)).toEqual(['bio ada learner', 'bio cleo instructor'])
    const courses = await listed(local, 'courses list')
    expect(courses.map(({ externalId, status }) => `${externalId} ${status}`).sort()).toEqual([
      'bio draft',
      'che archived',
    ])
    expect(await ran(local, 'roster apply school --yes --prune')).toMatchObject({ stdout: '', stderr: '' })
    // What was learned stays, also when the learner comes back.
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes --prune')
    const { stdout } = await ran(local, 'progress get ext:bob --course ext:bio -o json')
    expect(JSON.parse(stdout)).toMatchObject([{ completionPercentage: 40 }])
    expect(await people(local)).toEqual(['ada active', 'bob active', 'cleo active'])
  })

  test('stay closed when they return in a roster without their status, which a note says', {
    tags: ['slow'],
  }, async ({ local }) => {
    put(local, 'school', moodle(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', moodle({ ...nextYear, courses: nextYear.courses.slice(0, 1) }))
    await ran(local, 'roster apply school --yes --prune')
    put(local, 'school', moodle(smallSchool))
    const note =
      'note: 1 suspended user of the roster stays suspended, as it does not say its status: ext:bob; to change that: learnctl users activate ext:bob\n'
    expect((await ran(local, 'roster diff school', 9)).stderr).toContain(note)
    const { stderr } = await ran(local, 'roster apply school --yes')
    expect(stderr).toContain(note)
    expect(stderr).toContain(
      'note: 1 archived course of the roster stays archived, as it does not say its status: ext:che; to change that: learnctl courses publish ext:che\n',
    )
    expect(await people(local)).toEqual(['ada active', 'bob suspended', 'cleo active'])
    await ran(local, 'users activate ext:bob')
    await ran(local, 'courses publish ext:che')
    expect(await ran(local, 'roster apply school --yes')).toMatchObject({ stdout: '', stderr: '' })
  })

  test('are kept if the roster did not create them', { tags: ['slow'] }, async ({ local }) => {
    await ran(local, 'users create --email bob@school.example --external-id bob')
    await ran(local, 'users create --email eve@school.example --external-id eve')
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', oneRoster({ ...smallSchool, users: smallSchool.users.slice(0, 1), enrollments: [] }))
    await ran(local, 'roster apply school --yes --prune')
    expect(await people(local)).toEqual(['ada active', 'bob active', 'cleo suspended', 'eve active'])
  })

  test('are deleted by --delete-users, and can be restored', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', oneRoster(nextYear))
    await ran(local, 'roster apply school --yes --prune --delete-users')
    expect(await people(local)).toEqual(['ada active', 'bob deleted', 'cleo active'])
  })

  test('are counted by --max-deletes, which changes nothing if there are too many', {
    tags: ['slow'],
  }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', oneRoster(nextYear))
    const { stderr } = await ran(
      local,
      'roster apply school --yes --prune --max-deletes 2 --report r.json',
      6,
    )
    expect(stderr).toContain('Refusing to remove 3 records: --max-deletes is 2\n  Nothing was changed')
    expect(await enrolled(local)).toEqual(everyone)
    expect(JSON.parse(readFileSync(join(local.cwd, 'r.json'), 'utf8'))).toMatchObject({
      ...{ outcome: 'failed', exitCode: 6, error: { code: 'too_many_deletes' } },
      source: { name: 'school', format: 'oneroster', system: 'Springfield' },
    })
    await ran(local, 'roster apply school --yes --prune --max-deletes 3')
  })

  test('are removed by a delta that names them, whoever created them', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes --label other')
    const header = published['1.2']
    const gone = { status: 'tobedeleted', dateLastModified: '2026-02-01T00:00:00Z' }
    put(local, 'delta', {
      'manifest.csv': manifestOf(['users', 'enrollments'], 'delta'),
      'users.csv': csv(header.users, [{ sourcedId: 'bob', ...gone }]),
      'enrollments.csv': csv(header.enrollments, [
        { sourcedId: 'bio-ada', ...gone, classSourcedId: 'bio', userSourcedId: 'ada', role: 'student' },
        { sourcedId: 'bio-zoe', ...gone, classSourcedId: 'bio', userSourcedId: 'zoe', role: 'student' },
      ]),
    })
    const { stderr } = await ran(local, 'roster apply delta --yes --prune --max-deletes 1', 6)
    expect(stderr).toContain('Refusing to remove 2 records')
    await ran(local, 'roster apply delta --yes --prune')
    expect(await people(local)).toEqual(['ada active', 'bob suspended', 'cleo active'])
    expect(await enrolled(local)).toEqual(everyone.slice(1))
    expect(await ran(local, 'roster apply delta --yes')).toMatchObject({ stdout: '', stderr: '' })
  })
})

describe('groups of a roster', () => {
  const sections = (members: Readonly<Record<string, readonly string[]>>) => ({
    ...canvas(smallSchool),
    'sections.csv': csv(
      'section_id,course_id,name,status',
      Object.keys(members).map((id) => ({
        section_id: id,
        course_id: 'bio',
        name: `Section ${id}`,
        status: 'active',
      })),
    ),
    'enrollments.csv': csv(
      'course_id,section_id,user_id,role,status',
      Object.entries(members).flatMap(([id, users]) =>
        users.map((user) => ({
          ...{ course_id: 'bio', section_id: id, user_id: user },
          ...{ role: 'student', status: 'active' },
        })),
      ),
    ),
  })
  const members = async (cli: TestCli, group: string) =>
    (await listed(cli, `users list --group ext:${group}`)).map(({ externalId }) => externalId).sort()

  test('have its members, and lose others only by --prune', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', sections({ a: ['ada', 'bob'], b: ['cleo'] }))
    const { stdout } = await ran(local, 'roster apply school --yes')
    expect(stdout).toContain('groups: 2 of 2 equal\nmemberships: 3 of 3 equal\n')
    expect(await ran(local, 'roster apply school --yes')).toMatchObject({ stdout: '', stderr: '' })
    put(local, 'school', sections({ a: ['ada'] }))
    await ran(local, 'roster apply school --yes')
    expect(await members(local, 'a')).toEqual(['ada', 'bob'])
    await ran(local, 'roster diff school --prune', 9)
    await ran(local, 'roster apply school --yes --prune')
    expect(await members(local, 'a')).toEqual(['ada'])
    expect(await listed(local, 'groups list')).toHaveLength(1)
    await ran(local, 'roster diff academy.db school --only groups')
  })
})

describe('a plan of a roster', () => {
  test('is shown and confirmed, and --dry-run changes nothing', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    const { stdout } = await ran(local, 'roster apply school --dry-run')
    expect(stdout).toContain('users\n  + ext:ada  ada@school.example\n')
    expect(stdout).toContain('11 to create, 0 to change, 0 to delete; 0 as declared')
    const refused = await ran(local, 'roster apply school', 2)
    expect(refused.stderr).toContain('Refusing to apply 11 changes without confirmation')
    expect(await people(local)).toEqual([])
  })

  test('is saved, and carried out later with the same check at the end', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', oneRoster(nextYear))
    await ran(local, 'roster apply school --prune --plan-out plan.jsonl')
    expect(await people(local)).toEqual(['ada active', 'bob active', 'cleo active'])
    expect((await ran(local, 'apply --plan plan.jsonl --yes', 2)).stderr).toContain(
      'is a plan for learnctl roster',
    )
    const { stderr } = await ran(local, 'roster apply --plan plan.jsonl --yes')
    expect(stderr).toContain('Applied: 0 created, 1 changed, 3 removed')
    expect(await people(local)).toEqual(['ada active', 'bob suspended', 'cleo active'])
  })
})

describe('what goes wrong', () => {
  test('a roster with problems is refused as a whole, or applied without these rows', {
    tags: ['slow'],
  }, async ({ local }) => {
    const users = [...smallSchool.users, { id: 'eve', first: 'Eve', email: 'not an address' }]
    put(local, 'school', oneRoster({ ...smallSchool, users }))
    const { stderr } = await ran(local, 'roster apply school --yes', 2)
    expect(stderr).toContain('users.csv:5: email must be an e-mail address')
    expect(await people(local)).toEqual([])
    const { stdout } = await ran(local, 'roster apply school --yes --skip-invalid', 8)
    expect(stdout).toContain('users: 3 of 3 equal')
    expect((await ran(local, 'roster apply school --prune --skip-invalid --yes', 2)).stderr).toContain(
      '--prune and --skip-invalid cannot be used together',
    )
  })

  test('an enrolment of somebody unknown is refused with all others, or left out and counted', {
    tags: ['slow'],
  }, async ({ local }) => {
    const enrollments = [...smallSchool.enrollments, { user: 'eve', course: 'bio' }]
    put(local, 'school', canvas({ ...smallSchool, enrollments }))
    const refused = await ran(local, 'roster apply school --yes', 2)
    expect(refused.stderr).toMatch(/enrollments\.csv:6: userId: user ext:eve is neither declared nor in the/)
    expect(refused.stderr).toContain('or leave these records out: --skip-invalid')
    expect(await people(local)).toEqual([])
    const skipped = await ran(local, 'roster apply school --yes --skip-invalid', 8)
    expect(skipped.stdout).toContain('enrollments: 4 of 5 equal: 1 missing\n')
    expect(skipped.stderr).toContain('Left out 1 record that refers to unknown ones')
    expect(await enrolled(local)).toEqual(everyone)
    const again = await ran(local, 'roster apply school --yes --skip-invalid', 8)
    expect(again.stdout).toContain('enrollments: 4 of 5 equal: 1 missing\n')
  })

  test('records that the platform refuses are listed with their line, and counted as missing', {
    tags: ['slow'],
  }, async ({ local }) => {
    await ran(local, 'users create --email eve@school.example --username bob')
    put(local, 'school', oneRoster(smallSchool))
    const refused = await ran(local, 'roster apply school --yes', 8)
    expect(refused.stdout).toContain('users: 0 of 3 equal: 3 missing\n')
    expect(refused.stderr).toContain('3 changes refused; nothing was changed')
    const line = 'roster apply school --yes --skip-invalid --report r.json'
    const { stdout, stderr } = await ran(local, line, 8)
    expect(stdout).toContain('users: 2 of 3 equal: 1 missing\n')
    expect(stdout).toContain('enrollments: 2 of 4 equal: 2 missing\n')
    expect(stderr).toContain('users.csv:3: user ext:bob: ')
    const report = JSON.parse(readFileSync(join(local.cwd, 'r.json'), 'utf8'))
    expect(report).toMatchObject({
      ...{ outcome: 'refused', exitCode: 8, differenceCount: 3, refusedCount: 3 },
      counts: {
        before: { users: { roster: 3, platform: 0 } },
        after: { users: { roster: 3, platform: 2, equal: 2, extra: 0 } },
      },
      source: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(statSync(join(local.cwd, 'r.json')).mode & 0o777).toBe(0o600)
  })

  test('a source that is missing is a usage error, and the report says so', async ({ local }) => {
    const { stderr } = await ran(local, 'roster apply nowhere --yes --report r.json', 2)
    expect(stderr).toContain('Cannot read nowhere: file not found')
    expect(existsSync(join(local.cwd, 'r.json'))).toBe(true)
    writeFileSync(join(local.cwd, 'notes.csv'), 'one,two\n1,2\n')
    await ran(local, 'roster apply notes.csv --yes', 2)
  })
})

describe('a part of a roster', () => {
  test('is applied by --only, --course and --term', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes --only users')
    expect(await listed(local, 'courses list')).toEqual([])
    await ran(local, 'roster apply school --yes --course Biology')
    expect(await enrolled(local)).toEqual(everyone.slice(0, 3))
    await ran(local, 'roster apply school --yes --term t2')
    expect(await enrolled(local)).toEqual(everyone)
    const { stderr } = await ran(local, 'roster apply school --yes --course Biolgy', 2)
    expect(stderr).toContain('school has no course "Biolgy"; did you mean Biology?')
  })

  test('of some courses removes nobody else', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes')
    put(local, 'school', oneRoster(nextYear))
    await ran(local, 'roster apply school --yes --prune --course bio')
    expect(await people(local)).toEqual(['ada active', 'bob active', 'cleo active'])
    expect(await enrolled(local)).toEqual(['bio ada learner', 'bio cleo instructor', 'che bob learner'])
  })
})
