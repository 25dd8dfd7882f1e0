import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'
import { csv, published } from './read-roster.ts'
import { canvas, manifestOf, moodle, oneRoster, put, type School, smallSchool } from './write-rosters.ts'

/** The school after Bob has left it, Dan has come, and Biology has another title. */
const nextYear: School = {
  users: [...smallSchool.users.filter(({ id }) => id !== 'bob'), { id: 'dan', first: 'Dan' }],
  courses: [{ id: 'bio', title: 'Marine Biology', term: 't1' }],
  enrollments: [
    ...smallSchool.enrollments.filter(({ user }) => user !== 'bob'),
    { course: 'bio', user: 'dan' },
  ],
}

describe('two rosters', () => {
  test('are compared record by record and field by field', { tags: ['slow'] }, async ({ cli }) => {
    put(cli, 'monday', oneRoster(smallSchool))
    put(cli, 'tuesday', oneRoster(nextYear))
    const { stdout } = await ran(cli, 'roster diff monday tuesday', 9)
    expect(stdout).toBe(
      [
        'terms',
        '  - ext:t2  Term t2',
        'users',
        '  + ext:dan  dan@school.example',
        '  - ext:bob  bob@school.example',
        'courses',
        '  ~ ext:bio  Marine Biology',
        '      title: "Biology" → "Marine Biology"',
        '  - ext:che  Chemistry',
        'enrollments',
        '  + ext:bio, ext:dan, learner',
        '  - ext:bio, ext:bob, learner',
        '  - ext:che, ext:bob, learner',
        '',
        '2 to create, 1 to change, 5 to delete; 5 as declared\n',
      ].join('\n'),
    )
    expect((await ran(cli, 'roster diff monday monday')).stdout).toBe('No changes; 11 as declared\n')
  })

  test('are compared as JSON and as CSV, a row for each field', { tags: ['slow'] }, async ({ cli }) => {
    put(cli, 'monday', oneRoster(smallSchool))
    put(cli, 'tuesday', oneRoster(nextYear))
    const json = await ran(cli, 'roster diff monday tuesday --only courses -o json', 9)
    expect(JSON.parse(json.stdout)).toMatchObject({
      summary: { create: 0, update: 1, delete: 1, unchanged: 0 },
      changes: [
        {
          ...{ dataset: 'courses', action: 'update', key: 'ext:bio', place: 'classes.csv:2' },
          fields: [{ field: 'title', from: 'Biology', to: 'Marine Biology' }],
        },
        { dataset: 'courses', action: 'delete', key: 'ext:che' },
      ],
    })
    expect((await ran(cli, 'roster diff monday tuesday --only courses -o csv', 9)).stdout).toBe(
      [
        'dataset,action,key,field,from,to,place',
        'courses,update,ext:bio,title,Biology,Marine Biology,classes.csv:2',
        'courses,delete,ext:che,,,,',
        '',
      ].join('\r\n'),
    )
  })

  test('of different formats are equal in what both can say, and notes name the rest', {
    tags: ['slow'],
  }, async ({ cli }) => {
    put(cli, 'one', oneRoster(smallSchool))
    put(cli, 'canvas', canvas(smallSchool))
    put(cli, 'moodle', moodle(smallSchool))
    const { stderr } = await ran(cli, 'roster diff canvas one')
    expect(stderr).toContain('note: Not compared: terms: only in one\n')
    expect(stderr).toContain('note: Not compared: courses: term (only in one)\n')
    await ran(cli, 'roster diff one moodle')
    await ran(cli, 'roster diff moodle canvas')
  })

  test('match people by their address if they have other ids', { tags: ['slow'] }, async ({ cli }) => {
    const renamed: School = {
      ...smallSchool,
      users: smallSchool.users.map((user) =>
        user.id === 'bob' ? { ...user, id: 'b2', email: 'BOB@school.example' } : user,
      ),
      enrollments: smallSchool.enrollments.map((each) =>
        each.user === 'bob' ? { ...each, user: 'b2' } : each,
      ),
    }
    put(cli, 'one', oneRoster(smallSchool))
    put(cli, 'two', oneRoster(renamed))
    const { stdout } = await ran(cli, 'roster diff one two -o json', 9)
    const { summary, changes } = JSON.parse(stdout)
    expect(summary).toMatchObject({ create: 0, update: 1, delete: 0 })
    expect(changes[0]).toMatchObject({ dataset: 'users', key: 'ext:b2' })
  })

  test('of which the second is a delta differ in what it names', async ({ cli }) => {
    put(cli, 'one', oneRoster(smallSchool))
    const changed = { dateLastModified: '2026-02-01T00:00:00Z' }
    put(cli, 'delta', {
      'manifest.csv': manifestOf(['users'], 'delta'),
      'users.csv': csv(published['1.2'].users, [{ sourcedId: 'bob', status: 'tobedeleted', ...changed }]),
    })
    const { stdout } = await ran(cli, 'roster diff one delta', 9)
    expect(stdout).toContain(
      'users\n  - ext:bob  bob@school.example\n\n0 to create, 0 to change, 1 to delete',
    )
  })
})

describe('a roster and an academy', () => {
  test('are compared as roster apply would change the academy', { tags: ['slow'] }, async ({ local }) => {
    put(local, 'school', oneRoster(smallSchool))
    const { stdout } = await ran(local, 'roster diff school', 9)
    expect(stdout).toContain('11 to create, 0 to change, 0 to delete; 0 as declared')
    await ran(local, 'roster apply school --yes')
    await ran(local, 'roster diff school')
    put(local, 'school', oneRoster(nextYear))
    expect((await ran(local, 'roster diff school', 9)).stdout).toContain(
      '2 to create, 1 to change, 0 to delete',
    )
    const pruned = await ran(local, 'roster diff school --prune', 9)
    expect(pruned.stdout).toContain('status: "active" → "suspended"')
    expect(pruned.stdout).toContain('status: "draft" → "archived"')
  })

  test('are compared in both directions, by profile and by database', { tags: ['slow'] }, async ({
    local,
  }) => {
    put(local, 'school', oneRoster(smallSchool))
    await ran(local, 'roster apply school --yes --database other.db')
    await ran(local, 'profiles add other --database other.db')
    const admin = '  + email:admin@academy.local'
    const { stdout } = await ran(local, 'roster diff school other.db', 9)
    expect(stdout).toContain('users\n')
    expect(stdout).toContain(admin.slice(0, 4))
    await ran(local, 'roster diff school profile:other --only courses,enrollments,terms')
    await ran(local, 'roster diff other school --only courses,enrollments,terms')
    await ran(local, 'roster diff other.db profile:other')
    expect((await ran(local, 'roster diff school nobody', 2)).stderr).toContain(
      'Cannot find nobody\n  It is neither a file or folder nor the name of a profile',
    )
  })
})
