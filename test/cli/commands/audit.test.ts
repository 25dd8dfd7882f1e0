import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { test as base, type TestCli } from '../../helpers/cli.ts'

/** Each run has its own time, because entries of one millisecond by several processes have no fixed order. */
const test = base.extend('options', () => {
  let nowMs = Date.parse('2026-03-01T12:00:00Z')
  return {
    now: () => {
      nowMs += 1
      return nowMs
    },
  }
})

/** Makes a published course and a learner in it. */
async function fill(cli: TestCli): Promise<void> {
  await cli.run('courses create --title Logic --external-id LOG')
  await cli.run('courses publish ext:LOG')
  await cli.run('users create --email ada@b.example --external-id 1')
  await cli.run('enrollments create --course ext:LOG --user ext:1')
}

/** Changes the database directly, as anyone with access to the file can. */
function tamper(cli: TestCli, statements: string): void {
  const database = new DatabaseSync(join(cli.cwd, 'academy.db'))
  try {
    database.function('lower', { deterministic: true }, (text) => String(text).toLowerCase())
    database.exec(statements)
  } finally {
    database.close()
  }
}

/** Returns the hash of the last entry, as `audit verify` prints it. */
async function headOf(cli: TestCli): Promise<string> {
  return JSON.parse((await cli.run('audit verify -o json')).stdout).hash
}

const columns = '--columns userEmail,action,subjectName,credential'

test('the log tells who did what to which thing, and is filtered', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  expect((await local.run(`audit list ${columns}`)).stdout.split('\n')).toEqual([
    'admin@academy.local\tenrollment.created\tLogic · ada@b.example\tlocal',
    'admin@academy.local\tuser.created\tada@b.example\tlocal',
    'admin@academy.local\tcourse.published\tLogic\tlocal',
    'admin@academy.local\tcourse.created\tLogic\tlocal',
    '',
  ])
  const actions = async (filter: string) =>
    (await local.run(`audit list --columns action ${filter}`)).stdout.trim().split('\n')
  expect(await actions('--noun course --sort at')).toEqual(['course.created', 'course.published'])
  expect(await actions('--action user.created,course.created')).toEqual(['user.created', 'course.created'])
  expect(await actions('--credential key_none')).toEqual([''])
  expect(await actions('--until 2026-02-28')).toEqual([''])
  expect(await actions('--user email:admin@academy.local --since 2026-03-01 --noun user')).toEqual([
    'user.created',
  ])
  const { stdout: entry } = await local.run('audit list --action course.published -q')
  const shown = JSON.parse((await local.run(`audit get ${entry.trim()} -o json`)).stdout)
  expect(shown).toMatchObject({ before: { status: 'draft' }, after: { status: 'published' }, address: null })
})

test('endpoints and integrations are called by their URL and kind', async ({ local }) => {
  await local.run('integrations set moodle --generate-secret')
  await local.run('webhooks endpoints create --to https://lms.example.org/hooks -o json')
  expect((await local.run('audit list --columns action,subjectName')).stdout).toBe(
    'endpoint.created\thttps://lms.example.org/hooks\nintegration.updated\tmoodle\n',
  )
})

test('an untouched log is verified, its hash found again later', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const ran = await local.run('audit verify -o json')
  expect(ran.code).toBe(0)
  expect(ran.stderr).toBe('Verified 4 entries: none was changed, inserted or removed\n')
  const report = JSON.parse(ran.stdout)
  expect(report).toEqual({
    ...{
      entries: 4,
      erased: 0,
      unlinked: 0,
      from: expect.stringMatching(/^2026-03-01T12:00:0/),
      to: expect.stringMatching(/^2026-03-01T12:00:0/),
    },
    ...{ place: 4, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  await local.run('courses archive ext:LOG')
  expect((await local.run(`audit verify --expect ${report.hash.toUpperCase()}`)).code).toBe(0)
  expect(await headOf(local)).not.toBe(report.hash)
})

const cases: readonly [what: string, statements: string, told: readonly RegExp[]][] = [
  [
    'details that were changed',
    `update audit_entries set details = replace(details, 'Logic', 'Magic') where place = 2`,
    [/tampered with at aud_\w+: 1 problem found/, /Entry 2 \(aud_\w+\): its details were changed/],
  ],
  [
    'an origin that was changed',
    `update audit_entries set origin = replace(origin, 'null', '"192.0.2.7"') where place = 3`,
    [/Entry 3 \(aud_\w+\): its address or user agent was changed/],
  ],
  [
    'another actor',
    `update audit_entries set user_id = 'usr_none' where place = 3`,
    [/Entry 3 \(aud_\w+\): its hash does not match/],
  ],
  [
    'details that were changed with their digest',
    `update audit_entries set details = (select details from audit_entries where place = 1),
       details_digest = (select details_digest from audit_entries where place = 1) where place = 2`,
    [/Entry 2 \(aud_\w+\): its hash does not match/],
  ],
  [
    'details that are no JSON any more',
    `update audit_entries set details = '{', origin = '[]' where place = 2`,
    [
      /: 2 problems found/,
      /Entry 2 \(aud_\w+\): its details were changed/,
      /its address or user agent was changed/,
    ],
  ],
  [
    'details of a course that were taken away',
    'update audit_entries set details = null where place = 2',
    [/Entry 2 \(aud_\w+\): its details were removed, though it is about no user/],
  ],
  [
    'details of an enrolment, taken away',
    'update audit_entries set details = null where place = 4',
    [/Entry 4 \(aud_\w+\): its details or address were removed, though user usr_\w+ was not erased/],
  ],
  [
    'details of entries whose action is about a user, without one',
    `update audit_entries set details = null, about_id = null where place = 4`,
    [/Entry 4 \(aud_\w+\): its details were removed/, /Entry 4 \(aud_\w+\): its hash does not match/],
  ],
  ['an entry that was deleted', 'delete from audit_entries where place = 2', [/Entry 2 is missing/]],
  [
    'an entry that was inserted',
    `update audit_entries set place = 5 where place = 4;
     insert into audit_entries select 4, replace(id, 'aud_0', 'aud_1'), user_id, credential, action, subject_id, about_id,
       origin, origin_digest, details, details_digest, hash, change_id from audit_entries where place = 5`,
    [/Entry 4 \(aud_1\w+\): its hash does not match/, /Entry 5 \(aud_0\w+\): its hash does not match/],
  ],
]

for (const [what, statements, told] of cases) {
  test(`${what}: a check fails and names the entry`, async ({ local }) => {
    await fill(local)
    tamper(local, statements)
    const { code, stderr, stdout } = await local.run('audit verify')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    for (const text of told) expect(stderr).toMatch(text)
  })
}

test('a hash that was noted down tells a log that was cut off', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const noted = await headOf(local)
  tamper(local, 'delete from audit_entries where place > 2')
  expect((await local.run('audit verify')).code).toBe(0)
  const { code, stderr } = await local.run(`audit verify --expect ${noted}`)
  expect(code).toBe(1)
  expect(stderr).toContain('The audit log ends at place 2 without the expected hash')
  expect(stderr).toContain(`No entry has the hash ${noted}`)
  expect((await local.run('audit verify --expect none')).code).toBe(2)
})

test('data of an erased user is gone; the log verifies', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  const noted = await headOf(local)
  await local.run('users delete ext:1 --erase --yes')
  const all = (await local.run('audit list --all -o json')).stdout
  expect(all).not.toContain('ada@b')
  const { code, stderr } = await local.run(`audit verify --expect ${noted}`)
  expect(code).toBe(0)
  expect(stderr).toContain('note: The details of 2 entries were erased with a user')
})

test('an erasure explains no missing details of another user', { tags: ['slow'] }, async ({ local }) => {
  await fill(local)
  await local.run('users create --email bob@b.example --external-id 2')
  await local.run('enrollments create --course ext:LOG --user ext:2')
  await local.run('grades set --course ext:LOG --learner ext:2 --score 70 --item exam')
  await local.run('users delete ext:1 --erase --yes')
  expect((await local.run('audit verify')).code).toBe(0)
  tamper(local, `update audit_entries set details = null where action like 'grade.%'`)
  const { code, stderr } = await local.run('audit verify')
  expect(code).toBe(1)
  expect(stderr).toMatch(/its details or address were removed, though user usr_\w+ was not erased later/)
  tamper(
    local,
    `update audit_entries set about_id = (select subject_id from audit_entries where action = 'user.erased')
     where action like 'grade.%'`,
  )
  expect((await local.run('audit verify')).stderr).toContain('its hash does not match')
})

test('secrets are in no entry', async ({ local }) => {
  const { stdout: key } = await local.run('keys create --name ci -o json')
  await local.run('users create --email ada@b.example --password-file -', { stdin: 'a long enough one\n' })
  await local.run('apps create --name Timetable --redirect-uri https://time.example/cb')
  const log = (await local.run('audit list --all -o json')).stdout
  expect(log).not.toContain(JSON.parse(key).key)
  expect(log).not.toContain('a long enough one')
  expect(JSON.parse(log).map(({ action }: { action: string }) => action)).toContain('app.created')
})
