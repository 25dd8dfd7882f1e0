import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran } from '../../helpers/result.ts'

/** Makes an academy, exports it and applies the package to an empty one; returns the notes of the export. */
async function move(
  cli: TestCli,
  academy: string,
  form: string,
  requests: readonly (readonly [method: string, path: string, body: object])[] = [],
): Promise<string> {
  for (const name of ['old.db', 'new.db']) await putNewAcademy(join(cli.cwd, name))
  await ran(cli, 'apply - --yes --database old.db', 0, { stdin: `learnctl: 1\n${academy}` })
  for (const [method, path, body] of requests) {
    await ran(cli, `api ${method} ${path} --body - --database old.db`, 0, { stdin: JSON.stringify(body) })
  }
  const { stderr } = await ran(cli, `roster export --format ${form} moved --database old.db`)
  await ran(cli, 'roster apply moved --yes --database new.db')
  return stderr
}

const school = `users:
  - {externalId: u1, email: a@b.example, username: a, profile: {firstName: A, lastName: B, displayName: Nick99}}
  - {externalId: u2, email: c@b.example, username: c, profile: {displayName: Cy}}
courses:
  - {externalId: C, title: C, status: published, description: About C}
  - {externalId: D, title: D, status: archived}
enrollments:
  - {courseId: C, userId: u1, enrolledAt: 2026-01-10}
  - {courseId: C, userId: u2, enrolledAt: 2026-01-11}
`

const group = [
  ['POST', '/v1/groups', { externalId: 'S0a', name: '5b', courseId: 'ext:C' }],
  ['PUT', '/v1/groups/ext:S0a/members/ext:u1', {}],
] as const

describe('a school that is moved by files of Moodle', () => {
  test('keeps the days of enrolments, and counts what differs afterwards', { tags: ['slow'] }, async ({
    local,
  }) => {
    const told = await move(local, school, 'moodle --category 1', group)
    expect(told.split('\n').slice(1, -2)).toEqual([
      'note: 1 user without a first or last name: - is written, since Moodle requires both',
      'note: 1 user with a display name only: its parts are written as first and last name, since Moodle requires both',
      'note: The display names of 1 user are not included: Moodle has none',
      'note: 1 archived course written as hidden, like a draft: Moodle has no archive',
      "note: The ids of 1 group are not included: Moodle's files have names of groups only",
      'note: Moodle needs passwords or an authentication method: choose to create them in Upload users',
    ])
    await ran(local, 'roster diff old.db new.db --only enrollments')
  })
})

describe('a school that is moved by OneRoster', () => {
  test('keeps display names of one word', { tags: ['slow'] }, async ({ local }) => {
    const names = ['Nick99', 'Ada', 'Lovelace', 'Countess Ada', 'Ada King', 'the Countess Lovelace']
    const users = names.map(
      (name, n) =>
        `  - {externalId: u${n}, email: p${n}@b.example, profile: {firstName: Ada, lastName: Lovelace, displayName: ${name}}}`,
    )
    const told = await move(local, `users:\n${users.join('\n')}\n`, 'oneroster')
    expect(told).not.toContain('display name')
    await ran(local, 'roster diff old.db new.db')
  })

  test('has days that equal any time of the day, in UTC', { tags: ['slow'] }, async ({ local }) => {
    await move(
      local,
      `users: [{externalId: u1, email: a@b.example, profile: {firstName: A, lastName: B}}]
courses: [{externalId: C, title: C, status: published}]
enrollments: [{courseId: C, userId: u1, enrolledAt: 2026-01-10T23:30:00Z}]
grades: [{courseId: C, learnerId: u1, scoreGiven: 80, gradedAt: 2026-02-01T10:00:00Z}]
`,
      'oneroster',
    )
    for (const line of ['moved --database old.db', 'moved old.db', 'old.db moved']) {
      expect((await ran(local, `roster diff ${line} --only enrollments,grades`)).stderr).not.toContain(
        'newer',
      )
    }
    await ran(local, 'users update ext:u1 --first-name Ada --database old.db')
    await ran(local, 'roster apply moved --yes --database old.db')
    const kept = await ran(local, 'enrollments list -o json --database old.db')
    expect(kept.stdout).toContain('2026-01-10T23:30:00.000Z')
  })

  test('differs by a day of enrolment on another day', { tags: ['slow'] }, async ({ local }) => {
    const academy = (time: string) => `users: [{externalId: u1, email: a@b.example}]
courses: [{externalId: C, title: C}]
enrollments: [{courseId: C, userId: u1, enrolledAt: ${time}}]
`
    await move(local, academy('2026-01-10T23:30:00Z'), 'oneroster')
    const stdin = `learnctl: 1\n${academy('2026-01-11T00:10:00Z')}`
    await ran(local, 'apply - --yes --database old.db', 0, { stdin })
    await ran(local, 'roster diff moved --only enrollments --database old.db', 9)
  })
})
