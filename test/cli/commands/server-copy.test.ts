import { join } from 'node:path'
import { expect } from 'vitest'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import { type TestCli, test } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran } from '../../helpers/result.ts'
import { serve } from './serving.ts'

const line = 'server copy --from academy.db --to copy.db'

/** Makes an academy with a course. */
async function academyIn(cli: TestCli): Promise<void> {
  await putNewAcademy(join(cli.cwd, 'academy.db'))
  await cli.run('courses create --title Sea --database academy.db')
}

test('copies an academy, and says how much', { tags: ['slow'] }, async ({ cli }) => {
  await academyIn(cli)
  const { code, stdout, stderr } = await cli.run(line)
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(/^Copied \S+academy\.db to \S+copy\.db \(\d+ rows in \d+ tables, compared\)\n$/)
  const list = (name: string) => cli.run(`courses list -o json --database ${name}`)
  expect((await list('copy.db')).stdout).toBe((await list('academy.db')).stdout)
  expect((await list('copy.db')).stdout).toContain('Sea')
  const { stdout: shown } = await cli.run('server copy --from academy.db --to second.db -o json')
  const { tables, ...summary } = JSON.parse(shown)
  const [from, to] = [join(cli.cwd, 'academy.db'), join(cli.cwd, 'second.db')]
  expect(summary).toEqual({ from, to, rows: expect.any(Number) })
  expect(tables).toContainEqual({ name: 'courses', rows: 1 })
})

test('copies nothing to an academy that is in use, and says what it holds', async ({ cli }) => {
  await academyIn(cli)
  await putNewAcademy(join(cli.cwd, 'copy.db'))
  await cli.run('users create --email ada@example.org --database copy.db')
  expect(await cli.run(line)).toEqual({
    code: 6,
    stdout: '',
    stderr: `error: ${cli.cwd}/copy.db is not empty: it holds 2 users\n  hint: Copy to a file that does not exist, or to an empty database\n`,
  })
})

test.for([
  ['server copy --from none.db --to copy.db', 3, 'Database not found: '],
  ['server copy --from academy.db --to academy.db', 2, '--from and --to must be different databases'],
  ['server copy --from academy.db --to ""', 2, '--to must be a file or a PostgreSQL URL, not empty'],
  ['server copy --from academy.db', 2, '--to is required'],
  ['server copy --from academy.db --to copy.db --database other.db', 2, '--database'],
] as const)('%s is refused', async ([words, exit, told], { cli }) => {
  await academyIn(cli)
  const { code, stderr } = await cli.run(words)
  expect(stderr).toContain(told)
  expect(code).toBe(exit)
})

test('refuses an academy that is served, by its process', { tags: ['slow'] }, async ({ cli }) => {
  await academyIn(cli)
  const { stop } = await serve(cli, '--database academy.db')
  const { code, stderr } = await cli.run(line)
  expect(code).toBe(6)
  expect(stderr).toContain(`process ${process.pid}`)
  expect(stderr).toContain(`hint: Stop it first: learnctl server stop --database ${cli.cwd}/academy.db`)
  await stop()
  expect(await cli.run(line)).toMatchObject({ code: 0 })
})

test('an interrupted copy leaves nothing, and is made again', { tags: ['slow'] }, async ({ cli }) => {
  await academyIn(cli)
  const signal = AbortSignal.abort(new InterruptedError('SIGINT'))
  expect(await cli.run(line, { signal })).toMatchObject({ code: 130 })
  expect((await cli.run('courses list -o json --database copy.db')).stdout).toBe('[]\n')
  expect(await cli.run(line)).toMatchObject({ code: 0 })
  expect((await cli.run('courses list --database copy.db')).stdout).toContain('Sea')
})

test('a dry run copies nothing', async ({ cli }) => {
  await academyIn(cli)
  expect((await ran(cli, `${line} --dry-run`, 0)).stderr).toContain('Would copy')
  expect(await cli.run('server copy --from copy.db --to other.db')).toMatchObject({ code: 3 })
})
