import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'csv-parse/sync'
import stringWidth from 'string-width'
import { describe, expect } from 'vitest'
import { verifyPassword } from '../../../src/server/access/password-hash.ts'
import { test as base, type TestCli, testCli } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { putQuickstart } from '../../helpers/quickstart.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'

const oneHourLater = { now: () => Date.parse('2026-03-01T13:00:00Z') }

/** `made` is a home after quickstart, with its output; `small` is the same with few learners, which is quick to make. */
const test = base
  .extend('made', async ({ task: _ }, { onCleanup }) => {
    const cli = testCli(oneHourLater)
    onCleanup(cli.remove)
    return { cli, ...(await putQuickstart(cli)) }
  })
  .extend('small', async ({ task: _ }, { onCleanup }) => {
    const cli = testCli(oneHourLater)
    onCleanup(cli.remove)
    await putQuickstart(cli, 'few')
    return cli
  })

/** Returns all records of an academy. */
async function contents(cli: TestCli) {
  const lists = ['courses list', 'lessons list', 'users list', 'enrollments list', 'keys list']
  const rows = []
  for (const line of lists) rows.push(await resultOf(cli, `${line} --all`))
  rows.push((await cli.run('analytics export')).stdout)
  return rows
}

/** True if this is the password of the first admin. */
async function opens({ home }: TestCli, password: string): Promise<boolean> {
  const database = new DatabaseSync(join(home, '.local/share/learnctl/local.db'), { readOnly: true })
  const row = database.prepare('select password_hash from users order by rowid limit 1').get()
  database.close()
  return verifyPassword(password, String(row?.['password_hash']))
}

describe('the first time', () => {
  test('makes an academy of real learners, and a summary', { tags: ['slow'] }, async ({ made }) => {
    const { cli, code, stdout, stderr } = made
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const database = join(cli.home, '.local/share/learnctl/local.db')
    expect(stdout).toContain(`Created an academy in ${database}\n`)
    expect(stdout).toContain('Switched to profile local\n')
    expect(stdout).toContain('Added 620 learners with 622 enrolments in 2 courses')
    expect(stdout).toContain('Exported 622 rows to learners.csv\n')
    expect(stdout).toMatch(/^ {4}90–100% +\d+ █+$/m)
    expect(await rowsOf(cli, 'courses list --columns title,status --sort title')).toEqual([
      ['Module AAA, presentation 2013J', 'published'],
      ['Module AAA, presentation 2014J', 'published'],
      ['My first course', 'published'],
    ])
    expect(await rowsOf(cli, 'lessons list --course ext:first-course --columns title')).toHaveLength(2)
    const marks = 'courses list --sort title --columns assessmentCriteria.passingScore'
    expect((await rowsOf(cli, marks)).flat().slice(0, 2)).toEqual(['40', '40'])
    const rows: string[][] = parse(readFileSync(join(cli.cwd, 'learners.csv')))
    expect(rows).toHaveLength(623)
    expect((await cli.run('profiles list --columns name,active,location')).stdout).toBe(
      `local\ttrue\t${database}\n`,
    )
  })

  test('prints commands that work as they stand', { tags: ['slow'] }, async ({ made: { cli, stdout } }) => {
    const [before = '', after = ''] = stdout.split('\nTry next:\n')
    const next = after
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^ {2}learnctl /, ''))
    expect(next).toContain('server start')
    for (const line of next.filter((line) => line !== 'server start')) {
      expect(await cli.run(line), line).toMatchObject({ code: 0 })
    }
    // Repeating the printed commands in an academy without the course gives the same course.
    const typed = [...before.matchAll(/^ {2}\$ learnctl ((?:courses|lessons) .+)$/gm)].map(
      ([, line = '']) => line,
    )
    expect(typed).toHaveLength(4)
    await putNewAcademy(join(cli.cwd, 'other.db'))
    for (const line of typed) {
      expect(await cli.run(`${line} --database other.db`), line).toMatchObject({ code: 0 })
    }
    const lessons = 'lessons list --course ext:first-course --columns title'
    expect(await rowsOf(cli, `${lessons} --database other.db`)).toEqual(await rowsOf(cli, lessons))
  })

  test('prints a password for the dashboard', { tags: ['slow'] }, async ({ made: { cli, stdout } }) => {
    const [, email = '', password = ''] =
      /\nTo sign in .* shown only once\):\n {2}(\S+)\n {2}([a-z0-9-]{23})\n/.exec(stdout) ?? []
    expect(email).toBe('admin@academy.local')
    expect(await opens(cli, password)).toBe(true)
    const again = await cli.run('quickstart')
    expect(again.code).toBe(0)
    expect(again.stdout).not.toContain('shown only once')
    expect(await opens(cli, password)).toBe(true)
  })

  test('leaves another active profile, and names its own', { tags: ['slow'] }, async ({ small: cli }) => {
    rmSync(cli.config, { recursive: true })
    await cli.run('profiles add school --url https://school.example')
    await cli.run('profiles use school')
    const { code, stdout } = await cli.run('quickstart')
    expect(code).toBe(0)
    expect(stdout).toContain('Profile school stays active; use --profile local for this academy\n')
    expect(stdout).toContain('  learnctl --profile local courses list\n')
    expect((await cli.run('profiles list --columns name,active')).stdout).toBe('school\ttrue\nlocal\tfalse\n')
    expect(await cli.run('--profile local courses list')).toMatchObject({ code: 0 })
  })

  test('that cannot make its academy leaves no profile', { tags: ['slow'] }, async ({ small: cli }) => {
    rmSync(cli.config, { recursive: true })
    writeFileSync(join(cli.cwd, 'file'), '')
    const env = { XDG_DATA_HOME: join(cli.cwd, 'file') }
    expect(await cli.run('quickstart', { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('hint: Set XDG_DATA_HOME to a writable directory'),
    })
    expect(await cli.run('profiles list')).toMatchObject({ code: 0, stdout: '' })
    expect(await cli.run('quickstart')).toMatchObject({ code: 0, stderr: '' })
  })

  test('in its own file touches no profile; -o json is one document', { tags: ['slow'] }, async ({ cli }) => {
    const line = 'quickstart --database trial.db'
    expect(await resultOf(cli, line)).toMatchObject({
      created: true,
      export: join(cli.cwd, 'learners.csv'),
      summary: { learners: 620, enrollments: 622 },
      email: 'admin@academy.local',
      password: expect.stringMatching(/^[a-z0-9]{5}(-[a-z0-9]{5}){3}$/),
      next: expect.arrayContaining(['learnctl --database trial.db courses list']),
    })
    expect((await cli.run('profiles list')).stdout).toBe('')
    const again = await resultOf(cli, line)
    expect(Object.keys(again)).toEqual(['database', 'created', 'export', 'summary', 'next'])
    expect((await cli.run(line)).stdout).toContain('  learnctl --database trial.db courses list\n')
  })
})

describe('the second time', () => {
  test('says what is there, and changes nothing', { tags: ['slow'] }, async ({ made: { cli } }) => {
    const before = await contents(cli)
    writeFileSync(join(cli.cwd, 'learners.csv'), 'mine')
    const { code, stdout, stderr } = await cli.run('quickstart')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Found an academy in .+\n/)
    expect(stdout).toContain('The 620 example learners already exist')
    expect(stdout).toContain('Course ext:first-course already exists')
    expect(stdout).toContain('learners.csv already exists and is kept')
    expect(readFileSync(join(cli.cwd, 'learners.csv'), 'utf8')).toBe('mine')
    expect(await contents(cli)).toEqual(before)
  })

  test('restores a course that was deleted', { tags: ['slow'] }, async ({ cli }) => {
    await putQuickstart(cli, 'few')
    expect(await cli.run('courses delete ext:first-course --force --yes')).toMatchObject({ code: 0 })
    const { code, stdout } = await cli.run('quickstart')
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('courses restore crs_'),
    })
    expect(await rowsOf(cli, 'courses list --search "My first" --columns status')).toEqual([['published']])
  })

  test('goes on where the first was broken off, in 80 columns', { tags: ['slow'] }, async ({ cli }) => {
    await cli.run('profiles add local --database academy.db')
    await cli.run('courses create --title "Module AAA, presentation 2013J" --external-id AAA-2013J')
    await cli.run('users create --email oulad-11391@example.org --external-id 11391')
    await cli.run('enrollments create --course ext:AAA-2013J --user ext:11391')
    const { code, stdout } = await cli.run('quickstart --color never', { tty: 80 })
    expect(code).toBe(0)
    const lines = stdout.split('\n').filter((line) => !line.includes(cli.home))
    const sentences = lines.filter((line) => !line.startsWith('  $ '))
    for (const line of sentences) expect(stringWidth(line)).toBeLessThanOrEqual(80)
    expect(lines).toContain(
      '  $ learnctl lessons create --course ext:first-course --title "How it works" --external-id how-it-works',
    )
    const { summary } = await resultOf(cli, 'analytics summary')
    expect(summary).toMatchObject({ learners: 620, enrollments: 622, completed: 580 })
    expect(await rowsOf(cli, 'courses list --status draft')).toEqual([])
  })
})

test('has no dry run, and says so', async ({ cli }) => {
  const { code, stdout, stderr } = await cli.run('quickstart --dry-run')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^error: --dry-run is not supported by `learnctl quickstart`\n/)
  expect(await cli.run('quickstart', { env: { LEARNCTL_DRY_RUN: '1' } })).toMatchObject({
    code: 2,
    stdout: '',
  })
  expect(readdirSync(cli.home)).toEqual(['work'])
})

test('is refused where the profile local is a platform elsewhere', async ({ cli }) => {
  await cli.run('profiles add local --url https://school.example')
  const { code, stdout, stderr } = await cli.run('quickstart')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('hint: Choose a file for the academy: learnctl quickstart --database ./academy.db')
})
