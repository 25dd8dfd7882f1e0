import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished } from 'vitest'
import { createNames } from '../../../../src/cli/dataset/names.ts'
import { createWriteNotes } from '../../../../src/cli/operation/write-notes.ts'
import { problemsOf } from '../../../../src/cli/records/check-rows.ts'
import { createExecutor } from '../../../../src/cli/records/execute.ts'
import { openImportFile } from '../../../../src/cli/records/sources/file.ts'
import {
  type OneRosterUser,
  oneRosterUserDataset,
  oneRosterUsers,
} from '../../../../src/cli/records/sources/oneroster-users.ts'
import { batchSize } from '../../../../src/cli/records/write.ts'
import { createPacing } from '../../../../src/cli/session/pacing.ts'
import { createCaller } from '../../../../src/client/caller.ts'
import { test, transportTo } from '../../../helpers/cli.ts'
import { freshDirectory } from '../../../helpers/fresh-directory.ts'

/** The header of OneRoster 1.1 and 1.2, as published. */
const headers = {
  '1.1':
    'sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password',
  '1.2':
    'sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns',
} as const
const rolesHeader =
  'sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId'

/** Cells of a user, by column; the others are empty. */
type Cells = Readonly<Record<string, string>>

const ada: Cells = {
  sourcedId: 'u1',
  enabledUser: 'true',
  orgSourcedIds: 's1,s2',
  role: 'student',
  username: 'ada',
  userIds: '{LDAP:ada01},{LTI:x-1}',
  givenName: 'Ada',
  familyName: 'Lovelace',
  email: 'ada@example.org',
  grades: '09,10',
}
const bert: Cells = {
  sourcedId: 'u2',
  enabledUser: 'false',
  orgSourcedIds: 's1',
  role: 'teacher',
  username: 'bert',
  givenName: 'Bert',
  familyName: 'Müller',
  email: 'bert@example.org',
}

function csv(header: string, rows: readonly Cells[]): string {
  const cell = (text = '') => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const lines = rows.map((row) => header.split(',').map((name) => cell(row[name])))
  return [header, ...lines.map((cells) => cells.join(','))].map((line) => `${line}\r\n`).join('')
}

interface Package {
  readonly users: string | Uint8Array
  readonly roles?: string
  readonly mode?: 'bulk' | 'delta' | null
}

async function read({ users, roles, mode = 'bulk' }: Package) {
  const { path: cwd, remove } = freshDirectory()
  onTestFinished(remove)
  const io = { cwd, stdin: Readable.from([]), signal: new AbortController().signal }
  const open = async (name: string, content: string | Uint8Array) => {
    writeFileSync(join(cwd, name), content)
    return openImportFile(io, name)
  }
  const source = await oneRosterUsers({
    users: await open('users.csv', users),
    roles: roles === undefined ? null : await open('roles.csv', roles),
    mode,
  })
  const found: OneRosterUser[] = []
  for await (const some of source.rows) found.push(...some)
  return { ...source, users: found, records: found.map(({ record }) => record), told: source.notes() }
}

/** Users of the package in the form of files. */
const wanted = [
  {
    externalId: 'u1',
    email: 'ada@example.org',
    username: 'ada',
    role: 'learner',
    status: 'active',
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
  },
  {
    externalId: 'u2',
    email: 'bert@example.org',
    username: 'bert',
    role: 'instructor',
    status: 'suspended',
    profile: { firstName: 'Bert', lastName: 'Müller' },
  },
]

const role = (user: string, name: string, type = 'primary', status = ''): Cells => ({
  sourcedId: `${user}-${name}`,
  status,
  userSourcedId: user,
  roleType: type,
  role: name,
  orgSourcedId: 's1',
})

describe('the users of a OneRoster package', () => {
  test('are read from version 1.1, which has their roles in a column', async () => {
    const { records, users, told, paths } = await read({ users: csv(headers['1.1'], [ada, bert]) })
    expect(records).toEqual(wanted)
    expect(told).toEqual([])
    expect(users.map(({ otherIds }) => otherIds)).toEqual([
      [
        { type: 'LDAP', identifier: 'ada01' },
        { type: 'LTI', identifier: 'x-1' },
      ],
      [],
    ])
    expect([...paths].sort()).toEqual([
      ...['email', 'externalId', 'profile.firstName', 'profile.lastName', 'role', 'status', 'username'],
    ])
  })

  test('are read from version 1.2, which has their roles in a file', async () => {
    const { records, told } = await read({
      users: csv(headers['1.2'], [ada, { ...bert, preferredGivenName: 'Bertie' }]),
      roles: csv(rolesHeader, [
        role('u1', 'student'),
        role('u2', 'parent', 'secondary'),
        role('u2', 'teacher'),
        role('u2', 'principal', 'primary', 'tobedeleted'),
      ]),
    })
    const profile = { ...wanted[1]?.profile, displayName: 'Bertie Müller' }
    expect(records).toEqual([wanted[0], { ...wanted[1], profile }])
    expect(told).toEqual([])
  })

  test.for([
    ['with a byte order mark', (text: string) => `\uFEFF${text}`],
    ['in UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['in Windows-1252', (text: string) => Buffer.from(text, 'latin1')],
    ['with LF and blank rows', (text: string) => `${text.replaceAll('\r\n', '\n')}\n,,,,,,,,,,,,,,,,,\n`],
  ] as const)('may come %s', async ([, change]) => {
    const { records, told } = await read({ users: change(csv(headers['1.1'], [ada, bert])) })
    expect(records).toEqual(wanted)
    expect(told).toEqual([])
  })

  test('are suspended where a delta says that they are gone', async () => {
    const at = '2026-08-31T10:00:00Z'
    const rows = [
      { ...ada, status: 'active', dateLastModified: at },
      { sourcedId: 'u2', status: 'tobedeleted', dateLastModified: at },
      { ...bert, sourcedId: 'u3', dateLastModified: at },
    ]
    const { users, told } = await read({ users: csv(headers['1.1'], rows), mode: 'delta' })
    expect(users.map(({ isRemoved }) => isRemoved)).toEqual([false, true, false])
    expect(users[1]?.record).toEqual({ externalId: 'u2', status: 'suspended' })
    expect(told).toEqual(['users.csv: status is empty in a delta file; read as active'])
  })

  test('are read as they are meant, and every leniency is counted', async () => {
    const header = `${headers['1.1'].replace('sourcedId', 'SourcedId')},preferredGivenName`
    const { records, told } = await read({
      users: csv(`${header.replace('preferred', 'preffered')},metadata.bus,shoeSize`, [
        { ...ada, SourcedId: 'u1', role: 'Student', enabledUser: 'TRUE', status: 'active' },
        { ...bert, SourcedId: 'u2', enabledUser: 'no', prefferedGivenName: 'Bertie', password: 'secret' },
        { ...ada, SourcedId: 'u3', username: 'mum@example.org', role: 'parent' },
        {
          ...ada,
          SourcedId: 'u4',
          email: '',
          username: 'dan@example.org',
          role: 'ext:coach',
          enabledUser: '',
        },
        { ...ada, SourcedId: 'u5', email: 'eve@example.org', username: 'SCHOOL\\eve', role: 'principal' },
        { ...ada, SourcedId: 'u1', userIds: 'ada01' },
      ]),
    })
    expect(records).toMatchObject([
      { externalId: 'u2', status: 'suspended', profile: { displayName: 'Bertie Müller' } },
      { externalId: 'u4', status: 'active', email: 'dan@example.org', username: 'dan@example.org' },
      { externalId: 'u5', email: 'eve@example.org', role: 'analyst' },
      { externalId: 'u1', role: 'learner' },
    ])
    expect(records[1]).not.toHaveProperty('role')
    expect(records[2]).not.toHaveProperty('username')
    expect(records[0]).not.toHaveProperty('password')
    expect(told).toEqual([
      'users.csv: columns are not spelled as specified (2 times: SourcedId, prefferedGivenName)',
      'users.csv: unknown columns are left out (shoeSize)',
      'users.csv: several rows of one user; read the last (u1 in line 7)',
      'users.csv: enabledUser is not true or false (2 times: no, empty)',
      'users.csv: password is left out',
      'users.csv: people without a role in an academy are left out (parent)',
      'users.csv: unknown roles; new users become learners (ext:coach)',
      'users.csv: email is empty and read from username',
      'users.csv: administrators become analysts (principal)',
      'users.csv: username has other characters and is left out (SCHOOL\\eve)',
      'users.csv: userIds are not written {type:id} (ada01)',
    ])
  })

  test('count what only the last of several rows or a bulk file may not have', async () => {
    const { told } = await read({
      users: csv(headers['1.2'], [
        { ...ada, status: 'Active' },
        { ...bert, enabledUser: 'True' },
      ]),
      roles: csv(rolesHeader, [role('u1', 'Student')]),
    })
    expect(told).toEqual([
      'users.csv: status or dateLastModified is filled in a bulk file',
      'users.csv: status is not as specified (Active)',
      'users.csv: roles are not spelled as specified (Student)',
      'users.csv: users have no role; new ones become learners',
      'users.csv: enabledUser is not true or false (True)',
    ])
  })

  test('have problems in the words of the file', async () => {
    const text = csv(headers['1.1'], [
      { ...ada, sourcedId: '' },
      { ...ada, enabledUser: 'maybe' },
      { ...bert, givenName: 'B'.repeat(300), email: 'bert' },
    ])
    const { users, header } = await read({ users: `${text}u4,,\r\n` })
    const problems = users.map((user) =>
      problemsOf(oneRosterUserDataset, user, { partial: false, local: true }).map(
        ({ column, message }) => `${column}: ${message}`,
      ),
    )
    expect(problems).toEqual([
      ['sourcedId: is required'],
      ['enabledUser: must be true or false'],
      [
        'email: must be an e-mail address, such as ada@example.org',
        expect.stringMatching(/^givenName: must have at most \d+ characters$/),
      ],
      ['null: has 3 cells, but the header has 18'],
    ])
    // Cells go to the file of rejected rows as they came.
    expect(users[1]?.cells[header.indexOf('enabledUser')]).toBe('maybe')
  })

  test('must have a column sourcedId', async () => {
    await expect(read({ users: 'id,email\r\n1,a@b.example\r\n' })).rejects.toThrow(
      'users.csv has no column sourcedId',
    )
  })

  test('are what the engine makes of an academy, and a second time nothing changes', async ({ academy }) => {
    const { key, get } = await academy.person('admin')
    const caller = createCaller({
      baseUrl: 'https://school.example',
      transport: transportTo(academy),
      authorization: async () => `Bearer ${key}`,
    })
    const { signal } = new AbortController()
    const apply = async () => {
      const kinds: string[] = []
      const executor = createExecutor<OneRosterUser>({
        ...{ caller, signal, names: createNames(caller, signal), notes: createWriteNotes() },
        ...{ pacing: createPacing(8, async () => {}), hasRepeated: () => false },
        finish: (_unit, outcomes) => void kinds.push(...outcomes.map(({ kind }) => kind)),
      })
      const { users } = await read({ users: csv(headers['1.1'], [ada, bert]) })
      const steps = users.map(
        (from) => ({ deed: 'put', dataset: oneRosterUserDataset, from, record: from.record }) as const,
      )
      await executor.run(steps, batchSize)
      return kinds
    }
    expect(await apply()).toEqual(['created', 'created'])
    expect(await apply()).toEqual(['unchanged', 'unchanged'])
    expect((await get('/v1/users/ext:u2')).body).toMatchObject(wanted[1] ?? {})
  })
})
