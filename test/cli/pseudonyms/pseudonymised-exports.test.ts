import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect } from 'vitest'
import { fromBufferPromise } from 'yauzl'
import type { Person, TestAcademy } from '../../helpers/academy.ts'
import { type TestCli, test as withCli } from '../../helpers/cli.ts'
import { expectClearError } from '../../helpers/result.ts'
import { testWithShared } from '../../helpers/shared-academy.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

const people = Array.from({ length: 30 }, (_, index) => ({
  email: `zoe.miller-${index}@school.example`,
  externalId: `MATR-${4711 + index}`,
  username: `zoe_${index}_miller`,
  profile: {
    firstName: `Zoë${index}`,
    lastName: index === 7 ? '=HYPERLINK("https://evil.example")' : `Müller-${index}`,
    displayName: `Captain ${index}`,
    bio: `Sails alone, number ${index}`,
    avatarUrl: `https://pictures.example/${index}.png`,
    locale: 'cy-GB',
    learningPreferences: { accessibility: { screenReader: index === 3 } },
  },
}))

/** Texts that identify anyone, with the ids that the academy gave. */
async function identitiesIn(admin: Person): Promise<string[]> {
  const { data: users } = (await admin.get('/v1/users?limit=100')).body
  const { data: enrollments } = (await admin.get('/v1/enrollments?limit=100')).body
  const { data: grades } = (await admin.get('/v1/grades?limit=100')).body
  return [
    ...people.flatMap(({ email, externalId, username, profile }) => [
      ...[email, externalId, username, profile.firstName, profile.lastName, profile.displayName, profile.bio],
      profile.avatarUrl,
    ]),
    ...['cy-GB', 'pictures.example', 'Sails', 'Captain', 'Müller', 'Zoë', 'miller', 'MATR'],
    ...[...users, ...enrollments, ...grades].map(({ id }) => String(id)),
  ]
}

/** Returns all that a Parquet or XLSX file has as text, each cell in its own line. */
async function textIn(file: string): Promise<string> {
  const bytes = readFileSync(file)
  if (file.endsWith('.parquet')) {
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer })
    // Uncompressed, the file has the names of columns, and the least and the greatest value of each.
    return [bytes.toString('utf8'), ...rows.flatMap((row) => Object.values(row).map(textOf))].join('\n')
  }
  const zip = await fromBufferPromise(bytes)
  const texts: string[] = []
  for await (const entry of zip.eachEntry()) {
    texts.push(entry.fileName, await text(await zip.openReadStreamPromise(entry)))
  }
  return texts.join('\n').replaceAll(/[<>]/g, '\n')
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** Makes learners with progress and grades. Returns the texts that identify them. */
async function fill(admin: Person, academy: TestAcademy): Promise<string[]> {
  for (const [title, externalId] of [
    ['Sea', 'sea'],
    ['Land', 'land'],
  ]) {
    await admin.post('/v1/courses', { title, externalId, status: 'published' })
  }
  await admin.post('/v1/users/batch', { items: people })
  const { id: groupId } = (await admin.post('/v1/groups', { name: 'Crew', courseId: 'ext:sea' })).body
  const items = people.map(({ externalId }, index) => ({
    learnerId: `ext:${externalId}`,
    courseId: index < 28 ? 'ext:sea' : 'ext:land',
    completionPercentage: 40,
    lastAccessed: new Date(Date.UTC(2026, 0, 5, index)).toISOString(),
  }))
  await admin.post('/v1/progress/batch', { items })
  const { data: users } = (await admin.get('/v1/users?role=learner&limit=100')).body
  for (const { id } of users.slice(0, 10)) await admin.put(`/v1/groups/${groupId}/members/${id}`)
  const { id: courseId } = (await admin.get('/v1/courses/ext:sea')).body
  const { data: enrolled } = (await admin.get('/v1/enrollments?course_id=ext:sea&limit=10')).body
  for (const { userId: learnerId } of enrolled) {
    await academy.grade({ learnerId, courseId, scoreGiven: 80, label: 'Quiz' })
  }
  return identitiesIn(admin)
}

async function makeKeys(cli: TestCli): Promise<TestCli> {
  for (const name of ['study', 'other']) await cli.run(`analytics pseudonym-key --file ${name}.key`)
  return cli
}

/** The program as the admin of the learners, with two keys. */
const test = testWithShared(fill)
  .extend('identities', ({ records }) => records)
  .extend('school', ({ school }) => makeKeys(school))
/** The same for a test that writes. */
const testOfItsOwn = withCli.extend('school', async ({ remote, admin, academy }) => {
  await fill(admin, academy)
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return makeKeys(remote)
})

const exports = [
  'analytics export',
  'users export',
  'enrollments export',
  'progress export',
  'progress export --history',
  'grades export',
  'groups members export',
  'grades report ext:sea',
  'analytics at-risk --inactive-days 1 --stuck-days 1 --coarsen-times month',
]
const flags = '--pseudonymise --pseudonym-key study.key'

const run = (cli: TestCli, command: string) => cli.run(`${command} ${flags}`)

describe('no output identifies anyone', () => {
  for (const command of slowRows(exports)) {
    test(`${command}, in any format`, async ({ school, identities }) => {
      for (const format of ['csv', 'json', 'jsonl', 'yaml']) {
        const { stdout, stderr, code } = await run(school, `${command} -o ${format}`)
        expect([code, stdout]).toEqual([0, expect.stringMatching(/\b[a-z2-7]{20}\b/)])
        expect(identities.filter((text) => `${stdout}${stderr}`.includes(text))).toEqual([])
      }
      if (command.startsWith('analytics at-risk')) return
      for (const name of ['rows.parquet', 'rows.xlsx']) {
        const { code } = await run(school, `${command} --file ${name}`)
        const found = await textIn(join(school.cwd, name))
        expect([code, found]).toEqual([0, expect.stringMatching(/^[a-z2-7]{20}$/m)])
        expect(identities.filter((identity) => found.includes(identity))).toEqual([])
      }
    })
  }

  test('statements neither', { tags: ['slow'] }, async ({ school, identities }) => {
    const { stdout, code } = await run(school, 'analytics statements --coarsen-times day')
    expect(code).toBe(0)
    expect(identities.filter((text) => stdout.includes(text))).toEqual([])
    const statements = stdout.trimEnd().split('\n')
    expect(statements.length).toBeGreaterThan(people.length)
    for (const line of statements) {
      const { id, actor, timestamp } = JSON.parse(line)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(actor.account.name).toMatch(/^[a-z2-7]{20}$/)
      expect(timestamp).toMatch(/T00:00:00\.000Z$/)
    }
    expectClearError(await run(school, 'analytics statements --actor email'), 2, '--actor email')
  })
})

test('a filter by a person works, and the note says what is left out', async ({ school }) => {
  const { stdout, stderr } = await run(school, 'analytics export --learner email:zoe.miller-4@school.example')
  expect(rowsOf(stdout)).toHaveLength(1)
  expect(stderr).toContain(
    'note: Pseudonymised data is still personal data. Left out: email, firstName, lastName\n',
  )
})

function rowsOf(csv: string): Record<string, string>[] {
  return parse(csv, { columns: true, record_delimiter: '\r\n' })
}

test('the pseudonyms of a key are the same in each export', { tags: ['slow'] }, async ({ school }) => {
  const idsIn = async (command: string, column: string) => {
    const { stdout } = await school.run(command)
    return new Set(rowsOf(stdout).map((row) => row[column]))
  }
  const users = await idsIn(`users export --role learner ${flags}`, 'id')
  const learners = await idsIn(`analytics export ${flags}`, 'learnerId')
  const enrolled = await idsIn(`enrollments export ${flags}`, 'userId')
  expect(users.size).toBe(people.length)
  expect([...learners].sort()).toEqual([...users].sort())
  expect([...enrolled].sort()).toEqual([...users].sort())
  const others = await idsIn('users export --role learner --pseudonymise --pseudonym-key other.key', 'id')
  expect([...others].filter((id) => users.has(id))).toEqual([])
  const { stdout } = await run(school, 'analytics statements -o json')
  for (const { actor } of JSON.parse(stdout)) expect(users).toContain(actor.account.name)
})

test('rows are in the order of pseudonyms, which tells nothing about addresses', async ({ school }) => {
  const { stdout } = await run(school, 'analytics export --columns learnerId')
  const ids = rowsOf(stdout).map(({ learnerId }) => learnerId)
  expect(ids).toEqual(ids.toSorted())
})

test('groups of fewer people than k are counted, without naming them', async ({ school }) => {
  const of = async (more: string) =>
    (await run(school, `analytics export --columns courseId,learnerId ${more}`)).stderr.match(
      /note: .*fewer.*/,
    )?.[0]
  expect(await of('')).toBe(
    'note: 1 group of fewer than 5 people with the same courseId (the smallest has 2): they may be recognised by these',
  )
  expect(await of('--k 2')).toBeUndefined()
  expect(await of('--k 29')).toMatch(/^note: 2 groups /)
  expectClearError(await run(school, 'analytics export --k 0'), 2, '--k must be an integer')
  const ofStatements = async (more: string) =>
    (await run(school, `analytics statements ${more}`)).stderr.match(/note: .*fewer.*/)?.[0]
  // Progress in two courses on two days: of 24, 4 and 2 people. Grades of a course have exact times.
  expect(await ofStatements('--course ext:land --coarsen-times day')).toBe(
    'note: 1 group of fewer than 5 people with the same verb, object, timestamp (the smallest has 2): they may be recognised by these',
  )
  expect(await ofStatements('--course ext:land')).toMatch(/2 groups .*smallest has 1/)
})

test('rows of groups of fewer than k are left out, counted', { tags: ['slow'] }, async ({ school }) => {
  const columns = ['courseId', 'lastAccessed'] as const
  const command = `analytics export --columns learnerId,${columns.join()} --coarsen-times day`
  const rows = rowsOf((await run(school, command)).stdout)
  const groupOf = (row: (typeof rows)[number]) => columns.map((column) => row[column]).join()
  const people = Map.groupBy(rows, groupOf)
  const small = [...people.values()].filter(
    (group) => new Set(group.map(({ learnerId }) => learnerId)).size < 5,
  )
  expect(small.length).toBeGreaterThan(0)
  const { stdout, stderr } = await run(school, `${command} --suppress-small`)
  expect(rowsOf(stdout)).toEqual(rows.filter((row) => !small.includes(people.get(groupOf(row)) ?? [])))
  expect(stderr).toContain(
    `note: Left out ${small.flat().length} rows of ${small.length} groups of fewer than 5 people with the same courseId, lastAccessed\n`,
  )
  expect(stderr).toContain(`Exported ${rows.length - small.flat().length} rows`)

  const all = await run(school, 'grades report ext:sea --k 1000 --suppress-small')
  expect(rowsOf(all.stdout)).toEqual([])
  const statements = 'analytics statements --course ext:land --coarsen-times day'
  const kept = await run(school, `${statements} --suppress-small`)
  expect(kept.stderr).toMatch(
    /Left out 2 rows of 1 group of fewer than 5 people with the same verb, object, timestamp/,
  )
  expect(kept.stdout).toBe('')
  expectClearError(await run(school, 'analytics dataset study --suppress-small'), 2, '--suppress-small')
  expectClearError(await school.run('users export --suppress-small'), 2, '--pseudonymise')
})

test('flags that need each other and left-out columns are named', { tags: ['slow'] }, async ({ school }) => {
  expectClearError(await school.run('users export --pseudonymise'), 2, '--pseudonym-key')
  expectClearError(await school.run('users export --pseudonym-key study.key'), 2, '--pseudonymise')
  expectClearError(await school.run('analytics export --coarsen-times day'), 2, '--pseudonymise')
  expectClearError(await run(school, 'analytics export --coarsen-times year'), 2, 'year')
  expectClearError(await run(school, 'users export --all-columns'), 2, '--all-columns')
  expectClearError(await run(school, 'analytics export --columns email'), 2, 'learnerId, externalId')
  expectClearError(await run(school, 'analytics export --columns nothing'), 2, 'nothing')
  expectClearError(await run(school, 'roster export --format canvas out.zip'), 2, '--pseudonymise')
  expectClearError(await run(school, 'audit export'), 2, '--pseudonymise')
})

test('a gradebook has pseudonyms and grades, no layout with names', { tags: ['slow'] }, async ({
  school,
}) => {
  const { stdout, stderr } = await run(school, 'grades report ext:sea')
  const rows = rowsOf(stdout)
  expect(Object.keys(rows[0] ?? {}).slice(0, 5)).toEqual([
    ...['learnerId', 'externalId', 'enrollmentStatus', 'gradePercent', 'passed'],
  ])
  const ids = rows.map(({ learnerId }) => learnerId)
  expect(ids).toEqual(ids.toSorted())
  const graded = rowsOf((await run(school, 'grades export')).stdout).map(({ learnerId }) => learnerId)
  const inBook = rows.filter((row) => Object.values(row).slice(5).includes('80'))
  expect(inBook.map(({ learnerId }) => learnerId).sort()).toEqual(graded.sort())
  expect(stderr).toContain('Left out: email, firstName, lastName\n')
  expect((await run(school, 'grades report ext:sea --k 1000')).stderr).toMatch(
    /groups? of fewer than 1000 people with the same enrollmentStatus /,
  )
  const { stdout: chosen } = await run(school, 'grades report ext:sea -o jsonl --columns passed,learnerId')
  expect(Object.keys(JSON.parse(chosen.split('\n')[0] ?? ''))).toEqual(['passed', 'learnerId'])
  expectClearError(await run(school, 'grades report ext:sea --for moodle'), 2, '--for and --pseudonymise')
  expectClearError(await run(school, 'grades report ext:sea --columns email'), 2, 'Columns: learnerId')
})

test('learners at risk have reasons, and pseudonyms on a terminal as well', { tags: ['slow'] }, async ({
  school,
  identities,
}) => {
  const command = 'analytics at-risk --inactive-days 1 --stuck-days 1 --coarsen-times month'
  const rows = rowsOf((await run(school, `${command} -o csv`)).stdout)
  expect(rows).toHaveLength(people.length)
  expect(rows[0]).toMatchObject({ lastAccessed: '2026-01-01', reasons: expect.stringContaining('inactive') })
  const terminal = await school.run(`${command} ${flags}`, { tty: 200, env: { NO_COLOR: '1' } })
  expect(terminal.stdout).toMatch(/^learnerId +externalId/i)
  expect(identities.filter((text) => `${terminal.stdout}${terminal.stderr}`.includes(text))).toEqual([])
  expectClearError(await run(school, `${command} --limit 5`), 2, '--limit and --pseudonymise')
  expectClearError(await run(school, 'analytics at-risk --columns email'), 2, '--columns email')
})

describe('a data set', () => {
  const filesIn = (cli: TestCli, folder: string) =>
    readdirSync(join(cli.cwd, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(cli.cwd, folder, name))
      .filter((path) => statSync(path).isFile())
  const linesOf = (cli: TestCli, run: number, table: string): Record<string, unknown>[] =>
    readFileSync(join(cli.cwd, `set/tables/${table}/run-00000${run}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('identifies no one in any file or format', { tags: ['slow'] }, async ({ school, identities }) => {
    for (const format of ['parquet', 'csv', 'jsonl']) {
      const command = `analytics dataset set-${format} -o ${format} ${flags}`
      // A terminal does not get the files.
      const { code, stderr } = await school.run(command, { tty: 200, env: { NO_COLOR: '1' } })
      expect([code, stderr]).toEqual([0, expect.stringContaining('Left out: users.email, users.firstName')])
      const files = filesIn(school, `set-${format}`)
      expect(files.length).toBeGreaterThan(10)
      for (const file of files) {
        const found = /\.(parquet|xlsx)$/.test(file) ? await textIn(file) : readFileSync(file, 'utf8')
        expect([file, identities.filter((identity) => found.includes(identity))]).toEqual([file, []])
      }
    }
  })

  testOfItsOwn('has pseudonyms, and is sorted by them', { tags: ['slow'] }, async ({ school, admin }) => {
    const set = 'analytics dataset set -o jsonl --coarsen-times day'
    expect((await run(school, set)).code).toBe(0)
    const users = linesOf(school, 1, 'users').map(({ id }) => String(id))
    expect(users).toEqual(users.toSorted())
    const learners = rowsOf((await run(school, 'users export --role learner')).stdout).map(({ id }) => id)
    expect(users).toEqual(expect.arrayContaining(learners))
    expect(linesOf(school, 1, 'progress')[0]).toMatchObject({
      learnerId: expect.stringMatching(/^[a-z2-7]{20}$/),
      lastAccessed: expect.stringMatching(/^2026-01-0[56]$/),
    })
    const gone = rowsOf((await run(school, 'users export --email zoe.miller-4@school.example')).stdout)[0]?.[
      'id'
    ]
    const { id } = (await admin.get('/v1/users/ext:MATR-4715')).body
    await school.run('progress set ext:MATR-4712 --course ext:sea --completion 80')
    await school.run(`users delete ${id} --yes`)
    expect((await run(school, set)).code).toBe(0)
    expect(linesOf(school, 2, 'users')).toEqual([
      expect.objectContaining({ id: gone, changeState: 'removed', role: null }),
    ])
    expect(linesOf(school, 2, 'progress').some((row) => row['completionPercentage'] === 80)).toBe(true)
    const texts = filesIn(school, 'set').map((file) => readFileSync(file, 'utf8'))
    expect(texts.filter((found) => found.includes(id) || found.includes('miller'))).toEqual([])
  })

  testOfItsOwn('counts groups of fewer than k in each table', { tags: ['slow'] }, async ({ school }) => {
    const notesOf = async (more: string) =>
      (await run(school, `analytics dataset set -o jsonl --coarsen-times month ${more}`)).stderr
        .split('\n')
        .filter((line) => line.includes('fewer'))
    // 28 people are in one course, and two in the other; there are two administrators.
    expect(await notesOf('')).toEqual([
      'note: users: 1 group of fewer than 5 people with the same role, status, createdAt, updatedAt (the smallest has 2): they may be recognised by these',
      'note: enrollments: 1 group of fewer than 5 people with the same courseId, role, status, enrolledAt, completedAt, source, createdAt, updatedAt (the smallest has 2): they may be recognised by these',
      'note: progress: 1 group of fewer than 5 people with the same courseId, status, lastAccessed, recordedAt (the smallest has 2): they may be recognised by these',
    ])
    expect(await notesOf('--full --k 1')).toEqual([])
    expect(await notesOf('--full --k 29')).toHaveLength(4)
    expect(await notesOf('')).toEqual([])
    // Another run has two people: its rows tell who did something since the last one.
    await school.run('progress set ext:MATR-4711 --course ext:sea --completion 80')
    await school.run('progress set ext:MATR-4712 --course ext:sea --completion 80')
    expect(await notesOf('')).toEqual([expect.stringMatching(/^note: progress: 1 group .*smallest has 2/)])
  })

  test('says that exact times may identify people', { tags: ['slow'] }, async ({ school }) => {
    const { stderr } = await run(school, 'analytics dataset set')
    expect(stderr).toContain('note: Times are exact, and may identify people; --coarsen-times')
    expect(stderr).toMatch(/note: progress: 30 groups .*smallest has 1/)
  })

  test('never mixes keys, precisions, or rows with names', { tags: ['slow'] }, async ({ school }) => {
    await run(school, 'analytics dataset set -o csv --coarsen-times week')
    const before = filesIn(school, 'set').map((file) => readFileSync(file, 'utf8'))
    const again = 'analytics dataset set --pseudonymise --coarsen-times week --pseudonym-key'
    expectClearError(await school.run(`${again} other.key`), 2, 'set has pseudonyms of another key')
    expectClearError(await run(school, 'analytics dataset set'), 2, 'with --coarsen-times week')
    expectClearError(await school.run('analytics dataset set'), 2, 'set is pseudonymised')
    expect(filesIn(school, 'set').map((file) => readFileSync(file, 'utf8'))).toEqual(before)
    expect((await school.run(`${again} study.key`)).stderr).toContain('Nothing has changed since run 1')
    await school.run('analytics dataset named -o csv')
    expectClearError(await run(school, 'analytics dataset named'), 2, 'named is a data set with names')
    expect((await run(school, 'analytics dataset named --full')).code).toBe(0)
    const texts = filesIn(school, 'named').map((file) => readFileSync(file, 'utf8'))
    expect(texts.filter((found) => found.includes('miller'))).toEqual([])
  })
})

describe('a key', () => {
  test('is made for its owner alone, and never overwritten', async ({ school }) => {
    const file = join(school.cwd, 'study.key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/)
    expectClearError(
      await school.run('analytics pseudonym-key --file study.key'),
      2,
      'study.key already exists',
    )
  })

  test('that others can read, or that is missing, short or trivial, is refused', async ({ school }) => {
    const use = (text: string, mode = 0o600) => {
      const file = join(school.cwd, 'bad.key')
      writeFileSync(file, text)
      chmodSync(file, mode)
      return school.run('users export --pseudonymise --pseudonym-key bad.key')
    }
    expectClearError(
      await use(readFileSync(join(school.cwd, 'study.key'), 'utf8'), 0o640),
      2,
      'chmod 600 bad.key',
    )
    expectClearError(await use('secret\n'), 2, 'It has 6 bytes')
    expectClearError(await use('ab'.repeat(40)), 2, 'repeats')
    expectClearError(await use('x'.repeat(5000)), 2, 'larger')
    const missing = await school.run('users export --pseudonymise --pseudonym-key none.key')
    expectClearError(missing, 2, 'learnctl analytics pseudonym-key --file none.key')
  })
})
