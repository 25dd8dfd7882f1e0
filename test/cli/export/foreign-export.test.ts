import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { gatewayPlatform } from '../../helpers/foreign-platforms/gateway.ts'
import {
  csv,
  type ForeignPlatform,
  json,
  type PlatformOptions,
} from '../../helpers/foreign-platforms/platform.ts'
import { railsPlatform } from '../../helpers/foreign-platforms/rails.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

const styles = [
  ['Express', expressPlatform],
  ['Rails', railsPlatform],
  ['a gateway', (options: PlatformOptions = {}) => gatewayPlatform({ ...options, gzip: false })],
] as const
const analytics = '/v1/analytics/learners'
const hostOf = ({ url }: ForeignPlatform) => new URL(url).host
const queriesOf = ({ requests }: ForeignPlatform) =>
  requests.filter(({ path }) => path === analytics).map(({ query }) => Object.fromEntries(query))

/** Answers every analytics request with this CSV. */
function sending(body: string | Uint8Array | readonly Uint8Array[], type = 'text/csv'): ForeignPlatform {
  const platform = expressPlatform()
  async function* pieces(list: readonly Uint8Array[]) {
    yield* list
  }
  platform.intercept(({ path }) =>
    path === analytics
      ? {
          status: 200,
          headers: { 'content-type': type },
          body: typeof body === 'string' || body instanceof Uint8Array ? body : pieces(body),
        }
      : undefined,
  )
  return platform
}

/** A body that arrives byte by byte. */
function byteByByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}

describe.for(styles)('%s that ignores filters', ([, platformOf]) => {
  const formats = ['', '-o json', '-o jsonl', '-o yaml', '--columns email'] as const

  test.for(formats)('exports the rows that were asked for: %s', async (format, { run }) => {
    const platform = platformOf()
    const line = `analytics export --learner email:learner2@school.example ${format}`
    const { code, stdout, stderr } = await run(platform, line)
    expect(code).toBe(0)
    expect(stdout).toContain('learner2@school.example')
    expect(stdout).not.toContain('learner1@school.example')
    expect(stderr).toBe(
      `Exported 1 row\nnote: ${hostOf(platform)} ignored --learner; the rows were filtered by this command\n`,
    )
  })

  test.for(formats)('exports no row that it cannot check, and no file: %s', async (format, { cli, run }) => {
    const platform = platformOf()
    const file = join(cli.cwd, 'out')
    const { code, stdout, stderr } = await run(platform, `analytics export --status completed ${format}`)
    expect(code).toBe(1)
    expect(stdout).not.toContain('@')
    expect(stderr).toContain('Cannot check --status: 3 rows left out')
    expect(stderr).toContain(`${hostOf(platform)} sent rows without progressStatus`)
    expect(stderr).toContain(`Use --ignore-filters to get all rows that ${hostOf(platform)} sends`)
    const ran = await run(platform, `analytics export --status completed --file ${file} ${format}`)
    expect(ran.code).toBe(1)
    expect(existsSync(file)).toBe(false)
  })

  test.for(formats)('exports all rows with --ignore-filters, and says so: %s', async (format, { run }) => {
    const line = `analytics export --status completed --ignore-filters ${format}`
    const { code, stdout, stderr } = await run(platformOf(), line)
    expect({ code, rows: stdout.match(/learner\d@/g)?.length }).toEqual({ code: 0, rows: 3 })
    expect(stderr).toBe(
      'note: Rows are not checked against the filters (--ignore-filters)\nExported 3 rows\n',
    )
  })

  test('is said nothing of where it obeys', async ({ run }) => {
    const platform = platformOf({ filters: true })
    const course = String(platform.store.course[1]?.['id'])
    const ran = await run(platform, `analytics export --course ${course}`)
    expect(ran).toMatchObject({ code: 0, stderr: 'Exported 1 row\n' })
  })
})

describe('rows in words of a platform that has CSV alone', () => {
  const cases = [
    ['--course 5', 'course', 'Marine biology', 'without courseId'],
    ['--status completed', 'progress_status', 'Done', 'with progressStatus "Done"'],
    ['--end-date 2024-02-29', 'last_accessed', '03/02/2024', 'with lastAccessed "03/02/2024"'],
  ] as const
  const header = (column: string) => `email,${column}\r\n`
  const row = (name: string, value: string) => `${name}@school.example,${value}\r\n`

  test.for(cases)(
    'are left out where it does not filter: %s',
    async ([flags, column, value, why], { run }) => {
      const platform = sending(header(column) + row('ada', value))
      const { code, stdout, stderr } = await run(platform, `analytics export ${flags}`)
      expect({ code, stdout }).toEqual({ code: 1, stdout: header(column) })
      expect(stderr).toContain(
        `error: Cannot check ${flags.split(' ')[0]}: 1 row left out\n  express.example sent rows ${why}\n`,
      )
    },
  )

  test.for(cases)('are kept where it filters: %s', async ([flags, column, value, why], { run }) => {
    const platform = expressPlatform()
    const parameter =
      { '--course': 'course_id', '--status': 'status', '--end-date': 'end_date' }[
        flags.split(' ')[0] ?? ''
      ] ?? ''
    const asked = header(column) + row('ada', value)
    platform.intercept(
      ({ path, query }) =>
        (path === analytics && {
          status: 200,
          headers: { 'content-type': 'text/csv' },
          body: query.has(parameter) ? asked : asked + row('bob', value),
        }) ||
        undefined,
    )
    const { code, stdout, stderr } = await run(platform, `analytics export ${flags}`)
    expect({ code, stdout }).toEqual({ code: 0, stdout: asked })
    expect(stderr).toBe(
      `Exported 1 row\nnote: express.example filters by ${flags.split(' ')[0]}, but sent rows ${why}\n`,
    )
  })
})

test.for([
  ['03/02/2024', '28/02/2024', ['a', 'b']],
  ['03/02/2024', '02/28/2024', ['b']],
] as const)('%s is read as a later row, of %s, shows', async ([first, second, names], { run }) => {
  const rows = [
    { email: 'a', last_accessed: first },
    { email: 'b', last_accessed: second },
  ]
  const line = 'analytics export --start-date 2024-02-01 --end-date 2024-02-29 --columns email'
  for (const format of ['', '-o jsonl']) {
    const platform = expressPlatform()
    platform.intercept(({ path }) => (path === analytics ? json(200, rows) : undefined))
    const { code, stdout } = await run(platform, `${line} ${format}`)
    expect({ code, found: names.every((name) => stdout.includes(name)) }).toEqual({ code: 0, found: true })
    expect(stdout.includes('"a"') || /^a\r?$/m.test(stdout)).toBe((names as readonly string[]).includes('a'))
  }
  const platform = sending(`email,last_accessed\na,${first}\nb,${second}\n`)
  const { code, stdout } = await run(platform, line.replace(' --columns email', ''))
  const kept = rows.filter(({ email }) => (names as readonly string[]).includes(email))
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `email,last_accessed\n${kept.map((row) => `${row.email},${row.last_accessed}\n`).join('')}`,
  })
})

test('dates are checked to the second, whatever a platform makes of them', async ({ run }) => {
  const platform = expressPlatform()
  platform.intercept(({ path }) =>
    path === analytics
      ? csv(
          ['email', 'last_accessed'],
          [
            { email: 'a', last_accessed: '2026-02-20T09:59:59Z' },
            { email: 'b', last_accessed: '2026-02-20 10:00:00 UTC' },
          ],
        )
      : undefined,
  )
  const { stdout, stderr } = await run(platform, 'analytics export --start-date 2026-02-20T10:00:00Z')
  expect(stdout).toBe('email,last_accessed\nb,2026-02-20 10:00:00 UTC\n')
  expect(stderr).toContain('express.example ignored --start-date;')
})

describe('the records of a CSV from elsewhere that stay', () => {
  test('are there byte for byte, quotes, line breaks and separators', async ({ run }) => {
    const kept = '"two\r\nlines; ""quoted""";7;Zoë\r\n'
    const text = `\ufefftitle;course_id;name\r\nother;8;"x;7"\r\n${kept}5" screen;8;y\r\n`
    const { code, stdout, stderr } = await run(sending(text), 'analytics export --course 7')
    expect({ code, stdout }).toEqual({ code: 0, stdout: `\ufefftitle;course_id;name\r\n${kept}` })
    expect(stderr).toContain('Exported 1 row\n')
  })

  test('are refused where one has no end', async ({ run }) => {
    const text = `course_id,name\n7,"${'x'.repeat(1024 * 1024 + 1)}`
    expect(await run(sending(text), 'analytics export --course 7')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error: The platform sent a CSV record that does not end\n'),
    })
  })
})

describe('CSV from elsewhere', () => {
  const formula = 'email,name\na@b.example,"=HYPERLINK(""https://evil.example"")"\n-5,+1\n'

  test('has the guard against formulas', async ({ run }) => {
    const { stdout, stderr } = await run(sending(formula), 'analytics export')
    expect(stdout).toBe(formula.replace('=H', "'=H"))
    expect(stderr).toBe(
      'Exported 2 rows\nnote: Possible formulas escaped in 1 cell; use --raw to turn this off\n',
    )
  })

  test('is as it came with --raw, and what the platform escaped all the same is said', async ({ run }) => {
    const raw = await run(sending(formula), 'analytics export --raw')
    expect(raw).toEqual({ code: 0, stdout: formula, stderr: 'Exported 2 rows\n' })
    const { stderr } = await run(sending("a,b\n1,'=1+1\n"), 'analytics export --raw')
    expect(stderr).toContain(
      'note: The platform may have ignored --raw: possible formulas are escaped in 1 cell\n',
    )
  })

  test('has one byte order mark with --bom, whether the platform sets it or not', async ({ run }) => {
    for (const mark of ['', '\ufeff']) {
      const { stdout } = await run(sending(`${mark}a\n1\n`), 'analytics export --bom')
      expect(stdout).toBe('\ufeffa\n1\n')
    }
  })
})

describe('between other separators', () => {
  test.for([';', '\t', '|'])('%j: cells are guarded, counted and filtered', async (separator, { run }) => {
    const between = (text: string) => text.replaceAll(';', separator)
    const name = '"Name, first, last, and so on"'
    const csv = between(`email;course_id;${name}\na@b.example;7;=1+1\nc@b.example;8;x\nd@b.example;7;"@y"\n`)
    const { code, stdout, stderr } = await run(sending(csv), 'analytics export --course 7')
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: between(`email;course_id;${name}\na@b.example;7;'=1+1\nd@b.example;7;"'@y"\n`),
    })
    expect(stderr).toContain('Exported 2 rows\nnote: Possible formulas escaped in 2 cells;')
    const raw = await run(sending(between("a;b\n1;'=1\n")), 'analytics export --raw')
    expect(raw.stderr).toContain('possible formulas are escaped in 1 cell\n')
  })
})

describe('CSV in another charset', () => {
  test('that nothing declares is read as --encoding says', async ({ run }) => {
    // 表 in Shift_JIS, whose second byte is a backslash in ASCII.
    const body = Buffer.from('email,course\na@b.example,\x95\x5c\n', 'latin1')
    expect(await run(sending(body), 'analytics export')).toMatchObject({ code: 1 })
    expect(await run(sending(body), 'analytics export --encoding sjis')).toMatchObject({
      code: 0,
      stdout: 'email,course\na@b.example,表\n',
    })
    for (const [flags, told] of [
      ['--encoding klingon', '--encoding is not a known encoding: klingon'],
      ['--encoding sjis -o yaml', '--encoding is only supported for CSV'],
    ] as const) {
      const ran = await run(sending(body), `analytics export ${flags}`)
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(told) })
    }
  })

  const rows = 'id,name\n1,Zoë €\n2,=é\n'
  const safe = rows.replace('=', "'=")
  const latin = Buffer.from(rows.replace('€', '\x80'), 'latin1')
  const wide = Buffer.from(`\ufeff${rows}`, 'utf16le')

  test.for<[type: string, bytes: Buffer]>([
    ['text/csv; charset=iso-8859-1', latin],
    ['text/csv; header=present; Charset="Windows-1252"', latin],
    ['text/csv; charset=utf-16', wide],
    ['text/csv; charset=utf-16', Buffer.from(wide).swap16()],
    ['text/csv; charset=utf-16le', wide],
    ['text/csv; charset=utf8', Buffer.from(rows)],
  ])('becomes UTF-8: %s', async ([type, bytes], { run }) => {
    for (const body of [bytes, byteByByte(bytes)]) {
      const { code, stdout } = await run(sending(body, type), 'analytics export')
      expect({ code, stdout }).toEqual({ code: 0, stdout: safe })
    }
  })

  test('is UTF-8 where its byte order mark says so', async ({ run }) => {
    const marked = Buffer.from(`\ufeff${rows}`)
    for (const body of [marked, byteByByte(marked)]) {
      const { stdout } = await run(sending(body, 'text/csv; charset=iso-8859-1'), 'analytics export')
      expect(stdout).toBe(`\ufeff${safe}`)
    }
  })

  const faults: [type: string, bytes: Buffer, fault: string][] = [
    ['text/csv; charset=x-klingon', Buffer.from(rows), 'has the unsupported charset "x-klingon"'],
    ['text/csv', latin, 'cannot be read: byte 0xEB at offset 12 is not UTF-8'],
    ['text/csv; charset=utf-8', latin, 'cannot be read: byte 0xEB at offset 12 is not UTF-8'],
    ['text/csv', Buffer.from(rows).subarray(0, 13), 'cannot be read: byte 0xC3 at offset 12 is not UTF-8'],
    ['text/csv; charset=shift_jis', latin, 'cannot be read: it is not shift_jis'],
  ]
  test.for(faults)('is refused: %s', async ([type, bytes, fault], { run, cli }) => {
    const file = join(cli.cwd, 'out.csv')
    for (const body of [bytes, byteByByte(bytes)]) {
      expect(await run(sending(body, type), `analytics export --file ${file}`)).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: The response from express.example to GET ${analytics} ${fault}\n`,
      })
      expect(existsSync(file)).toBe(false)
    }
  })
})

describe('CSV without a header', () => {
  test.for([
    'a@b.example,Sea,40\nc@b.example,Sea,50\n',
    '17;3;40%;2026-02-20T10:00:00Z\n18;3;;\n',
    '\ufeff"a@b.example","5"\n"c@b.example","7"',
  ])('is said to have none, and each line counts: %j', async (body, { run }) => {
    const ran = await run(sending(body), 'analytics export')
    expect(ran).toEqual({
      code: 0,
      stdout: body,
      stderr: 'Exported 2 rows\nnote: express.example sent CSV without a header\n',
    })
  })

  test('cannot be filtered', async ({ run }) => {
    const body = 'a@b.example,3\nc@b.example,4\n'
    const ran = await run(sending(body), 'analytics export --status completed')
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain('error: Cannot check --status: 2 rows left out\n')
    const all = await run(sending(body), 'analytics export --status completed --ignore-filters')
    expect(all).toMatchObject({ code: 0, stdout: body })
  })

  test('is not what has a column of ours', async ({ run }) => {
    const ran = await run(sending('email,a@b.example\nx,y\n'), 'analytics export')
    expect(ran.stderr).toBe('Exported 1 row\n')
  })
})

describe('a column', () => {
  test('is found under the name that the platform has for it', async ({ run }) => {
    const { stdout } = await run(railsPlatform(), 'analytics export --columns learnerId,completionPercentage')
    expect(stdout).toBe('learnerId,completionPercentage\r\n2,40\r\n3,100\r\n2,12.5\r\n')
  })

  test('are named in JSON as they were asked for, and rows without them are as the platform sent them', async ({
    run,
  }) => {
    const line = 'analytics export --columns learnerId,completionPercentage'
    const jsonl = await run(railsPlatform(), `${line} -o jsonl`)
    expect(jsonl.stdout.split('\n')[0]).toBe('{"learnerId":2,"completionPercentage":40}')
    const yaml = await run(railsPlatform(), 'analytics export -o yaml')
    expect(yaml.stdout).toMatch(/^- learner_id: 2$/m)
    expect(yaml.stdout).not.toContain('learnerId')
  })

  test('that the platform does not send is an error, and leaves no file', async ({ run, cli }) => {
    const file = join(cli.cwd, 'out.csv')
    const ran = await run(railsPlatform(), `analytics export --columns email,gradePercent --file ${file}`)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(
      /^error: The platform does not send column "gradePercent"\n {2}Columns: learner_id, .*\n/,
    )
    expect(existsSync(file)).toBe(false)
  })
})

describe('a platform that takes plain dates, and both of them', () => {
  const day = /^\d{4}-\d\d-\d\d$/
  function strictAboutDates(): ForeignPlatform {
    const platform = railsPlatform()
    platform.intercept(({ path, query }) =>
      path === analytics && !['start_date', 'end_date'].every((name) => day.test(query.get(name) ?? ''))
        ? json(422, { errors: { start_date: ['must be a date (YYYY-MM-DD)'] } })
        : undefined,
    )
    return platform
  }

  test('gets them after its first answer, and the rows beside the period are left out', async ({ run }) => {
    const platform = strictAboutDates()
    const { code, stdout, stderr } = await run(
      platform,
      'analytics export --start-date 2026-02-21T12:00:00Z --columns email,lastAccessed',
    )
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'email,lastAccessed\r\nlearner1@school.example,2026-02-22T10:00:00Z\r\n',
    })
    expect(stderr).toBe(
      'note: rails.example requires a start and an end date; retrying with 2026-02-21 to 2026-03-02\nExported 1 row\n',
    )
    expect(queriesOf(platform).at(-1)).toMatchObject({ start_date: '2026-02-21', end_date: '2026-03-02' })
  })

  test('gets them also where no period was asked for', async ({ run }) => {
    const { code, stderr } = await run(strictAboutDates(), 'analytics export')
    expect(code).toBe(0)
    expect(stderr).toContain('retrying with 1970-01-01 to 2026-03-02\nExported 3 rows\n')
  })

  test('is asked no third time', async ({ run }) => {
    const platform = railsPlatform()
    platform.intercept(({ path }) =>
      path === analytics ? json(422, { message: 'end_date is too far away' }) : undefined,
    )
    expect(await run(platform, 'analytics export')).toMatchObject({ code: 2 })
    expect(queriesOf(platform)).toHaveLength(2)
  })

  test('is not asked again about anything else', async ({ run }) => {
    const platform = railsPlatform()
    platform.intercept(({ path }) =>
      path === analytics ? json(422, { message: 'Please update and validate your plan' }) : undefined,
    )
    expect(await run(platform, 'analytics export')).toMatchObject({ code: 2 })
    expect(queriesOf(platform)).toHaveLength(1)
  })
})

test('a summary of a platform that ignores its filters is refused', async ({ run }) => {
  const platform = railsPlatform()
  const summary = { learners: 2, enrollments: 3 }
  platform.intercept(({ path }) =>
    path === analytics ? json(200, { data: [{ course_id: 1 }], nextCursor: null, summary }) : undefined,
  )
  const ran = await run(platform, 'analytics summary --course 2 -o json')
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toContain('rails.example ignored --course in its summary')
  const unshown = await run(platform, 'analytics summary --course 1 -o json')
  expect(unshown.code).toBe(0)
  expect(unshown.stderr).toContain(
    'note: Cannot check that rails.example applied the filters to its summary\n',
  )
})

test('an academy elsewhere exports its own bytes, with one request and without a note', async ({
  remote,
  academy,
}) => {
  const admin = await academy.person('admin')
  const learner = await academy.person('learner')
  await admin.post('/v1/courses', { title: 'Sea', externalId: 'sea', status: 'published' })
  const record = { courseId: 'ext:sea', completionPercentage: 40 }
  await admin.put(`/v1/learners/${learner.id}/progress`, record)
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
  const before = academy.logged.length
  const line = `analytics export --course ext:sea --learner email:${learner.email} --last 30d --file out.csv`
  expect(await remote.run(line, { env })).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Exported 1 row to out.csv\n',
  })
  expect(academy.logged).toHaveLength(before + 1)
  const { text } = await admin.get(`${analytics}?format=csv`)
  expect(readFileSync(join(remote.cwd, 'out.csv'), 'utf8')).toBe(text)
})

describe('a platform that sends something else than rows of JSON', () => {
  const rows = '[{"learnerId":"1"},{"learnerId":"2"}]'
  const answering = (type: string, body: string) => {
    const platform = expressPlatform()
    platform.intercept(({ path }) =>
      path === analytics ? { status: 200, headers: { 'content-type': type }, body } : undefined,
    )
    return platform
  }

  test.for(['-o json', '-o jsonl', '-o yaml', '--columns learnerId'])(
    'exports none of it: %s',
    async (format, { run }) => {
      const lines = 'L1;2;7\nL2;3;14\n'
      for (const type of ['application/octet-stream', 'text/plain', 'application/x-ndjson']) {
        const { code, stdout, stderr } = await run(answering(type, lines), `analytics export ${format}`)
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr).toMatch(/ is not (valid )?JSON/)
      }
    },
  )

  test.for([
    ['<!doctype html><p>Sign in', 'a web page, not CSV'],
    ['\uFEFF\n<html><body>Sign in</body></html>', 'a web page, not CSV'],
    ['{"success":false,"error":"Quota exceeded"}', 'JSON, not CSV'],
    [rows, 'JSON, not CSV'],
    [`${rows.slice(0, -1)},`.repeat(20), 'JSON, not CSV'],
    [Buffer.from('learnerId,name\n1,=cmd()\n', 'utf16le'), 'UTF-16 or binary, not CSV in UTF-8'],
    ['Fatal error: Uncaught PDOException in /var/www/db.php:3\n', 'a line of text, not CSV'],
  ] as const)('exports none of it as CSV: %s', async ([body, what], { run }) => {
    for (const type of ['text/csv', 'application/octet-stream']) {
      const platform = expressPlatform()
      platform.intercept(({ path }) =>
        path === analytics ? { status: 200, headers: { 'content-type': type }, body } : undefined,
      )
      expect(await run(platform, 'analytics export')).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: The response from express.example to GET ${analytics} is ${what}\n`,
      })
    }
  })

  test.for(['', '\ufeff', ' \r\n\n'])('exports nothing of nothing: %j', async (body, { run, cli }) => {
    const file = join(cli.cwd, 'out.csv')
    expect(await run(answering('text/csv', body), `analytics export --file ${file}`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: The response from express.example to GET ${analytics} is empty, not CSV with a header\n`,
    })
    expect(existsSync(file)).toBe(false)
  })

  test('exports CSV of one column, and of no rows', async ({ run }) => {
    for (const body of ['learnerId\n1\n', 'learnerId,name\n', `"<b>",note\n${'x,"[1]"\n'.repeat(99)}`]) {
      expect(await run(answering('text/csv', body), 'analytics export')).toMatchObject({
        code: 0,
        stdout: body,
      })
    }
  })

  test('exports the rows of a document that is not called JSON', async ({ run }) => {
    for (const body of [rows, `{"data":${rows}}`, `\n${JSON.stringify(JSON.parse(rows), null, 2)}`]) {
      const { code, stdout } = await run(answering('text/plain', body), 'analytics export -o json')
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toEqual(JSON.parse(rows))
    }
  })

  test('is told by a line that holds no row', async ({ run }) => {
    const ran = await run(answering('application/x-ndjson', `${rows}\n`), 'analytics export -o jsonl')
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain('The platform sent a row that is not JSON')
  })
})

describe.for(styles)('%s that shows courses alone', ([, platformOf]) => {
  test('exports them under our names, by their ids, and says what it does not send', async ({ run }) => {
    const platform = platformOf()
    const { code, stdout, stderr } = await run(platform, 'courses export -o json --search algebra')
    expect(code).toBe(0)
    const rows: { externalId: unknown; title: string }[] = JSON.parse(stdout)
    expect(rows.map(({ title }) => title)).toEqual(['Algebra'])
    expect(rows[0]?.externalId).toMatch(/2$/)
    expect(stderr).toContain(`${hostOf(platform)} does not send learningObjectives, modules`)
  })

  test.for(['users', 'lessons', 'enrollments', 'progress'])(
    'has no %s to export, and says so',
    async (noun, { run }) => {
      const { code, stdout, stderr } = await run(platformOf(), `${noun} export`)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/does not support|Cannot GET/)
    },
  )
})
