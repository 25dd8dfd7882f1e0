import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses create --title "=1+1; and more" --external-id SEA --passing-score 62.5')
  await local.run('users create --email ada@school.example --external-id 1')
  await local.run('progress set 1 --course SEA --completion 12.5')
})

async function stdout(cli: TestCli, line: string): Promise<string> {
  return (await ran(cli, line)).stdout
}

test('a list has semicolons, quotes, the guard and decimal commas', { tags: ['slow'] }, async ({ local }) => {
  expect(
    await stdout(
      local,
      'courses list -o csv --delimiter ";" --columns title,externalId,assessmentCriteria.passingScore',
    ),
  ).toBe(`title;externalId;assessmentCriteria.passingScore\r\n"'=1+1; and more";SEA;62,5\r\n`)
})

test.for(['tab', '\\t'])('--delimiter %s separates by tabs, with decimal points', async (tab, { local }) => {
  expect(
    await stdout(
      local,
      `courses list -o csv --delimiter '${tab}' --columns externalId,assessmentCriteria.passingScore`,
    ),
  ).toBe('externalId\tassessmentCriteria.passingScore\r\nSEA\t62.5\r\n')
})

test('learner data has the same columns with any delimiter', async ({ local }) => {
  const plain = await stdout(local, 'analytics export')
  const [header = '', row = ''] = (await stdout(local, 'analytics export --delimiter ";"')).split('\r\n')
  expect(header.split(';')).toEqual(plain.split('\r\n')[0]?.split(','))
  expect(row).toContain(';12,5;')
  expect(row).toContain(`;"'=1+1; and more";`)
  const chosen = await stdout(
    local,
    'analytics export --delimiter ";" --bom --columns email,completionPercentage',
  )
  expect(chosen).toBe('\ufeffemail;completionPercentage\r\nada@school.example;12,5\r\n')
})

test('an export with semicolons is imported without a flag', { tags: ['slow'] }, async ({ local }) => {
  for (const noun of ['courses', 'progress']) {
    await stdout(local, `${noun} export --delimiter ";" --file ${noun}.csv`)
    expect(readFileSync(join(local.cwd, `${noun}.csv`), 'utf8').split('\r\n')[0]).toContain(';')
    expect((await local.run(`${noun} import ${noun}.csv`)).stderr).toMatch(/: 1 unchanged\n/)
  }
  const text = readFileSync(join(local.cwd, 'courses.csv'), 'utf8').replace('62,5', '70,25')
  writeFileSync(join(local.cwd, 'courses.csv'), text)
  await stdout(local, 'courses import courses.csv')
  expect(await stdout(local, 'courses get SEA --columns assessmentCriteria.passingScore')).toBe('70.25\n')
})

test.for([
  ['courses list --delimiter ";"', '--delimiter is only supported for CSV, not for table'],
  ['courses list -o json --delimiter ";"', '--delimiter is only supported for CSV, not for json'],
  ['users export --format jsonl --delimiter ";"', '--delimiter is only supported for CSV, not for jsonl'],
  ['courses list -o csv --delimiter x', '--delimiter must be a comma, ; or tab, not "x"'],
])('%s is refused', async ([line = '', message = ''], { local }) => {
  expect((await ran(local, line, 2)).stderr).toContain(message)
})
