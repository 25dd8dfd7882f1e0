import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { describe, expect, onTestFinished } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import type { Person } from '../../helpers/academy.ts'
import { testCli, transportTo, test as withCli } from '../../helpers/cli.ts'
import { testWithShared } from '../../helpers/shared-academy.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

const formula = '=HYPERLINK("https://evil.example")'

/** The program as the admin of an academy with a course, a lesson, 120 learners and their enrolments. */
const test = testWithShared(fill)
/** The same for a test that writes. */
const testOfItsOwn = withCli.extend('school', async ({ remote, admin }) => {
  await fill(admin)
  await remote.run('auth login --with-key --url https://school.example', { stdin: admin.key })
  return remote
})

async function fill(admin: Person): Promise<void> {
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', tags: ['a', 'b'], status: 'published' })
  await admin.post('/v1/courses', { title: 'Land' })
  const questions = [{ type: 'essay', prompt: 'Why?', answer: 'The moon' }]
  await admin.post('/v1/lessons', {
    courseId: 'ext:sea',
    title: 'Tides',
    assessments: [{ type: 'quiz', title: 'Quiz', questions }],
  })
  const numbers = Array.from({ length: 120 }, (_, index) => index)
  const users = numbers.map((n) => ({
    email: `learner-${n}@school.example`,
    ...(n > 0 && { externalId: `S-${n}` }),
    profile: { firstName: n === 7 ? formula : 'Zoë', lastName: 'line\r\nend, "quoted"' },
  }))
  await admin.post('/v1/users/batch', { items: users })
  const enrollments = users.map(({ email }) => ({ courseId: 'ext:sea', userId: `email:${email}` }))
  await admin.post('/v1/enrollments/batch', { items: enrollments })
  const steps = [10, 60].map((completionPercentage, n) => ({
    learnerId: 'ext:S-1',
    courseId: 'ext:sea',
    completionPercentage,
    lastAccessed: `2026-02-0${n + 1}T09:00:00Z`,
  }))
  await admin.post('/v1/progress/batch', { items: steps })
}

/** Parses CSV with a strict parser. */
function recordsOf(csv: string): Record<string, string>[] {
  return parse(csv, { columns: true, record_delimiter: '\r\n' })
}

const nouns = ['users', 'courses', 'lessons', 'enrollments', 'progress'] as const

describe('the rows', () => {
  test.for(slowRows(nouns))(
    'of %s are the same in every format, with the columns of the import',
    async (noun, { school }) => {
      const csv = await school.run(`${noun} export`)
      const json = await school.run(`${noun} export -o json`)
      const lines = await school.run(`${noun} export --format ndjson`)
      const yaml = await school.run(`${noun} export -o yaml`)
      const values: Record<string, unknown>[] = JSON.parse(json.stdout)
      expect(json.stderr).toBe(`Exported ${values.length} row${values.length === 1 ? '' : 's'}\n`)
      expect(recordsOf(csv.stdout)).toHaveLength(values.length)
      expect(
        lines.stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(values)
      expect(parseYaml(yaml.stdout)).toEqual(values)
      for (const made of ['id', 'version', 'createdAt', 'updatedAt', 'password']) {
        expect(Object.keys(values[0] ?? {})).not.toContain(made)
        expect(csv.stdout.split('\r\n', 1)[0]?.split(',')).not.toContain(made)
      }
    },
  )

  test('come in the order in which they were made, each once, over several pages', async ({ school }) => {
    const { stdout } = await school.run('users export --role learner')
    const emails = recordsOf(stdout).map(({ email }) => email)
    expect(emails).toEqual(Array.from({ length: 120 }, (_, n) => `learner-${n}@school.example`))
  })

  test('name others by the ids of the school, themselves by one of theirs', async ({ school }) => {
    const [first, second] = recordsOf((await school.run('enrollments export')).stdout)
    expect(first).toMatchObject({ courseId: 'ext:sea', userId: 'email:learner-0@school.example' })
    expect(second).toMatchObject({ courseId: 'ext:sea', userId: 'ext:S-1' })
    const courses: { id: string; title: string }[] = JSON.parse(
      (await school.run('courses list -o json')).stdout,
    )
    const land = recordsOf((await school.run('courses export --search land')).stdout)
    expect(land).toEqual([
      expect.objectContaining({ externalId: courses.find(({ title }) => title === 'Land')?.id }),
    ])
  })

  test('hold a profile in columns, and formulas under guard unless --raw', async ({ school }) => {
    const guarded = await school.run('users export --search hyperlink')
    expect(recordsOf(guarded.stdout)[0]).toMatchObject({
      firstName: `'${formula}`,
      lastName: 'line\r\nend, "quoted"',
    })
    expect(guarded.stderr).toContain('Possible formulas escaped in 1 cell; use --raw to turn this off')
    const raw = await school.run('users export --search hyperlink --raw --bom')
    expect(raw.stdout.startsWith('\ufeffexternalId,')).toBe(true)
    expect(raw.stdout).toContain('"=HYPERLINK(')
    expect(raw.stderr).toBe('Exported 1 row\n')
  })

  test('have all with --all-columns, and the chosen with --columns', async ({ school }) => {
    const all = recordsOf((await school.run('enrollments export --all-columns')).stdout)
    expect(all[1]).toMatchObject({
      courseExternalId: 'sea',
      courseTitle: 'Sea',
      userEmail: 'learner-1@school.example',
      version: '1',
    })
    const chosen = await school.run('enrollments export --columns userEmail,role,id')
    expect(chosen.stdout).toMatch(/^userEmail,role,id\r\nlearner-0@school.example,learner,enr_\w+\r\n/)
    expect(await school.run('enrollments export --columns nothing')).toMatchObject({ code: 2, stdout: '' })
  })

  testOfItsOwn('tell of answers that a learner misses', { tags: ['slow'] }, async ({ school, learner }) => {
    const whole = await school.run('lessons export -o json')
    expect(whole.stdout).toContain('"answer":"The moon"')
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: learner.key }
    const { code, stdout, stderr } = await school.run('lessons export -o json', { env })
    expect(code).toBe(0)
    expect(stdout).not.toContain('answer')
    expect(stderr).toContain('note: The answers of questions in 1 lesson are not included')
  })
})

describe('progress', () => {
  test('is exported as is or with history, to be imported', { tags: ['slow'] }, async ({ school, local }) => {
    const now = recordsOf((await school.run('progress export')).stdout)
    expect(now).toEqual([
      {
        learnerId: 'ext:S-1',
        courseId: 'ext:sea',
        completionPercentage: '60',
        lastAccessed: '2026-02-02T09:00:00.000Z',
      },
    ])
    for (const noun of ['users', 'courses', 'enrollments', 'progress']) {
      const history = noun === 'progress' ? '--history --all-columns' : '--all-columns'
      const { stdout: stdin } = await school.run(`${noun} export ${history}`)
      expect(await local.run(`${noun} import -`, { stdin })).toMatchObject({ code: 0 })
    }
    const history = await local.run('progress history ext:S-1 --course ext:sea -o json')
    expect(JSON.parse(history.stdout)).toMatchObject([
      { completionPercentage: 60, version: 2 },
      { completionPercentage: 10, version: 1 },
    ])
    const again = await local.run('progress export --history')
    expect(again.stdout).toBe((await school.run('progress export --history')).stdout)
  })

  testOfItsOwn('goes to another academy as it was', { tags: ['slow'] }, async ({ school, local, admin }) => {
    await admin.put('/v1/users/ext:S-1', { status: 'inactive' })
    const { data } = (await admin.get('/v1/enrollments?user_id=ext:S-2')).body
    await admin.put(`/v1/enrollments/${data[0].id}`, { status: 'inactive' })
    await admin.put('/v1/courses/ext:sea', { status: 'archived' })
    const later = ' --map status='
    for (const [noun, flags] of [
      ['courses', `${later} --map progressTracking.enabled=`],
      ['lessons', ''],
      ['users', later],
      ['enrollments', later],
      ['progress', ''],
      ['enrollments', ''],
      ['users', ''],
      ['courses', ''],
    ] as const) {
      const { stdout: stdin } = await school.run(`${noun} export${noun === 'progress' ? ' --history' : ''}`)
      const ran = await local.run(`${noun} import -${flags}`, { stdin })
      expect(ran.code, `${noun}: ${ran.stderr}`).toBe(0)
    }
    for (const noun of ['courses', 'lessons', 'enrollments', 'progress']) {
      expect((await local.run(`${noun} export`)).stdout, noun).toBe(
        (await school.run(`${noun} export`)).stdout,
      )
    }
  })

  test('is that of a course, a learner, or since a time', async ({ school }) => {
    for (const [flags, rows] of [
      ['--course ext:sea --learner ext:S-1', 1],
      ['--learner ext:S-2', 0],
      ['--updated-since 2026-02-28', 1],
      ['--since 2026-02-28 --until 1990-01-01', 0],
      ['--history --learner email:learner-1@school.example', 2],
      ['--history --learner email:learner-1@school.example --since 1d', 2],
      ['--history --learner email:learner-1@school.example --until 1d', 0],
    ] as const) {
      expect(recordsOf((await school.run(`progress export ${flags}`)).stdout), flags).toHaveLength(rows)
    }
    expect(await school.run('progress export --history --updated-since 3d')).toMatchObject({
      code: 2,
      stderr: 'error: --history and --updated-since cannot be used together\n',
    })
  })
})

describe('the file', () => {
  test('has the form of its name, and needs --force to overwrite', { tags: ['slow'] }, async ({ school }) => {
    const { stdout } = await school.run('users export -o jsonl')
    const ran = await school.run('users export --file out.jsonl.gz')
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: 'Exported 122 rows to out.jsonl.gz\n' })
    expect(gunzipSync(readFileSync(join(school.cwd, 'out.jsonl.gz'))).toString()).toBe(stdout)
    expect(await school.run('users export --file out.jsonl.gz')).toMatchObject({ code: 2 })
    expect(await school.run('users export --file out.jsonl.gz --force')).toMatchObject({ code: 0 })
  })

  test.for([
    ['--file out.ods', '.ods files are not supported'],
    ['--role teachr', 'teachr'],
  ] as const)('is refused with %s', async ([flags, told], { local }) => {
    const ran = await local.run(`users export ${flags}`)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(told)
    expect(existsSync(join(local.cwd, 'out.csv'))).toBe(false)
  })

  testOfItsOwn('is not there, nor half of it, if stopped', { tags: ['slow'] }, async ({ academy, admin }) => {
    await fill(admin)
    const stop = new AbortController()
    const transport = transportTo({
      fetch: (request) => {
        if (request.url.includes('cursor=')) stop.abort(new InterruptedError('SIGINT'))
        return academy.fetch(request)
      },
    })
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
    const cli = testCli({ transport, env })
    onTestFinished(() => cli.remove())
    writeFileSync(join(cli.cwd, 'kept.csv'), 'before')
    for (const file of ['out.csv', 'out.csv.gz', 'kept.csv --force']) {
      const ran = await cli.run(`users export --file ${file}`, { signal: stop.signal })
      expect(ran).toEqual({ code: 130, stdout: '', stderr: 'error: Interrupted\n' })
    }
    expect(readdirSync(cli.cwd)).toEqual(['kept.csv'])
    expect(readFileSync(join(cli.cwd, 'kept.csv'), 'utf8')).toBe('before')
  })

  test('is only planned with --dry-run', async ({ local }) => {
    const { code, stdout } = await local.run('courses export --status draft --dry-run')
    expect(code).toBe(0)
    expect(stdout).toContain('/v1/courses?sort=createdAt&status=draft&limit=20')
  })
})
