import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeEach, describe, expect, onTestFinished } from 'vitest'
import type { Person } from '../../helpers/academy.ts'
import { type TestCli, testCli, test as withCli } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { testWithShared } from '../../helpers/shared-academy.ts'

const hostile = '=HYPERLINK("https://evil.example")'
const path = '/v1/analytics/learners'

/** The program as the admin of an academy with 130 learners in one course; the name of one is a formula. */
const test = testWithShared(fill)
/** The same for a test that writes. */
const testOfItsOwn = withCli.extend('school', async ({ remote, admin }) => {
  await fill(admin)
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

async function fill(admin: Person): Promise<void> {
  const course = { title: 'Sea, deep', externalId: 'sea', status: 'published', difficulty: 'expert' }
  await admin.post('/v1/courses', course)
  const numbers = Array.from({ length: 130 }, (_, index) => index)
  const users = numbers.map((n) => ({
    email: `learner-${String(n).padStart(3, '0')}@school.example`,
    externalId: `S-${n}`,
    profile: { firstName: n === 7 ? hostile : 'Zoë', lastName: n === 8 ? 'line\nfeed "quoted"' : `L ${n}` },
  }))
  await admin.post('/v1/users/batch', { items: users })
  const enrollments = numbers.map((n) => ({ courseId: 'ext:sea', userId: `ext:S-${n}` }))
  await admin.post('/v1/enrollments/batch', { items: enrollments })
  // The first learner started on 1 February, the second on 2 February, and so on until 28 February.
  const started = numbers.slice(0, 28).map((n) => ({
    learnerId: `ext:S-${n}`,
    courseId: 'ext:sea',
    completionPercentage: n * 3,
    lastAccessed: `2026-02-${String(n + 1).padStart(2, '0')}T10:00:00Z`,
  }))
  await admin.post('/v1/progress/batch', { items: started })
}

const recordsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, bom: true, record_delimiter: '\r\n' })

describe('the formats', () => {
  test('CSV is what the server sends, to the byte', { tags: ['slow'] }, async ({ school, admin }) => {
    const { code, stdout, stderr } = await school.run('analytics export')
    expect(code).toBe(0)
    expect(stdout).toBe((await admin.get(`${path}?format=csv`)).text)
    expect(recordsOf(stdout)).toHaveLength(130)
    expect(stderr).toBe(
      'Exported 130 rows\nnote: Possible formulas escaped in 1 cell; use --raw to turn this off\n',
    )
  })

  test('--raw and --bom reach the server, too', { tags: ['slow'] }, async ({ school, admin }) => {
    const raw = await school.run('analytics export --raw')
    expect(raw.stdout).toBe((await admin.get(`${path}?format=csv&raw=true`)).text)
    expect(recordsOf(raw.stdout)[7]?.['firstName']).toBe(hostile)
    expect(raw.stderr).toBe('Exported 130 rows\n')
    const { stdout } = await school.run('analytics export --bom')
    // Response.text() removes the byte order mark.
    expect(stdout).toBe(`\ufeff${(await admin.get(`${path}?format=csv&bom=true`)).text}`)
  })

  test('JSON is one array of all rows, more than one page', { tags: ['slow'] }, async ({ school }) => {
    const { stdout } = await school.run('analytics export --format json')
    const rows = JSON.parse(stdout)
    expect(rows).toHaveLength(130)
    const lines = (await school.run('analytics export --format ndjson')).stdout.trimEnd().split('\n')
    expect(rows).toEqual(lines.map((line) => JSON.parse(line)))
  })

  test.for([
    ['csv', /^learnerId,.+\r\n$/],
    ['json', /^\[\]\n$/],
    ['ndjson', /^$/],
  ] as const)('of nothing is an empty document in %s', async ([format, document], { school }) => {
    const { code, stdout, stderr } = await school.run(`analytics export --last 1h --format ${format}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(document)
    expect(stderr).toMatch(/^Exported 0 rows\n/)
  })
})

describe('-o', () => {
  test('table is one on a terminal, and tab-separated in a pipe', async ({ school }) => {
    const flags = 'analytics export -o table --learner ext:S-3'
    expect((await school.run(flags)).stdout).toBe(
      'learner-003@school.example\tSea, deep\tin_progress\t9\t\t2026-02-04T10:00:00.000Z\n',
    )
    const shown = await school.run(flags, { tty: 80, env: { NO_COLOR: '1' } })
    expect(shown.stdout).toMatch(/^email +courseTitle +.*\nlearner-003/)
    expect(shown.stderr).toMatch(/^Exported 1 row\nnote: \d columns? hidden: /)
  })

  test('may be set by LEARNCTL_OUTPUT; the name of a file counts more', async ({ school }) => {
    const env = { LEARNCTL_OUTPUT: 'json' }
    expect((await school.run('analytics export', { env })).stdout).toMatch(/^\[\n\{"learnerId"/)
    await school.run('analytics export --file learners.csv', { env })
    expect(readFileSync(join(school.cwd, 'learners.csv'), 'utf8')).toMatch(/^learnerId,/)
    await school.run('analytics export --file learners', { env: { LEARNCTL_OUTPUT: 'table' } })
    expect(readFileSync(join(school.cwd, 'learners'), 'utf8')).toMatch(/^learnerId,/)
  })
})

describe('--columns', () => {
  test.for([['--last 20d'], ['--raw'], ['--bom --learner ext:S-8']])(
    'with %s are the same cells as of the whole CSV, in the order that was chosen',
    async ([flags], { school }) => {
      const whole = recordsOf((await school.run(`analytics export ${flags}`)).stdout)
      const { stdout, stderr } = await school.run(
        `analytics export ${flags} --columns lastName,completionPercentage,firstName,passed`,
      )
      expect(stdout.startsWith('\ufeff')).toBe(flags?.includes('--bom'))
      expect(stdout.replace('\ufeff', '')).toMatch(/^lastName,completionPercentage,firstName,passed\r\n/)
      expect(recordsOf(stdout)).toEqual(
        whole.map(({ lastName, completionPercentage, firstName, passed }) => ({
          lastName,
          completionPercentage,
          firstName,
          passed,
        })),
      )
      expect(stderr).toContain(`Exported ${whole.length} row`)
    },
  )

  test('count the cells with a guard, and choose the fields of JSON', async ({ school }) => {
    const { stderr } = await school.run('analytics export --columns firstName')
    expect(stderr).toBe(
      'Exported 130 rows\nnote: Possible formulas escaped in 1 cell; use --raw to turn this off\n',
    )
    const flags = 'analytics export --learner ext:S-3 --columns email,courseTitle'
    const line = '{"email":"learner-003@school.example","courseTitle":"Sea, deep"}'
    expect((await school.run(`${flags} -o jsonl`)).stdout).toBe(`${line}\n`)
    expect((await school.run(`${flags} -o json`)).stdout).toBe(`[\n${line}\n]\n`)
    expect(await school.run(`${flags} --last 1h -o json`)).toMatchObject({ stdout: '[]\n' })
    expect(await school.run(`${flags} --last 1h`)).toMatchObject({ stdout: 'email,courseTitle\r\n' })
  })

  test('of a project are not those of an export', async ({ school }) => {
    writeFileSync(join(school.cwd, 'learnctl.json'), '{"columns":["id","email"]}')
    expect((await school.run('analytics export')).stdout).toMatch(/^learnerId,email,firstName/)
  })
})

describe('which rows', () => {
  const emails = async (cli: TestCli, flags: string) =>
    recordsOf((await cli.run(`analytics export ${flags}`)).stdout).map(({ email = '' }) => email.slice(8, 11))

  test('of a period without any is said, with the number of all', async ({ school }) => {
    const { code, stderr } = await school.run(
      'analytics export --start-date 2025-01-01 --end-date 2025-12-31',
    )
    expect(code).toBe(0)
    expect(stderr).toBe(
      'Exported 0 rows\nnote: No row has its lastAccessed in this period; without a period there are 130\n',
    )
  })

  test('--last counts back from now', async ({ school }) => {
    // It is 1 March, noon.
    expect(await emails(school, '--last 2d')).toEqual(['027'])
    expect(await emails(school, '--last 26h')).toEqual(['027'])
    expect(await emails(school, '--last 1w')).toEqual(['022', '023', '024', '025', '026', '027'])
  })

  testOfItsOwn('--course and --learner may be repeated', { tags: ['slow'] }, async ({ school, admin }) => {
    await admin.post('/v1/courses', { title: 'Air', externalId: 'air, thin' })
    await admin.post('/v1/courses', { title: 'Fire', externalId: 'fire' })
    for (const courseId of ['ext:air, thin', 'ext:fire']) {
      await admin.post('/v1/enrollments', { courseId, userId: 'ext:S-3' })
    }
    const titles = async (flags: string) =>
      recordsOf((await school.run(`analytics export --learner ext:S-3 ${flags}`)).stdout).map(
        ({ courseTitle }) => courseTitle,
      )
    expect(await titles('--course ext:sea --course "ext:air, thin"')).toEqual(['Air', 'Sea, deep'])
    expect(await titles('--course ext:fire,ext:sea')).toEqual(['Fire', 'Sea, deep'])
    expect(await titles('--course "ext:air, thin"')).toEqual(['Air'])
    expect(await titles('')).toHaveLength(3)
    expect(await emails(school, '--learner ext:S-3 --learner ext:S-5 --course ext:sea')).toEqual([
      '003',
      '005',
    ])
    const summary = await school.run('analytics summary --course ext:fire --course "ext:air, thin" -o json')
    expect(JSON.parse(summary.stdout).summary).toMatchObject({ enrollments: 2, learners: 1 })
  })
})

describe('--file', () => {
  const files = (cli: TestCli) => readdirSync(cli.cwd)

  test.for([
    ['learners.csv', '-o csv'],
    ['learners.json', '-o json'],
    ['learners.jsonl', '-o jsonl'],
    ['learners.yml', '-o yaml'],
    ['learners', '-o csv'],
  ] as const)('called %s is written as %s', async ([name, format], { school }) => {
    await school.run(`analytics export --file ${name}`)
    const { stdout } = await school.run(`analytics export ${format}`)
    expect(readFileSync(join(school.cwd, name), 'utf8')).toBe(stdout)
  })

  test('is required with --force: there is nothing to overwrite without it', async ({ school }) => {
    for (const flags of ['--force', '--force --file -']) {
      expect(await school.run(`analytics export ${flags}`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('error: --force requires --file <path>\n'),
      })
    }
  })

  test('is not touched by --dry-run, which shows the request', async ({ school }) => {
    const { code, stdout } = await school.run(
      'analytics export --file learners.csv --last 30d --raw --dry-run',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^GET https:\/\/school\.example\/v1\/analytics\/learners\?/)
    expect(stdout).toContain('start_date=2026-01-30T12%3A00%3A00.000Z')
    expect(stdout).toContain('raw=true')
    expect(stdout).toContain('accept: text/csv\n')
    expect(stdout).toContain('authorization: Bearer ***\n')
    expect(files(school)).toEqual([])
  })
})

describe('what makes no sense', () => {
  test.for([
    ['-q', '--quiet is not supported by `learnctl analytics export`', 'learnctl users list --role learner'],
    ['--limit 5', '--limit is not supported by', 'An export contains all rows'],
    [
      '--format jsn',
      '--format must be one of csv, json, jsonl, ndjson, yaml, parquet, xlsx, not "jsn"',
      'Did you mean json?',
    ],
    ['--columns emial', 'column "emial"', 'Did you mean email?'],
    ['--file learners.ods', 'Cannot write learners.ods: .ods files are not supported', 'ends in .csv, .json'],
    [
      '-o table --file learners',
      '--output table is not supported for a file',
      'Use csv, json, jsonl, yaml, parquet or xlsx',
    ],
    ['--status complete', '--status must be one of not_started, in_progress', 'Did you mean completed?'],
  ])('%s is refused with a way on', async ([flags = '', message = '', hint = ''], { local }) => {
    const { code, stdout, stderr } = await local.run(`analytics export ${flags}`)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain(hint)
  })

  test.for([
    ['--format json --raw', '--raw is only supported for CSV, not for json'],
    ['-o yaml --bom', '--bom is only supported for CSV, not for yaml'],
    ['-o csv --file a.json', '--output csv and --file a.json cannot be used together'],
    ['--format csv --file a.ndjson.gz', '--format csv and --file a.ndjson.gz cannot be used together'],
    ['--last 30', '--last must be a duration, such as 24h, 30d, 2w, 3mo or 1y, not "30"'],
    ['--last 30d --end-date 2026-02-01', '--last and --end-date cannot be used together'],
  ])('%s is refused in one line', async ([flags = '', message = ''], { local }) => {
    expect(await local.run(`analytics export ${flags}`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${message}\n`,
    })
  })
})

describe('long work', () => {
  let now = 0
  beforeEach(() => {
    now = Date.parse('2026-03-01T12:00:00.000Z')
  })
  /** The program with one enrolment, on a clock that goes on by this at each look. */
  async function slow(stepMs: number): Promise<TestCli> {
    const cli = testCli({ now: () => (now += stepMs), env: { LEARNCTL_DATABASE: 'academy.db' } })
    onTestFinished(cli.remove)
    await putNewAcademy(join(cli.cwd, 'academy.db'))
    await cli.run('courses create --title Sea --external-id sea')
    await cli.run('users create --email ada@school.example')
    await cli.run('enrollments create --course ext:sea --user email:ada@school.example')
    return cli
  }

  test('reports its progress every ten seconds without a terminal', async () => {
    const { code, stdout, stderr } = await (await slow(11_000)).run('analytics export')
    expect(code).toBe(0)
    expect(recordsOf(stdout)).toHaveLength(1)
    expect(stderr).toMatch(/^(note: \d+ rows, \d+ rows\/s\n)+Exported 1 row\n$/)
  })

  test('draws a bar on a terminal, not among the rows, and removes it', { tags: ['slow'] }, async () => {
    const cli = await slow(600)
    const shown = await cli.run('analytics export', { tty: 80 })
    const { stdout, stderr } = await cli.run('analytics export --file learners.csv', { tty: 80 })
    expect(shown.stdout).toMatch(/^learnerId,/)
    expect(shown.stderr).toBe('Exported 1 row\n')
    expect(stdout).toBe('')
    expect(stderr).toMatch(/[█░]+ \d+% · \d+ of 1 rows · \d+ rows\/s · .+ left/)
    expect(stderr).toMatch(/Exported 1 row to learners.csv\n$/)
  })
})
