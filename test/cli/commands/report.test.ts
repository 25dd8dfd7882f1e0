import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { LearnerRow } from '../../../src/contract/learner-row.ts'
import { test as base, type TestCli } from '../../helpers/cli.ts'
import { putQuickstart } from '../../helpers/quickstart.ts'
import { expectClearError, resultOf } from '../../helpers/result.ts'

/** A program with few learners of quickstart, or with all in `large`, which takes a second to make. */
const test = base
  .extend('school', async ({ cli }): Promise<TestCli> => {
    await putQuickstart(cli, 'few')
    return cli
  })
  .extend('large', async ({ cli }): Promise<TestCli> => {
    await putQuickstart(cli)
    return cli
  })

const autumn = '--start-date 2014-10-01 --end-date 2014-12-31'

/** Runs a report to a file; returns its HTML. */
async function htmlOf(cli: TestCli, flags: string): Promise<string> {
  const ran = await cli.run(`report --file report.html --force ${flags}`)
  expect(ran).toEqual({ code: 0, stdout: '', stderr: 'Wrote report.html\n' })
  return readFileSync(join(cli.cwd, 'report.html'), 'utf8')
}

/** Returns the exported learners. */
async function learnersOf(cli: TestCli): Promise<LearnerRow[]> {
  return JSON.parse((await cli.run('analytics export -o json')).stdout)
}

/** Returns the text of a report, without its markup and styles. */
function textOf(html: string): string {
  return html
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[\u2068\u2069]/g, '')
    .replace(/\s+/g, ' ')
}

describe('report', () => {
  test('has the figures that the exported learners add up to', { tags: ['slow'] }, async ({ large }) => {
    const text = textOf(await htmlOf(large, autumn))
    const rows: LearnerRow[] = await learnersOf(large)
    const graded = rows.filter(({ passed }) => passed !== null)
    const passed = graded.filter(({ passed }) => passed)
    const completed = rows.filter(({ progressStatus }) => progressStatus === 'completed')
    const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)}%`
    expect(graded.length).toBeGreaterThan(500)
    expect(text).toContain(`${completed.length} of ${rows.length}`)
    expect(text).toContain(
      `Completed ${percent(completed.length, rows.length)} Pass rate ${percent(passed.length, graded.length)}`,
    )
    const inTenth = (tenth: number) =>
      graded.filter(({ gradePercent }) => Math.floor((gradePercent ?? 0) / 10) === tenth)
    expect(text).toContain(
      `60–69% ${inTenth(6).length} ${percent(inTenth(6).length, graded.length)} 70–79% ${inTenth(7).length}`,
    )
    const ofCourse = (externalId: string) =>
      rows.filter(({ courseExternalId }) => courseExternalId === externalId)
    const own = ofCourse('AAA-2014J')
    const ownGraded = own.filter(({ passed }) => passed !== null)
    const ownPassed = ownGraded.filter(({ passed }) => passed)
    expect(text).toContain(
      `pass rate in Module AAA, presentation 2014J, the lowest of all courses: ${ownPassed.length} of ${ownGraded.length} graded`,
    )
  })

  test('has the activity of the period, and of the one before', { tags: ['slow'] }, async ({ school }) => {
    const { data } = await resultOf(
      school,
      'api analytics.activity --query by=week --query start_date=2014-10-06 --query end_date=2014-12-28',
    )
    const weeks: { activeLearners: number }[] = data
    const mean = weeks.reduce((sum, { activeLearners }) => sum + activeLearners, 0) / weeks.length
    const text = textOf(await htmlOf(school, '--start-date 2014-10-06 --end-date 2014-12-28'))
    expect(weeks).toHaveLength(12)
    expect(text).toContain(`${Math.round(mean)} active learners in an average week; 1 in the period before.`)
    expect(text).toContain('activity 6 Oct – 28 Dec 2014')
  })

  test('names no learner', async ({ school }) => {
    const html = await htmlOf(school, '--course ext:AAA-2014J')
    const rows: LearnerRow[] = await learnersOf(school)
    const names = rows.flatMap(({ learnerId, email, externalId }) => [learnerId, email, `>${externalId}<`])
    expect(names.filter((name) => html.includes(name))).toEqual([])
  })

  test('is limited to courses, and takes title and language', async ({ school }) => {
    const html = await htmlOf(
      school,
      `--course ext:AAA-2014J ${autumn} --title "Herbst <2014>" --language de`,
    )
    expect(html).toContain('<html lang="de">')
    expect(html).toContain('<title>Herbst &lt;2014&gt;</title>')
    expect(textOf(html)).toContain('1 Kurs · 13 Lernende · Aktivität 01.10.')
    expect(html).not.toContain('2013J')
  })

  test('says that the words of other languages are English', async ({ school }) => {
    const { code, stdout, stderr } = await school.run('report --language pt-br')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'note: The words of the report are in English: those of pt-BR are not available, only dates and numbers\n',
    })
    expect(stdout).toMatch(/^<!DOCTYPE html>\n<html lang="en">.*96,2%/s)
  })

  test('goes to standard output in a pipe, but never to a terminal', async ({ school }) => {
    expect(await school.run('report')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/<\/html>\n$/),
    })
    const { code, stdout, stderr } = await school.run('report', { tty: 80, env: { NO_COLOR: '1' } })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('learnctl report --file report.html')
  })

  test('leaves an existing file without --force, or none at all', { tags: ['slow'] }, async ({ school }) => {
    writeFileSync(join(school.cwd, 'term.html'), 'mine')
    expectClearError(await school.run('report --file term.html'), 2, 'term.html already exists')
    expect(readFileSync(join(school.cwd, 'term.html'), 'utf8')).toBe('mine')
    expectClearError(await school.run('report --file new.html --course ext:none'), 3, 'none')
    expect(existsSync(join(school.cwd, 'new.html'))).toBe(false)
    expect((await school.run('report --file term.html --force')).code).toBe(0)
    await school.run('report --file new.html')
    expect(statSync(join(school.cwd, 'new.html')).mode & 0o777).toBe(0o600)
  })

  test.for([
    ['--language german-', '--language must be a language, such as en, de or pt-BR, not "german-"'],
    ['--language ""', '--language must be a language'],
    ['--title " "', '--title must not be empty'],
    ['--last 30d --end-date 2026-01-31', '--last and --end-date cannot be used together'],
    ['--force', '--force requires --file <path>'],
    ['-o yaml', 'learnctl api analytics.report'],
    ['--start-date 2026-02-01 --end-date 2026-01-01', 'is after'],
  ] as const)('refuses %s', async ([flags, message], { school }) => {
    expectClearError(await school.run(`report ${flags}`), 2, message)
  })

  test('is never written to a file named for another format', { tags: ['slow'] }, async ({ school }) => {
    for (const [name, hint] of [
      ['term.pdf', 'print the page as PDF from any browser'],
      ['term.XLSX', 'learnctl api analytics.report'],
      ['term.html.gz', 'Use a name that ends in .html'],
    ]) {
      expectClearError(await school.run(`report --file ${name}`), 2, hint ?? '')
      expect(existsSync(join(school.cwd, name ?? ''))).toBe(false)
    }
    expect((await school.run('report --file term.2014')).code).toBe(0)
  })
})
