import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { beforeEach, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'
import { putQuickstart } from '../../helpers/quickstart.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

beforeEach<{ cli: TestCli }>(async ({ cli }) => {
  await putQuickstart(cli, 'few')
})

async function readParquet(cli: TestCli, name: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(readFileSync(join(cli.cwd, name))).buffer })
}

async function errorOf(cli: TestCli, line: string, tty?: number): Promise<string> {
  const ran = await cli.run(line, { env: { NO_COLOR: '1' }, ...(tty !== undefined && { tty }) })
  expect([ran.code, ran.stdout]).toEqual([2, ''])
  return ran.stderr
}

test('learners become Parquet by file name, with columns of CSV', { tags: ['slow'] }, async ({ cli }) => {
  const { stderr } = await cli.run('analytics export --file learners.parquet')
  const [header, ...lines] = readFileSync(join(cli.cwd, 'learners.csv'), 'utf8').trimEnd().split('\r\n')
  expect(stderr).toContain(`Exported ${lines.length} rows`)
  const rows = await readParquet(cli, 'learners.parquet')
  expect(Object.keys(rows[0] ?? {}).join()).toBe(header)
  expect(rows).toHaveLength(lines.length)
  expect(lines.length).toBeGreaterThan(25)
  expect(rows[0]).toMatchObject({
    email: expect.stringContaining('@'),
    enrolledAt: expect.any(Date),
    completionPercentage: expect.any(Number),
  })
})

test.for(slowRows(['users', 'courses', 'lessons', 'enrollments', 'progress', 'grades', 'terms', 'audit']))(
  '%s export writes Parquet and XLSX',
  async (noun, { cli }) => {
    for (const format of ['parquet', 'xlsx']) {
      const ran = await cli.run(`${noun} export --file all.${format}`)
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/^Exported [\d,]+ rows? to all/)])
    }
    const json = JSON.parse((await cli.run(`${noun} export -o json`)).stdout)
    expect(await readParquet(cli, 'all.parquet')).toHaveLength(json.length)
  },
)

test('a list begins with the signature of its format', async ({ cli }) => {
  expect((await cli.run('courses list -o parquet')).stdout.slice(0, 4)).toBe('PAR1')
  expect((await cli.run('courses list -o xlsx')).stdout.slice(0, 2)).toBe('PK')
  expect((await cli.run('profiles list -o xlsx')).stdout.slice(0, 2)).toBe('PK')
  expect((await cli.run('analytics summary -o parquet')).stdout.slice(0, 4)).toBe('PAR1')
  expect((await cli.run('courses list --search nothing -o parquet')).stdout.slice(0, 4)).toBe('PAR1')
})

test('a terminal shows no file of tables: the hint says how to write one', async ({ cli }) => {
  expect(await errorOf(cli, 'users list -o parquet', 200)).toBe(
    'error: Cannot show parquet on a terminal\n  hint: Redirect it to a file: learnctl users list -o parquet > <name>.parquet\n',
  )
  expect(await errorOf(cli, 'users export --format xlsx', 200)).toContain('Write a file: --file <name>.xlsx')
  const dry = await cli.run('users list -o parquet --dry-run', { tty: 200 })
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('GET ')])
})

test('flags for CSV, compression and commands without rows are refused', async ({ cli }) => {
  for (const [line, message] of [
    ['analytics export -o parquet --bom', '--bom is only supported for CSV, not for parquet'],
    ['users export -o xlsx --raw', '--raw is only supported for CSV, not for xlsx'],
    ['users list -o xlsx --delimiter ";"', '--delimiter is only supported for CSV, not for xlsx'],
    ['users export --file u.parquet.gz', 'Cannot write u.parquet.gz: parquet files are compressed already'],
    ['users export -o csv --file u.xlsx', '--output csv and --file u.xlsx cannot be used together'],
    [
      'users create --email a@b.example -o parquet',
      '--output parquet is not supported by `learnctl users create`',
    ],
    ['users get x -o xlsx', '--output xlsx is not supported by `learnctl users get`'],
    ['analytics statements --file s.parquet', 'Cannot write s.parquet: statements are JSON'],
  ] as const) {
    expect(await errorOf(cli, line)).toContain(`error: ${message}\n`)
  }
  const ran = await cli.run('users list', { env: { LEARNCTL_OUTPUT: 'xlsx' } })
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('LEARNCTL_OUTPUT must be one of')])
})

test('a text that no cell can hold is an error with its place', { tags: ['slow'] }, async ({ cli }) => {
  const block = JSON.stringify({ type: 'text', body: 'x'.repeat(33_000) })
  const made = await cli.run(
    [...['lessons', 'create', '--course', 'first-course', '--title', 'Long'], ...['--body', '-']],
    { stdin: JSON.stringify({ contentBlocks: [JSON.parse(block)] }) },
  )
  expect(made.stderr).not.toContain('error')
  const ran = await cli.run('lessons export --file lessons.xlsx')
  expect(ran.code).toBe(1)
  expect(ran.stderr).toMatch(
    /^error: Cannot write row \d+, column "contentBlocks" as XLSX: the text has [\d,]+ characters/,
  )
  expect(existsSync(join(cli.cwd, 'lessons.xlsx'))).toBe(false)
  expect(readdirSync(cli.cwd).filter((name) => name.endsWith('.part'))).toEqual([])
  expect((await cli.run('lessons export --file lessons.parquet')).code).toBe(0)
})
