import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { type TestCli, test } from '../../../helpers/cli.ts'

const academy = `learnctl: 1
users:
  - externalId: "1"
    email: ada@b.example
    profile: {firstName: Ada}
  - {email: Bob@b.example, role: teacher}
courses:
  - externalId: BIO-101
    title: Marine Biology
    status: published
    modules:
      - title: Reefs
        lessons:
          - title: Corals
            contentBlocks: [{type: markdown, body: "# Corals"}]
          - {externalId: fish, title: Fish}
    lessons:
      - title: Introduction
enrollments:
  - {courseId: BIO-101, userId: ADA@b.example}
  - {courseId: ext:BIO-101, userId: email:bob@b.example, role: instructor}
progress:
  - {courseId: BIO-101, learnerId: "1", completionPercentage: 20, lastAccessed: 2026-01-01}
  - {courseId: BIO-101, learnerId: "1", completionPercentage: 100, lastAccessed: 2026-01-05}
`

function file(cli: TestCli, name: string, text: string): string {
  mkdirSync(dirname(join(cli.cwd, name)), { recursive: true })
  writeFileSync(join(cli.cwd, name), text)
  return name
}

/** Runs a line that must succeed; returns its output. */
async function done(cli: TestCli, line: string): Promise<string> {
  const ran = await cli.run(line)
  expect(ran, ran.stderr).toMatchObject({ code: 0 })
  return ran.stdout
}

async function listed(cli: TestCli, line: string): Promise<Record<string, unknown>[]> {
  return JSON.parse(await done(cli, `${line} -o json`))
}

/** Returns the plan as JSON for files that differ from the academy. */
async function plan(cli: TestCli, line: string) {
  const ran = await cli.run(`diff ${line} -o json`)
  expect(ran, ran.stderr).toMatchObject({ code: 9 })
  return JSON.parse(ran.stdout) as {
    summary: Record<string, number>
    changes: { dataset: string; action: string; key: string; fields: unknown[] }[]
  }
}

describe('an academy file', () => {
  test('is applied whole, and a second time nothing changes', { tags: ['slow'] }, async ({ local }) => {
    file(local, 'academy.yaml', academy)
    const before = await local.run('diff')
    expect(before.code).toBe(9)
    expect(before.stdout).toContain('9 to create, 0 to change, 0 to delete; 0 as declared')
    const first = await local.run('apply --yes')
    expect(first, first.stderr).toMatchObject({ code: 0, stdout: '' })
    expect(first.stderr).toContain('Applied: 9 created, 0 changed, 0 deleted; 0 as declared')

    expect(await local.run('diff')).toEqual({
      code: 0,
      stdout: 'No changes; 9 as declared\n',
      stderr: '',
    })
    expect((await local.run('apply --yes')).stderr).toBe('No changes; 9 as declared\n')
    expect(await listed(local, 'lessons list --course ext:BIO-101')).toMatchObject([
      { title: 'Corals', order: 1 },
      { externalId: 'fish', order: 2 },
      { title: 'Introduction', order: 3, moduleId: null },
    ])
    const history = await listed(local, 'progress history ext:1 --course ext:BIO-101')
    expect(history.map(({ completionPercentage }) => completionPercentage)).toEqual([100, 20])
  })

  test('is shown field by field where it differs, and only that is changed', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(local, 'academy.yaml', academy)
    await done(local, 'apply --yes')
    await done(local, 'users update ext:1 --username reefs --first-name Augusta')
    await done(local, 'courses update ext:BIO-101 --title "Biology"')
    const { stdout, code } = await local.run('diff')
    expect(code).toBe(9)
    expect(stdout).toBe(`users
  ~ ext:1  ada@b.example
      profile.firstName: "Augusta" → "Ada"
courses
  ~ ext:BIO-101  Marine Biology
      title: "Biology" → "Marine Biology"

0 to create, 2 to change, 0 to delete; 7 as declared
`)
    await done(local, 'apply --yes')
    const [ada] = await listed(local, 'users list --external-id 1')
    expect(ada).toMatchObject({ profile: { firstName: 'Ada', bio: null }, username: 'reefs' })
  })

  test('asks on a terminal before anything is changed, and needs --yes elsewhere', {
    tags: ['slow'],
  }, async ({ local }) => {
    file(local, 'academy.yaml', academy)
    const piped = await local.run('apply')
    expect(piped.code).toBe(2)
    expect(piped.stderr).toContain('Refusing to apply 9 changes without confirmation')
    const declined = await local.run('apply', { tty: 80, typed: ['n\n'] })
    expect(declined.code).toBe(1)
    expect(declined.stderr).toContain('+ ext:BIO-101')
    expect(await listed(local, 'courses list')).toEqual([])
    const dry = await local.run('apply --dry-run')
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.stdout).toContain('9 to create')
    expect(await local.run('apply', { tty: 80, typed: ['y\n'] })).toMatchObject({ code: 0 })
    expect(await listed(local, 'courses list')).toHaveLength(1)
  })

  test('may be several, a folder, standard input, and name tables beside it', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(local, 'school/a.yaml', 'learnctl: 1\nusers: {file: tables/users.csv}\n')
    file(local, 'school/tables/users.csv', 'externalId,email,firstName\n1,ada@b.example,Ada\n')
    file(
      local,
      'school/courses/bio.json',
      '{"learnctl": 1, "courses": [{"externalId": "B", "title": "Bio"}]}',
    )
    expect(await done(local, 'validate school -o json')).toContain('"users": 1')
    await done(local, 'apply school --yes')
    const more = 'learnctl: 1\nenrollments: [{courseId: B, userId: "1"}]\n'
    expect(await local.run('apply - --yes', { stdin: more })).toMatchObject({ code: 0 })
    expect(await listed(local, 'enrollments list')).toMatchObject([{ userEmail: 'ada@b.example' }])
  })
})

describe('what is wrong with files', () => {
  test('is told with file and line, all of it, before anything is sent', async ({ local }) => {
    file(
      local,
      'academy.yaml',
      `learnctl: 1
users:
  - email: ada
  - email: b@b.example
    rol: admin
  - {externalId: x, email: B@b.example}
courses:
  - externalId: C
    title: C
    modules: [{titel: M}]
lesons: []
`,
    )
    const ran = await local.run('validate')
    expect(ran.code).toBe(2)
    expect(ran.stderr.split('\n')).toEqual([
      'error: 5 problems found in academy.yaml',
      '  academy.yaml:3: users[0].email must be an e-mail address, such as ada@example.org, not "ada"',
      '  academy.yaml:5: users[1].rol is not a known field; did you mean role?',
      '  academy.yaml:10: courses[0].modules[0].title is required',
      '  academy.yaml:10: courses[0].modules[0].titel is not a known field; did you mean title?',
      '  academy.yaml:11: lesons is not a known field',
      '',
    ])
  })

  test('may be that a record is declared twice, also by other names', async ({ local }) => {
    file(local, 'a.yaml', 'learnctl: 1\nusers: [{externalId: "1", email: a@b.example}]\n')
    file(local, 'b.yaml', `learnctl: 1\nusers:\n  - {externalId: "2", email: A@B.example}\n`)
    const ran = await local.run('validate a.yaml b.yaml')
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('b.yaml:3: user email:a@b.example is declared twice; first in a.yaml:2')
    const twice =
      'learnctl: 1\nusers: [{externalId: "1", email: a@b.example}]\nenrollments:\n  - {courseId: C, userId: "1"}\n  - {courseId: C, userId: a@b.example}\n'
    expect((await local.run('validate -', { stdin: twice })).stderr).toContain('is declared twice')
  })

  test('may be a reference to what is nowhere', async ({ local }) => {
    const text = 'learnctl: 1\nenrollments:\n  - {courseId: NONE, userId: ext:9}\n'
    const ran = await local.run('apply - --yes', { stdin: text })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(
      'Standard input:3: courseId: course NONE is neither declared nor in the academy',
    )
    expect(ran.stderr).toContain(
      'Standard input:3: userId: user ext:9 is neither declared nor in the academy',
    )
  })

  test.for([
    ['no version', 'users: []', 'learnctl is required: add the line "learnctl: 1"'],
    ['a course', 'title: Sea', 'This is the file of one course: use "courses diff -f" or "courses apply -f"'],
    [
      'two documents',
      'learnctl: 1\n---\nlearnctl: 1',
      ':2:1: a second document begins here; put each into a file',
    ],
    ['another version', 'learnctl: 2', 'learnctl must be 1'],
    ['a table outside its folder', 'learnctl: 1\nusers: {file: ../users.csv}', 'must be in the folder'],
    ['a list that is none', 'learnctl: 1\nusers: 5', 'users must be a list'],
    ['a deleted user', 'learnctl: 1\nusers: [{email: a@b.example, status: deleted}]', 'leave it out'],
  ] as const)('may be %s', async ([, text, told], { local }) => {
    const ran = await local.run(`validate ${file(local, 'academy.yaml', text)}`)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(told)
  })
})

describe('variables', () => {
  const text = `learnctl: 1\nusers: [{email: a@b.example, profile: {bio: "By \${TEAM}"}}]\n`

  test('are used only where --env allows them', async ({ local }) => {
    file(local, 'academy.yaml', text)
    const refused = await local.run('validate', { env: { TEAM: 'secret-value' } })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(
      'academy.yaml:2: users[0].profile.bio uses the variable TEAM, which is not allowed; allow it with --env TEAM',
    )
    expect(refused.stderr).not.toContain('secret-value')
    expect((await local.run('validate --env TEAM')).stderr).toContain('which is not set')
    file(local, 'secret.yaml', text.replace(/profile: .*?\}"\}/, `password: "\${TEAM}"`))
    // The text of a variable without a value is not checked: it is too short for a password.
    expect((await local.run('validate secret.yaml --env TEAM')).stderr).toMatch(
      /^error: 1 problem found in secret\.yaml\n.*users\[0\]\.password uses the variable TEAM, which is not set\n$/,
    )
    await local.run('apply --yes --env TEAM', { env: { TEAM: 'us' } })
    expect(await listed(local, 'users list --email a@b.example')).toMatchObject([
      { profile: { bio: 'By us' } },
    ])
  })

  test('are texts where they have one dollar sign more, and a dump writes them so', async ({ local }) => {
    const bio = `\${A} $\${B} $ {C}`
    await local.run(['users', 'create', '--email', 'a@b.example', '--first-name', bio])
    const dumped = await done(local, 'dump')
    expect(dumped).toContain(`$\${A} $$\${B} $ {C}`)
    expect((await local.run('diff -', { stdin: dumped })).code).toBe(0)
  })
})

describe('a plan file', () => {
  test('that is applied again says so and changes nothing, deletions among it', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(local, 'academy.yaml', academy)
    await done(local, 'apply --label school --plan-out plan.json')
    await done(local, 'apply --plan plan.json --yes')
    const again = await local.run('apply --plan plan.json --yes')
    expect(again).toMatchObject({ code: 0, stdout: '' })
    expect(again.stderr).toMatch(
      /^note: The plan plan\.json has been applied already\nNo changes; \d+ as declared\n$/,
    )
    const courses = (ids: string) => `learnctl: 1\ncourses: [${ids}]\n`
    const [one, other] = ['{externalId: ONE, title: One}', '{externalId: OTHER, title: Other}']
    file(local, 'academy.yaml', courses(`${one}, ${other}`))
    await done(local, 'apply --label two --yes')
    file(local, 'academy.yaml', courses(one))
    await done(local, 'apply --label two --prune --plan-out prune.json')
    await done(local, 'apply --plan prune.json --yes')
    const pruned = await local.run('apply --plan prune.json --yes')
    expect(pruned, pruned.stderr).toMatchObject({ code: 0 })
    expect(pruned.stderr).toContain('note: The plan prune.json has been applied already')
  })

  test('holds no password, but the variable that has it', { tags: ['slow'] }, async ({ local }) => {
    const user = (password: string) => `learnctl: 1\nusers: [{email: a@b.example, password: "${password}"}]\n`
    file(local, 'academy.yaml', user('correct horse battery'))
    const refused = await local.run('apply --plan-out plan.json')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('A plan file cannot hold a password')
    file(local, 'academy.yaml', user(`\${PASSWORD}`))
    const options = { env: { PASSWORD: 'correct horse battery' } }
    expect((await local.run('diff --env PASSWORD -o json', options)).stdout).not.toContain('correct horse')
    await local.run('apply --env PASSWORD --plan-out plan.json', options)
    expect(readFileSync(join(local.cwd, 'plan.json'), 'utf8')).not.toContain('correct horse')
    expect((await local.run('apply --plan plan.json --yes')).code).toBe(2)
    expect(await local.run('apply --plan plan.json --yes --env PASSWORD', options)).toMatchObject({ code: 0 })
    expect((await local.run('diff --env PASSWORD', options)).code).toBe(0)
  })
})

describe('pruning', () => {
  test('deletes what has the label and is no longer declared, and nothing else', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(local, 'academy.yaml', academy)
    await done(local, 'users create --email mine@b.example --managed-by other')
    await done(local, 'apply --label ci --yes')
    expect(await listed(local, 'users list --managed-by ci')).toHaveLength(2)
    expect((await local.run('diff --label ci --prune')).code).toBe(0)
    const fewer = academy
      .replace(/ {2}- \{email: Bob[^\n]*\n/, '')
      .replace(/ {2}- \{courseId: ext:BIO-101, userId: email[^\n]*\n/, '')
    file(local, 'academy.yaml', fewer)
    const { changes } = await plan(local, '--label ci --prune')
    expect(changes.map(({ action, dataset }) => `${action} ${dataset}`)).toEqual([
      'delete enrollments',
      'delete users',
    ])
    const refused = await local.run('apply --label ci --prune --max-deletes 1 --yes')
    expect(refused.code).toBe(6)
    expect(await listed(local, 'users list')).toHaveLength(4)
    await done(local, 'apply --label ci --prune --max-deletes 2 --yes')
    expect((await listed(local, 'users list')).map(({ email }) => email).sort()).toEqual([
      'ada@b.example',
      'admin@academy.local',
      'mine@b.example',
    ])
    expect((await local.run('diff --label ci --prune')).code).toBe(0)
  })

  test('keeps the parts that no file has, and requires a label', { tags: ['slow'] }, async ({ local }) => {
    file(local, 'academy.yaml', academy)
    await done(local, 'apply --label ci --yes')
    file(local, 'academy.yaml', 'learnctl: 1\n')
    expect((await local.run('diff --label ci --prune')).code).toBe(0)
    const ran = await local.run('apply --prune --yes')
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('--prune requires --label')
  })
})

describe('renames', () => {
  const users = (...rows: readonly string[]) =>
    `learnctl: 1\nusers:\n${rows.map((row) => `  - {${row}}\n`).join('')}`

  test('of an external id are no new users, and addresses move on in a chain', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(
      local,
      'academy.yaml',
      users('externalId: a, email: 1@b.example', 'externalId: b, email: 2@b.example'),
    )
    await done(local, 'apply --yes')
    file(
      local,
      'academy.yaml',
      users(
        'externalId: a, email: 2@b.example',
        'externalId: b, email: 3@b.example',
        'externalId: c, email: 1@b.example',
      ),
    )
    await done(local, 'apply --yes')
    expect((await local.run('diff')).code).toBe(0)
    file(local, 'academy.yaml', users('externalId: x, email: 2@b.example'))
    expect((await plan(local, '')).changes).toMatchObject([
      { action: 'update', key: 'ext:x', fields: [{ from: 'a', to: 'x' }] },
    ])
    await done(local, 'apply --yes')
    expect((await listed(local, 'users list')).map(({ externalId }) => externalId).sort()).toEqual(
      ['b', 'c', null, 'x'].sort(),
    )
  })

  test('that exchange addresses are refused before anything is sent', async ({ local }) => {
    file(
      local,
      'academy.yaml',
      users('externalId: a, email: 1@b.example', 'externalId: b, email: 2@b.example'),
    )
    await done(local, 'apply --yes')
    file(
      local,
      'academy.yaml',
      users('externalId: a, email: 2@b.example', 'externalId: b, email: 1@b.example'),
    )
    const ran = await local.run('apply --yes')
    expect(ran.code).toBe(6)
    expect(ran.stderr).toContain('Cannot exchange the email of users in one step')
    expect(ran.stderr).toContain('academy.yaml:3: ext:a: email 1@b.example → 2@b.example')
  })

  test('to an address of an undeclared user are refused', { tags: ['slow'] }, async ({ local }) => {
    await done(local, 'users create --email 2@b.example --external-id z')
    file(local, 'academy.yaml', users('externalId: a, email: 1@b.example'))
    await done(local, 'apply --yes')
    file(local, 'academy.yaml', users('externalId: a, email: 2@b.example'))
    const ran = await local.run('apply --yes')
    expect(ran.code).toBe(6)
    expect(ran.stderr).toContain('user z (active) has it, and is not declared')
  })
})

test('grades are applied and compared field by field, newer ones are kept, and a dump has them', {
  tags: ['slow'],
}, async ({ local }) => {
  const graded = (...grades: string[]) =>
    `${academy}grades:\n${grades.map((each) => `  - {courseId: BIO-101, learnerId: "1", ${each}}\n`).join('')}`
  file(
    local,
    'academy.yaml',
    graded(
      'scoreGiven: 80, weight: 40, gradedAt: 2026-01-10',
      'itemId: essay, label: Essay, scoreGiven: 9, scoreMaximum: 10, gradedAt: 2026-01-11',
      'itemId: quiz, source: canvas, scoreGiven: null, published: false',
    ),
  )
  const shown = await local.run('diff')
  expect(shown.stdout).toContain('grades\n  + ext:BIO-101, ext:1, $course, manual  80 of 100\n')
  await done(local, 'apply --yes')
  expect((await local.run('apply --yes')).stderr).toContain('No changes; ')
  const dumped = await done(local, 'dump')
  expect(dumped).toContain('grades:\n')
  expect(dumped).toContain('itemId: essay')
  file(local, 'again.yaml', dumped)
  expect((await local.run('diff again.yaml')).code).toBe(0)
  const twice = graded('itemId: x, scoreGiven: 7', 'itemId: x, source: canvas, scoreGiven: 0')
  file(local, 'twice.yaml', twice)
  await done(local, 'apply twice.yaml --yes')
  expect((await local.run('diff twice.yaml')).code).toBe(0)
  const sourceless = graded('itemId: quiz, scoreGiven: null')
  file(local, 'academy.yaml', sourceless)
  expect((await local.run('diff')).code).toBe(0)

  // Undeclared fields stay unchanged.
  file(
    local,
    'academy.yaml',
    graded('scoreGiven: 85, gradedAt: 2026-01-12', 'itemId: essay, label: First essay, scoreGiven: 9'),
  )
  expect((await plan(local, '')).changes).toMatchObject([
    {
      key: 'ext:BIO-101, ext:1, $course, manual',
      fields: [{ field: 'scoreGiven', from: 80, to: 85 }, { field: 'gradedAt' }],
    },
    { key: 'ext:BIO-101, ext:1, essay, manual', fields: [{ field: 'label', to: 'First essay' }] },
  ])
  await done(local, 'apply --yes')
  const [whole] = await listed(local, "grades list --item '$course'")
  expect(whole).toMatchObject({ scoreGiven: 85, weight: 40, gradedAt: '2026-01-12T00:00:00.000Z' })
  const [essay] = await listed(local, 'grades list --item essay')
  expect(essay).toMatchObject({ label: 'First essay', scoreGiven: 9, scoreMaximum: 10 })

  file(local, 'academy.yaml', graded('scoreGiven: 10, gradedAt: 2026-01-02'))
  const kept = await local.run('diff')
  expect(kept.code).toBe(0)
  expect(kept.stderr).toBe('note: Kept 1 grade of the academy that is newer than the files\n')
})

describe('what closes a record', () => {
  test('is opened while something in it changes, and closed again', { tags: ['slow'] }, async ({ local }) => {
    const closed = (title: string, completion: number) => `learnctl: 1
users: [{externalId: "1", email: a@b.example, status: suspended}]
courses: [{externalId: C, title: C, status: archived, lessons: [{externalId: L, title: ${title}}]}]
enrollments: [{courseId: C, userId: "1", status: inactive}]
progress: [{courseId: C, learnerId: "1", completionPercentage: ${completion}, lastAccessed: 2026-01-0${completion}}]
`
    file(local, 'academy.yaml', closed('One', 1))
    await done(local, 'apply --yes')
    file(local, 'academy.yaml', closed('Other', 2))
    await done(local, 'apply --yes')
    expect((await local.run('diff')).code).toBe(0)
    expect(await listed(local, 'enrollments list --status inactive')).toHaveLength(1)
    expect(await listed(local, 'users list --status suspended')).toHaveLength(1)
    expect(await listed(local, 'courses list --status archived')).toHaveLength(1)
  })

  test('does not count as a change where a learner has completed the course', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(
      local,
      'academy.yaml',
      academy.replace('userId: ADA@b.example}', 'userId: ADA@b.example, status: active}'),
    )
    await done(local, 'apply --yes')
    expect((await local.run('diff')).code).toBe(0)
    await done(local, 'progress set ext:1 --course ext:BIO-101 --completion 100')
    const { code, stderr } = await local.run('diff')
    expect(code).toBe(0)
    expect(stderr).toContain('Kept 1 progress record of the academy that is newer than the files')
  })
})

describe('what is refused', () => {
  test('is told with its place and nothing is changed, unless it is left out', { tags: ['slow'] }, async ({
    local,
  }) => {
    file(
      local,
      'academy.yaml',
      `${academy}  - {courseId: BIO-101, learnerId: bob@b.example, completionPercentage: 5, lastAccessed: 2099-01-01}\n`,
    )
    const failed = [{ dataset: 'progress', place: 'academy.yaml:25' }]
    const before = await done(local, 'dump')
    expect(await local.run('apply --dry-run')).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('1 change refused; nothing was changed'),
    })
    const refused = await local.run('apply --yes -o json')
    expect(refused).toMatchObject({ code: 8 })
    expect(JSON.parse(refused.stdout)).toMatchObject({ summary: { create: 0 }, failed })
    expect(await done(local, 'dump')).toBe(before)
    const ran = await local.run('apply --yes --skip-invalid -o json')
    expect(ran).toMatchObject({ code: 8, stderr: expect.stringContaining('the others are done') })
    expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { create: 9 }, failed })
    file(local, 'academy.yaml', academy)
    expect((await local.run('diff')).code).toBe(0)
  })
})

describe('a dump', () => {
  test('applied to an empty academy gives the same dump, from a file, JSON and a folder', {
    tags: ['slow'],
  }, async ({ local }) => {
    file(local, 'academy.yaml', academy.replace('status: published', 'status: archived'))
    await done(local, 'apply --yes')
    const dumped = await done(local, 'dump')
    const { stderr: wrote } = await local.run('dump --file d.json')
    const { stderr: valid } = await local.run('validate d.json')
    expect(wrote.replace('Wrote d.json', 'd.json is valid')).toBe(valid)
    await done(local, 'dump --dir d')
    file(local, 'd.yaml', dumped)
    for (const source of ['d.yaml', 'd.json', 'd']) {
      const other = `--database ${source.replace('.', '-')}.db`
      await done(local, `apply ${source} --yes ${other}`)
      expect(await done(local, `dump ${other}`)).toBe(dumped)
      expect((await local.run(`diff ${source} ${other}`)).code).toBe(0)
      expect(await listed(local, `progress history ext:1 --course ext:BIO-101 ${other}`)).toHaveLength(2)
    }
    const again = await local.run('dump --file d.json')
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('d.json already exists')
  })
})

test('validate --schema prints a JSON Schema that knows every part', async ({ local }) => {
  const schema = JSON.parse(await done(local, 'validate --schema'))
  expect(Object.keys(schema.properties)).toEqual([
    'learnctl',
    'terms',
    'users',
    'courses',
    'groups',
    'enrollments',
    'progress',
    'grades',
  ])
  expect(schema.required).toEqual(['learnctl'])
})
