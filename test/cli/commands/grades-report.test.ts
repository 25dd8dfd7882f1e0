import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'csv-parse/sync'
import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran, rowsOf } from '../../helpers/result.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

/** Grades by learner and item: score and maximum. */
const scores: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  '007': { 'essay-1': [17, 20], 'essay-2': [0, 10], quiz: [66.6, 100] },
  S2: { 'essay-1': [20, 20], quiz: [100, 100] },
  S3: {},
}
const labels: Readonly<Record<string, string>> = {
  'essay-1': 'Essay',
  'essay-2': 'Essay',
  quiz: '=Quiz, “one”',
}

/** Makes the learners of the course `ext:SEA`, without grades. */
async function enroll(cli: TestCli, database: string): Promise<void> {
  const emailOf = (externalId: string) => `l${externalId.toLowerCase()}@school.example`
  const people = Object.keys(scores).map((externalId) => ({
    ...{ externalId, email: emailOf(externalId), profile: { firstName: 'Zoë', lastName: externalId } },
  }))
  writeFileSync(join(cli.cwd, 'people.json'), JSON.stringify(people))
  expect((await cli.run(`users import people.json ${database}`)).code).toBe(0)
  await cli.run(`courses create --title Sea --external-id SEA --status published ${database}`)
  for (const { email } of people) {
    await cli.run(`enrollments create --course ext:SEA --user email:${email} ${database}`)
  }
}

async function fill(cli: TestCli): Promise<void> {
  await enroll(cli, '')
  const rows = Object.entries(scores).flatMap(([learner, items]) =>
    Object.entries(items).map(([itemId, [scoreGiven, scoreMaximum]]) => ({
      ...{ learnerId: `ext:${learner}`, courseId: 'ext:SEA', itemId, label: labels[itemId] },
      ...{ scoreGiven, scoreMaximum },
    })),
  )
  writeFileSync(join(cli.cwd, 'grades.json'), JSON.stringify(rows))
  expect((await cli.run('grades import grades.json')).code).toBe(0)
}

const gradesOf = (cli: TestCli, database = '') =>
  rowsOf(cli, `grades list --course ext:SEA --all --columns userExternalId,itemId,percent ${database}`)

describe('a gradebook', () => {
  beforeEach<{ local: TestCli }>(({ local }) => fill(local))

  test('has a row per learner and a column per item, named apart', { tags: ['slow'] }, async ({ local }) => {
    const { code, stdout, stderr } = await local.run('grades report ext:SEA')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'Exported 3 rows\nnote: Possible formulas escaped in 1 cell; use --raw to turn this off\n',
    })
    const [first, second, third, ...others]: Record<string, string>[] = parse(stdout, { columns: true })
    expect(others).toEqual([])
    expect(Object.keys(first ?? {}).slice(5)).toEqual([
      ...['enrollmentStatus', 'gradePercent', 'passed'],
      ...["'=Quiz, “one” (quiz)", 'Essay (essay-1)', 'Essay (essay-2)'],
    ])
    expect(first).toMatchObject({ externalId: '007', 'Essay (essay-1)': '85', 'Essay (essay-2)': '0' })
    expect(second).toMatchObject({
      externalId: 'S2',
      'Essay (essay-2)': '',
      gradePercent: '100',
      passed: 'true',
    })
    expect(third).toMatchObject({ externalId: 'S3', 'Essay (essay-1)': '', gradePercent: '', passed: '' })
  })

  test('has one learner, or chosen columns', async ({ local }) => {
    const { stdout } = await local.run(
      'grades report ext:SEA --learner ext:S2 -o csv --columns "externalId,Essay (essay-1)"',
    )
    expect(stdout).toBe('externalId,Essay (essay-1)\r\nS2,100\r\n')
    expect((await ran(local, 'grades report ext:SEA --columns Esay', 2)).stderr).toContain(
      'Unknown column "Esay"',
    )
  })

  test('leaves drafts out unless they are asked for', async ({ local }) => {
    await local.run('grades set ext:S3 --course ext:SEA --item draft --score 50 --no-published')
    expect((await local.run('grades report ext:SEA')).stdout).not.toContain('draft')
    const { stdout, stderr } = await local.run('grades report ext:SEA --unpublished')
    expect(parse(stdout, { columns: true })).toMatchObject([{ draft: '' }, { draft: '' }, { draft: '50' }])
    expect(stderr).toContain('note: 1 grade included that learners do not see yet\n')
  })

  test('of Canvas has names, points and their maxima', { tags: ['slow'] }, async ({ local }) => {
    const { stdout } = await local.run('grades report ext:SEA --for canvas --raw')
    const [header, maxima, first] = stdout.split('\r\n')
    expect(header).toMatch(
      /^Student,ID,SIS User ID,SIS Login ID,Section,"=Quiz, “one” \(quiz\)",Essay \(essay-1\),Essay \(essay-2\),/,
    )
    expect(header).toMatch(/,Current Score,Unposted Current Score,Final Score,Unposted Final Score$/)
    expect(maxima).toMatch(/^ {4}Points Possible,,,,,100,20,10(,\(read only\)){4}$/)
    expect(first).toMatch(/^"007, Zoë",,007,l007@school\.example,Sea,66\.6,17,0(,[\d.]+)\1{3}$/)
  })

  test('of Moodle and Open edX has their columns and scales', async ({ local }) => {
    const moodle: Record<string, string>[] = parse(
      (await local.run('grades report ext:SEA --for moodle')).stdout,
      { columns: true },
    )
    expect(moodle[0]).toMatchObject({
      ...{ 'ID number': '007', 'Essay (essay-1) (Real)': '17', 'Essay (essay-1) (Percentage)': '85 %' },
    })
    const openEdx: Record<string, string>[] = parse(
      (await local.run('grades report ext:SEA --for openedx')).stdout,
      { columns: true },
    )
    expect(openEdx[2]).toMatchObject({
      Grade: '0',
      'Assignment 2: Essay (essay-1)': 'Not Attempted',
      'Certificate Eligible': 'N',
      'Enrollment Status': 'enrolled',
    })
    expect(openEdx[0]).toMatchObject({ 'Assignment 2: Essay (essay-1)': '0.85' })
  })

  test.for(
    slowRows([
      ['', (itemId: string) => itemId],
      ['--for canvas', (itemId: string) => itemId],
      ['--for moodle', (itemId: string) => nameOf(itemId)],
      ['--for openedx', (itemId: string) => nameOf(itemId)],
    ]),
  )('that is exported with %j is imported in another academy', async ([flags, idOf], { local }) => {
    await local.run(`grades report ext:SEA ${flags} --file book.csv`)
    await enroll(local, '--database other.db')
    const { code, stderr } = await local.run('grades import book.csv --gradebook ext:SEA --database other.db')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'Imported 5 rows of 5 from book.csv: 5 created\n',
    })
    const before = (await gradesOf(local)).map(([learner, item = '', percent]) => [
      learner,
      idOf(item),
      percent,
    ])
    expect((await gradesOf(local, '--database other.db')).sort()).toEqual(before.sort())
    const again = await local.run('grades import book.csv --gradebook ext:SEA --database other.db')
    expect(again.stderr).toContain('5 unchanged')
  })
})

test.for(slowRows(['', '--for canvas']))(
  'item ids with brackets come back from a gradebook exported with %j',
  async (flags, { local }) => {
    await enroll(local, '')
    const items = [
      ['quiz (1)', 'Quiz'],
      ['quiz (2)', 'quiz (2)'],
      ['e1', 'Essay (draft)'],
      ['()', ''],
      ['a)', 'Odd'],
    ]
    const rows = items.map(([itemId, label]) => ({
      ...{ learnerId: 'ext:S2', courseId: 'ext:SEA', itemId, label, scoreGiven: 7, scoreMaximum: 10 },
    }))
    writeFileSync(join(local.cwd, 'grades.json'), JSON.stringify(rows))
    expect((await local.run('grades import grades.json')).stderr).toContain('5 created')
    await local.run(`grades report ext:SEA ${flags} --file book.csv`)
    const before = await gradesOf(local)
    expect((await local.run('grades import book.csv --gradebook ext:SEA')).code).toBe(0)
    expect((await gradesOf(local)).sort()).toEqual(before.sort())
  },
)

test('a gradebook of too many items says it has some', { tags: ['slow'] }, async ({ local }) => {
  await enroll(local, '--database many.db')
  const database = new DatabaseSync(join(local.cwd, 'many.db'))
  const time = '2026-01-01T00:00:00.000Z'
  database.exec(`
    with recursive n (i) as (select 10000 union all select i + 1 from n where i < 15000)
    insert into grades (id, user_id, course_id, source, item_id, label, score_given, score_maximum, graded_at, version,
      created_at, updated_at)
    select 'grd_' || i, e.user_id, e.course_id, 'manual', 'item-' || i, '', 1, 2, '${time}', 1, '${time}', '${time}'
    from (select user_id, course_id from enrollments limit 1) e, n`)
  database.close()
  const { stdout, stderr } = await local.run('grades report ext:SEA --database many.db')
  const [header = []]: string[][] = parse(stdout)
  expect([header.length, header.at(-1)]).toEqual([8 + 5000, 'item-14999'])
  expect(stderr).toContain(
    'note: The course has more than 5,000 items: those with the first ids are included\n',
  )
})

test('problems of grades are named by line and column', { tags: ['slow'] }, async ({ local }) => {
  await enroll(local, '')
  const book = [
    'learnerId,externalId,gradePercent,passed,Essay (e),Exam (x)',
    ',007,,,50,60',
    '',
    ',S2,,,70,-80',
    ',S9,,,10,20',
    ',S3,,,10,-20',
  ]
  writeFileSync(join(local.cwd, 'book.csv'), `${book.join('\n')}\n`)
  const { code, stderr } = await local.run('grades import book.csv --gradebook ext:SEA')
  expect(code).toBe(2)
  expect(stderr).toContain('book.csv:4, column "Exam (x)": scoreGiven')
  expect(stderr).toContain('book.csv:6, column "Exam (x)": scoreGiven: must be')

  const planned = await local.run(
    'grades import book.csv --gradebook ext:SEA --skip-invalid --dry-run -o json',
  )
  expect(JSON.parse(planned.stdout).map(({ line }: { line: number }) => line)).toEqual([
    2, 2, 4, 4, 5, 5, 6, 6,
  ])

  await local.run('grades import book.csv --gradebook ext:SEA --skip-invalid')
  const errors: Record<string, string>[] = parse(readFileSync(join(local.cwd, 'book.errors.csv'), 'utf8'), {
    columns: true,
  })
  expect(errors.map(({ line, itemId }) => [line, itemId])).toEqual([
    ['4', 'x'],
    ['5', 'e'],
    ['5', 'x'],
    ['6', 'x'],
  ])
})

/** Moodle and Open edX name items by their titles, and only titles that repeat have the id. */
function nameOf(itemId: string): string {
  const label = labels[itemId] ?? itemId
  return itemId === 'quiz' ? label : `${label} (${itemId})`
}

test('a gradebook of another system may have empty cells', { tags: ['slow'] }, async ({ local }) => {
  await enroll(local, '')
  const canvas = [
    'Student,ID,SIS User ID,SIS Login ID,Section,Essay (4711),Exam (4712),Essays Current Score,Final Score',
    ',,,,,Manual Posting,,,',
    '    Points Possible,,,,,20,50,(read only),(read only)',
    '"007, Zoë",12,007,l007@school.example,A,17,EX,85,85',
    '"S2, Zoë",13,,ls2@school.example,A,,25,50,50',
  ]
  writeFileSync(join(local.cwd, 'canvas.csv'), `${canvas.join('\n')}\n`)
  const { code, stderr } = await local.run('grades import canvas.csv --gradebook ext:SEA')
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('note: 1 excused grade left out\n'),
  })
  expect((await gradesOf(local)).sort()).toEqual([
    ['007', '4711', '85'],
    ['S2', '4712', '50'],
  ])
})

test('a file without the columns of a gradebook, or numbers, is refused', async ({ local }) => {
  await enroll(local, '')
  writeFileSync(join(local.cwd, 'long.csv'), 'learnerId,courseId,scoreGiven\next:S2,ext:SEA,5\n')
  expect(await local.run('grades import long.csv --gradebook ext:SEA')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('long.csv is not a gradebook'),
  })
  expect(await local.run('grades import --gradebook ext:SEA --from canvas')).toMatchObject({ code: 2 })
  writeFileSync(
    join(local.cwd, 'bad.csv'),
    'learnerId,externalId,gradePercent,passed,Essay (e)\n,S2,,,good\n',
  )
  expect((await ran(local, 'grades import bad.csv --gradebook ext:SEA', 2)).stderr).toContain(
    'bad.csv:2: "Essay (e)" must be a number, not "good"',
  )
})
