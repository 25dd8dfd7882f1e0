import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type TestCli, test, testCli } from '../helpers/cli.ts'
import { allRows, putNewAcademy } from '../helpers/new-academy.ts'
import { expectClearError } from '../helpers/result.ts'

/**
 * The program with an academy that has a published course and a learner with 60 % progress since 10 February. All tests
 * share it, because refused commands change nothing.
 */
let school: TestCli

beforeAll(async () => {
  school = testCli({ env: { LEARNCTL_DATABASE: 'academy.db' } })
  await putNewAcademy(join(school.cwd, 'academy.db'))
  await school.run('courses create --title Sea --external-id sea --status published')
  await school.run('courses create --title Land --external-id land')
  await school.run('users create --email ada@school.example --external-id S-1')
  await school.run(`${progress} 60 --last-accessed 2026-02-10T08:00:00Z`)
})

afterAll(() => school.remove())

const progress = 'progress set ext:S-1 --course ext:sea --completion'

describe('wrong input is refused in one line, and nothing is changed:', () => {
  test.for<[line: string, exit: number, error: string | RegExp, stdin?: string]>([
    // The command line itself.
    ['users import --file u.csv', 2, 'Cannot read u.csv: file not found'],
    ['courses create --title', 2, '--title'],
    ['courses create', 2, '--title is required'],
    ['courses get', 2, '<course> is required'],
    ['progress set ext:S-1', 2, '--course, --completion are required'],
    ['lessons create --title x --no-input', 2, '--course is required'],
    ['courses diff ext:sea sea.yaml', 2, 'hint: To name a file: learnctl courses diff --file <file>'],
    ['courses delete ext:sea', 2, 'hint: Confirm with --yes'],
    ['courses list --limit 0', 2, '--limit must be a whole number, 1 or more, not "0"'],
    ['courses list --limit abc', 2, '--limit must be a whole number, 1 or more, not "abc"'],
    ['courses list --all --limit 3', 2, '--all and --limit cannot be used together'],
    ['courses list --url https://school.example --database x.db', 2, 'cannot be used together'],

    // Values.
    [`${progress} 101`, 2, 'error: --completion must be at most 100, not 101\n'],
    [`${progress} -1`, 2, 'error: --completion must be at least 0, not -1\n'],
    [`${progress} 50%`, 2, /--completion must be a number, not "50%"\n {2}hint: .* 50\n/],
    [`${progress} NaN`, 2, '--completion must be a number, not "NaN"'],
    [
      'progress set ext:S-1 --body -',
      2,
      'completionPercentage must be a number',
      '{"courseId":"ext:sea","completionPercentage":"50"}',
    ],
    ['progress set ext:S-1 --body -', 2, 'Standard input:1:13: not JSON', '{"courseId":}'],
    ['progress set ext:S-1 --body course.yaml', 2, 'hint: To read the file course.yaml: --body @course.yaml'],
    ["progress set ext:S-1 --body '{}'", 2, 'hint: Pipe the document: … | learnctl … --body -'],
    [
      'progress set ext:S-1 --body -',
      2,
      /lastAcessed.*lastAccessed/,
      '{"courseId":"ext:sea","completionPercentage":5,"lastAcessed":"2026-02-28T00:00:00Z"}',
    ],
    [
      `${progress} 90 --last-accessed 2026-03-01T12:06:00Z`,
      2,
      'error: --last-accessed cannot be in the future',
    ],
    [`${progress} 90 --last-accessed 2026-02-30T12:00:00Z`, 2, 'a day that exists'],
    ['users create --email ada', 2, 'email must be an e-mail address'],

    // Existing or missing records and files.
    ['progress set ext:S-1 --course ext:none --completion 5', 3, 'Course ext:none not found'],
    ['progress set ext:S-2 --course ext:sea --completion 5', 3, /User ext:S-2 not found/],
    ['courses get ext:none', 3, 'Course ext:none not found'],
    [
      'users create --email ADA@School.Example',
      6,
      /A user with email ADA@School.Example already exists: usr_\w+ \(active\)/,
    ],
    ['courses create --title x --external-id sea', 6, /already exists/],
    [`${progress} 90 --last-accessed 2026-02-10T07:59:59Z`, 6, 'The stored progress is newer'],
    [
      'courses unpublish ext:sea',
      6,
      /Course Sea cannot become draft while learners have progress.*\n {2}hint: .* learnctl courses archive ext:sea\n/,
    ],
    ['courses delete ext:sea --yes', 6, 'The course has learner progress or grades.'],
    ['courses update ext:sea --title x --if-version 7', 6, 'The current version is 1'],
    ['courses archive ext:sea --if-version 7', 6, 'The current version is 1'],
    ['users update email:admin@academy.local --status suspended', 6, /last.*admin|admin.*last/i],
  ])('%s', async ([line, exit, error, stdin]) => {
    const before = allRows(join(school.cwd, 'academy.db'))
    expectClearError(await school.run(line, stdin === undefined ? {} : { stdin }), exit, error)
    expect(allRows(join(school.cwd, 'academy.db'))).toEqual(before)
  })
})

describe('the configuration', () => {
  test('that is damaged is named, and stays as it is, whatever is asked for', async ({ cli }) => {
    const file = join(cli.config, 'profiles.json')
    mkdirSync(cli.config, { recursive: true })
    writeFileSync(file, '{"version":1,"profiles":{"school":')
    for (const line of [
      'courses list',
      'profiles list',
      'profiles add x --database x.db',
      'quickstart',
      'auth status',
    ]) {
      expectClearError(await cli.run(line), 1, `error: ${file} is damaged: it is not JSON\n`)
    }
    expect(readFileSync(file, 'utf8')).toBe('{"version":1,"profiles":{"school":')
    expect(readdirSync(cli.config)).toEqual(['profiles.json'])
    expect(readdirSync(cli.cwd)).toEqual([])
  })

  // Root may write everywhere, so the unwritable directory is a file.
  test('that cannot be written is told when something is to be kept', async ({ cli }) => {
    writeFileSync(join(cli.home, 'blocked'), 'a file')
    const env = { LEARNCTL_CONFIG_DIR: join(cli.home, 'blocked/learnctl') }
    for (const line of ['profiles add x --database x.db', 'quickstart']) {
      expectClearError(await cli.run(line, { env }), 1, /Cannot write .*blocked/)
    }
    expect(readFileSync(join(cli.home, 'blocked'), 'utf8')).toBe('a file')
    expect(readdirSync(cli.cwd)).toEqual([])
    await putNewAcademy(join(cli.cwd, 'x.db'))
    expect(await cli.run('courses list --database x.db', { env })).toMatchObject({ code: 0 })
  })

  test('of the project is named with its line when it is no JSON', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'learnctl.json'), '{"output": json}')
    expectClearError(await cli.run('courses list --database x.db'), 1, 'learnctl.json')
  })
})

describe('a file for an export', () => {
  test('on a full disk is an error, not a short file', async ({ skip }) => {
    if (!statSync('/dev/full', { throwIfNoEntry: false })) return skip('there is no /dev/full here')
    const ran = await school.run('analytics export --file /dev/full')
    expectClearError(ran, 1, 'error: Cannot write /dev/full: the disk is full\n')
    expect(statSync('/dev/full').isCharacterDevice()).toBe(true)
  })

  test.for<[file: string, exit: number, error: string]>([
    ['none/learners.csv', 2, 'Directory none not found'],
    ['../work', 2, '../work is a directory'],
    ['academy.db/learners.csv', 1, 'Cannot write academy.db/learners.csv: ENOTDIR'],
    ['academy.db', 2, 'academy.db already exists'],
  ])('cannot be %s', async ([file, exit, error]) => {
    const before = allRows(join(school.cwd, 'academy.db'))
    expectClearError(await school.run(`analytics export --file ${file}`), exit, `error: ${error}\n`)
    expect(allRows(join(school.cwd, 'academy.db'))).toEqual(before)
    expect(readdirSync(school.cwd).filter((name) => !name.startsWith('academy.db'))).toEqual([])
  })
})

test('an empty database file is never made an academy, whatever is asked for', async ({ cli }) => {
  writeFileSync(join(cli.cwd, 'academy.db'), '')
  const error =
    /error: \S+academy\.db is an empty file, not an academy\n {2}hint: Restore it from a backup, or delete /
  for (const line of ['courses list', 'courses create --title Sea', 'quickstart', 'server start --port 0']) {
    expectClearError(await cli.run(`${line} --database academy.db`), 1, error)
  }
  expect(statSync(join(cli.cwd, 'academy.db')).size).toBe(0)
})

test.for([
  ['courses list'],
  ['courses list -o json'],
  ['courses list -o csv'],
  ['users list --all -o jsonl'],
  ['analytics export'],
  ['analytics export --format json'],
  ['analytics summary'],
  ['server openapi'],
  ['help exit-codes'],
])('%s ends in peace when its reader leaves', async ([line = '']) => {
  expect(await school.run(line, { readerLeavesAfter: 0 })).toEqual({ code: 0, stdout: '', stderr: '' })
})
