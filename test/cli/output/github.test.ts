import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { ZipFile } from 'yazl'
import { withoutPeople } from '../../../src/cli/dataset/dataset.ts'
import { loadDataset } from '../../../src/cli/dataset/load-dataset.ts'
import { privacyByField } from '../../../src/tables/privacy.ts'
import { test as base, type RunOptions, type TestCli } from '../../helpers/cli.ts'

/** The program in a step of a workflow: `run` also returns its annotations, and the summary of the step. */
const test = base.extend('step', async ({ local }) => (line: string, options: RunOptions = {}) => {
  return runStep(local, line, options)
})

async function runStep(cli: TestCli, line: string, { env = {}, ...options }: RunOptions) {
  const summary = join(cli.home, 'summary')
  writeFileSync(summary, '')
  const ran = await cli.run(line, {
    ...options,
    env: { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: cli.cwd, GITHUB_STEP_SUMMARY: summary, ...env },
  })
  const annotations = ran.stderr.split('\n').filter((text) => text.startsWith('::'))
  return { ...ran, annotations, summary: readFileSync(summary, 'utf8') }
}

const put = (cli: TestCli, name: string, ...lines: string[]) =>
  writeFileSync(join(cli.cwd, name), `${lines.join('\n')}\n`)

/** Title that tries to be a workflow command, Markdown and HTML. */
const hostile =
  '::set-output name=a::b %0A::add-mask::e | <script>alert(1)</script> ##[add-mask]e [x](https://x.example)'

describe('an import', () => {
  test('annotates invalid rows with line and column, without values', async ({ local, step }) => {
    put(local, 'users.csv', 'email,role', 'ada@example.org,learner', 'grace at example.org,Grace Hopper')
    const { code, annotations, stdout, stderr, summary } = await step('users import users.csv')
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain('grace at example.org')
    expect(annotations).toEqual([
      '::error file=users.csv,line=3,title=learnctl::email: must be an e-mail address, such as ada@example.org',
      '::error file=users.csv,line=3,title=learnctl::role: must be one of admin, instructor, learner, analyst, student, teacher, observer',
    ])
    expect(summary).toMatch(
      /^### 2 problems found in users\\.csv; nothing was imported\n\n- users\\.csv\\:3: email\\: must/,
    )
    expect(summary).not.toMatch(/grace/i)
  })

  test('annotates rows that were rejected, and counts what became of all', async ({ local, step }) => {
    put(local, 'enrollments.csv', 'userId,courseId', 'email:eve@example.org,ext:NONE', 'nobody')
    const { code, annotations, summary } = await step('enrollments import enrollments.csv --skip-invalid')
    expect(code).toBe(8)
    expect(annotations).toEqual([
      expect.stringMatching(/^::error file=enrollments.csv,line=2,title=learnctl::(\w+: )?rejected \(\w+\)$/),
      '::error file=enrollments.csv,line=3,title=learnctl::row: has 1 cells, but the header has 2',
    ])
    expect(annotations.join()).not.toContain('eve')
    expect(summary).toContain('| created | updated | unchanged | skipped | failed |\n')
    expect(summary).toContain('| 0 | 0 | 0 | 0 | 2 |\n')
    expect(summary).not.toContain('eve')
  })

  test('shows the values of courses, whose titles stay data', async ({ local, step }) => {
    put(local, 'courses.csv', 'externalId,title,status', `A,"${hostile}\n::warning::x",${hostile}`)
    const { annotations, summary, stderr } = await step('courses import courses.csv')
    expect(annotations).toHaveLength(1)
    expect(annotations[0]).toMatch(
      /^::error file=courses\.csv,line=2,title=learnctl::status: must be one of .*, not "::set-output name=a::b %250A::add-mask::e \| <script>/,
    )
    const others = stderr.split('\n').filter((line) => !line.startsWith('::error file=courses.csv,'))
    expect(others.join('\n')).toContain('## [add-mask]')
    expect(others.join('\n')).not.toMatch(/^\s*::|##\[/m)
    expect(summary).toContain('\\:\\:set\\-output name=a\\:\\:b %0A')
    expect(summary).not.toMatch(/[^\\][<>|]/)
    expect(summary.split('\n- ')).toHaveLength(2)
  })

  test('annotates nine problems, and says how many there are besides', async ({ local, step }) => {
    put(local, 'courses.csv', 'externalId', ...Array.from({ length: 70 }, (_, row) => `c${row}`))
    expect((await step('courses import courses.csv --on-exists fail')).annotations).toEqual([])
    put(local, 'users.csv', 'email', ...Array.from({ length: 70 }, (_, row) => `person${row}`))
    const { annotations, summary } = await step('users import users.csv')
    expect(annotations).toHaveLength(10)
    expect(annotations.at(-1)).toBe('::error title=learnctl::and 61 more, in the log')
    expect(summary.match(/^- /gm)).toHaveLength(51)
    expect(summary).toContain('- and 20 more\n')
    expect(summary).not.toContain('person')
  })

  test('names no line of a JSON array, and no file for standard input', async ({ local, step }) => {
    put(local, 'users.json', '[', '{"email": "ada@example.org"},', '{"email": "ada@example.org"}]')
    const { annotations } = await step('users import users.json --skip-invalid')
    expect(annotations).toEqual([
      '::error file=users.json,title=learnctl::item 2: row: is the same user as line 1',
    ])
    put(local, 'users.jsonl', '{"email": "ada@example.org", "eve@example.org": 1}')
    expect((await step('users import users.jsonl')).annotations).toEqual([
      '::error file=users.jsonl,line=1,title=learnctl::row: has a field that is not known',
    ])
    const piped = await step('users import -', { stdin: 'email\nnobody\n' })
    expect(piped.annotations).toEqual([
      '::error title=learnctl::standard input:2: email: must be an e-mail address, such as ada@example.org',
    ])
  })
})

describe('academy files', () => {
  const academy = [
    'learnctl: 1',
    'users:',
    '  - email: ada@example.org',
    '    externalId: ada',
    'courses:',
    '  - externalId: GEO-1',
    '    title: Tides',
  ]

  test('that are invalid are annotated at their lines, without values', async ({ local, step }) => {
    put(
      local,
      'academy.yaml',
      ...['learnctl: 1', 'users:', '  - email: not an address', '    eve@example.org: secret'],
      ...['  - email: ada@example.org', '  - email: ada@example.org'],
      ...['courses:', '  - externalId: GEO-1', '    title: 7'],
    )
    const first = await step('validate academy.yaml')
    expect(first.code).toBe(2)
    expect(first.annotations).toEqual([
      '::error file=academy.yaml,line=3,title=learnctl::users: email must be an e-mail address, such as ada@example.org',
      '::error file=academy.yaml,line=4,title=learnctl::users: has a field that is not known',
      '::error file=academy.yaml,line=9,title=learnctl::courses[0].title must be a string, not 7',
    ])
    expect(first.summary).not.toMatch(/eve|not an address/)
    put(
      local,
      'academy.yaml',
      'learnctl: 1',
      'users:',
      '  - email: ada@example.org',
      '  - email: ada@example.org',
    )
    const second = await step('validate academy.yaml')
    expect(second.annotations).toEqual([
      '::error file=academy.yaml,line=4,title=learnctl::user is declared twice; first in academy.yaml:3',
    ])
  })

  test('that differ are annotated with the changes, and the data stays as it is', async ({ local, step }) => {
    put(local, 'academy.yaml', ...academy)
    const plain = await local.run('diff academy.yaml -o json')
    const { code, annotations, summary, stdout } = await step('diff academy.yaml -o json')
    expect(code).toBe(9)
    expect(stdout).toBe(plain.stdout)
    expect(annotations).toEqual([
      '::notice file=academy.yaml,line=3,title=learnctl::Creates user',
      '::notice file=academy.yaml,line=6,title=learnctl::Creates course ext:GEO-1',
    ])
    expect(summary).toBe(
      [
        '### learnctl diff',
        '',
        '| create | update | delete | unchanged |',
        '| ---: | ---: | ---: | ---: |',
        '| 2 | 0 | 0 | 0 |',
        '',
        '- academy\\.yaml\\:3: Creates user',
        '- academy\\.yaml\\:6: Creates course ext\\:GEO\\-1',
        '',
        '',
      ].join('\n'),
    )
    expect(await local.run('apply academy.yaml --yes')).toMatchObject({ code: 0 })
    put(local, 'academy.yaml', ...academy.with(6, '    title: Tides and waves'))
    expect((await step('diff academy.yaml')).annotations).toEqual([
      '::notice file=academy.yaml,line=6,title=learnctl::Changes course ext:GEO-1: title',
    ])
  })
})

test('an apply has a summary, and annotates rejections', { tags: ['slow'] }, async ({ local, step }) => {
  const user = ['  - email: grace@example.org', '    externalId: grace']
  put(local, 'academy.yaml', 'learnctl: 1', 'users:', ...user)
  const dry = await step('apply academy.yaml --dry-run')
  expect(dry.annotations).toEqual(['::notice file=academy.yaml,line=3,title=learnctl::Creates user'])
  expect(dry.summary).toMatch(/^### learnctl apply \\-\\-dry\\-run\n/)
  const applied = await step('apply academy.yaml --yes')
  expect(applied).toMatchObject({ code: 0, annotations: [] })
  expect(applied.summary).toContain('| create | update | delete | unchanged | rejected |\n')
  expect(applied.summary).toContain('\n| 1 | 0 | 0 | 0 | 0 |\n')
  const course = ['courses:', '  - externalId: GEO-1', '    title: Tides']
  const steps = [
    'progress:',
    '  - {courseId: GEO-1, learnerId: grace, completionPercentage: 5, lastAccessed: 2099-01-01}',
  ]
  put(local, 'academy.yaml', 'learnctl: 1', 'users:', ...user, ...course, ...steps)
  expect((await step('apply academy.yaml --yes')).summary).toContain('| 0 | 0 | 0 | 1 | 1 |\n')
  const { code, annotations, summary } = await step('apply academy.yaml --yes --skip-invalid')
  expect(code).toBe(8)
  expect(annotations).toEqual([
    expect.stringMatching(
      /^::error file=academy\.yaml,line=9,title=learnctl::progress record: rejected \(\w+\)$/,
    ),
  ])
  expect(summary).toContain('| 1 | 0 | 0 | 1 | 1 |\n')
  expect(summary).not.toContain('grace')
})

test('course files are annotated where invalid, and with what they change', async ({ local, step }) => {
  put(
    local,
    'course.yaml',
    'externalId: GEO-1',
    'title: Tides',
    'lessons:',
    '  - {title: Moon, externalId: 5}',
  )
  expect(await step('courses validate -f course.yaml')).toMatchObject({
    code: 2,
    annotations: [
      '::error file=course.yaml,line=4,title=learnctl::lessons[0].externalId must be a string, not 5',
    ],
  })
  put(
    local,
    'course.yaml',
    'externalId: GEO-1',
    'title: Tides',
    'lessons:',
    '  - {title: Moon, externalId: moon}',
  )
  expect(await step('courses diff -f course.yaml')).toMatchObject({
    code: 9,
    annotations: [
      '::notice file=course.yaml,title=learnctl::Creates course ext:GEO-1',
      '::notice file=course.yaml,title=learnctl::Creates lesson ext:moon',
    ],
    summary: expect.stringContaining('| 2 | 0 | 0 | 0 |'),
  })
})

describe('rosters', () => {
  const users = ['username,password,firstname,lastname,email', 'grace,x,Grace,Hopper,grace at example.org']

  test('are annotated in a folder, a file and a zip file', { tags: ['slow'] }, async ({ local, step }) => {
    mkdirSync(join(local.cwd, 'school'))
    put(local, 'school/users.csv', ...users)
    put(local, 'users.csv', ...users)
    const zip = new ZipFile()
    zip.addBuffer(Buffer.from(users.join('\n')), 'users.csv')
    zip.end()
    writeFileSync(join(local.cwd, 'school.zip'), await buffer(zip.outputStream))
    for (const [source, place] of [
      ['school', 'file=school/users.csv,line=2'],
      ['users.csv', 'file=users.csv,line=2'],
      ['school.zip', 'file=school.zip'],
    ] as const) {
      const { code, annotations, summary } = await step(`roster validate ${source} --format moodle`)
      expect(code).toBe(2)
      expect(annotations).toHaveLength(1)
      expect(annotations[0]).toContain(`::error ${place},title=learnctl::`)
      expect(annotations[0]).toMatch(/email must be an e-mail address, such as ada@example\.org$/)
      expect(summary).not.toMatch(/grace|hopper/i)
    }
  })
})

describe('annotations and summaries', () => {
  test('are not written elsewhere, nor where LEARNCTL_ANNOTATIONS is never', async ({ local, step }) => {
    put(local, 'users.csv', 'email', 'nobody')
    for (const env of [{ GITHUB_ACTIONS: '' }, { LEARNCTL_ANNOTATIONS: 'never' }]) {
      expect(await step('users import users.csv', { env })).toMatchObject({
        code: 2,
        annotations: [],
        summary: '',
      })
    }
  })

  test('name files from the root of the repository or in the message', async ({ local, step }) => {
    put(local, 'users.csv', 'email', 'nobody')
    const above = await step('users import users.csv', { env: { GITHUB_WORKSPACE: local.home } })
    expect(above.annotations[0]).toContain('::error file=work/users.csv,line=2,')
    const beside = await step('users import users.csv', {
      env: { GITHUB_WORKSPACE: join(local.home, 'other') },
    })
    expect(beside.annotations).toEqual([
      '::error title=learnctl::users.csv:2: email: must be an e-mail address, such as ada@example.org',
    ])
  })

  test('do not fail a run without its summary, or if full', { tags: ['slow'] }, async ({ local, step }) => {
    put(local, 'courses.csv', 'externalId,title', 'A,Tides')
    const env = { GITHUB_STEP_SUMMARY: join(local.cwd, 'missing/summary') }
    const { code, stderr } = await step('courses import courses.csv', { env })
    expect(code).toBe(0)
    expect(stderr).toContain('note: Cannot write the summary of the step: ENOENT')
    const full = join(local.cwd, 'full')
    writeFileSync(full, ' '.repeat(900_000))
    await step('courses import courses.csv', { env: { GITHUB_STEP_SUMMARY: full } })
    expect(readFileSync(full)).toHaveLength(900_000)
  })

  test.for(withoutPeople)('show values of %s, none of whose columns identifies a person', async (name) => {
    const { columns } = await loadDataset(name as 'courses')
    const personal = columns.filter(({ path }) => {
      const leaf = path.slice(path.lastIndexOf('.') + 1)
      const privacy = privacyByField[`${name}.${leaf}`] ?? privacyByField[leaf]
      return privacy !== undefined && privacy !== 'none'
    })
    expect(personal).toEqual([])
  })
})
