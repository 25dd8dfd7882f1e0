import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseCsv } from 'csv-parse/sync'
import { describe, expect } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { test, testCli } from '../../helpers/cli.ts'
import { transportOf } from '../../helpers/web.ts'

test('an empty list is empty in every format', async ({ local }) => {
  expect((await local.run('courses list')).stdout).toBe('')
  expect((await local.run('courses list -o json')).stdout).toBe('[]\n')
  expect((await local.run('courses list -o jsonl')).stdout).toBe('')
  expect((await local.run('courses list -o yaml')).stdout).toBe('[]\n')
  expect((await local.run('courses list -o csv')).stdout).toMatch(/^id,externalId,title,[^\n]*\r\n$/)
  expect((await local.run('courses list -o csv --columns title,id')).stdout).toBe('title,id\r\n')
})

test('one thing is the resource in every format', async ({ local }) => {
  const made = await local.run(['courses', 'create', '--title', 'Sea, "deep"', '--tags', 'a,b', '-o', 'json'])
  const course = JSON.parse(made.stdout)
  expect(course).toMatchObject({ title: 'Sea, "deep"', tags: ['a', 'b'], status: 'draft' })
  const shown = (format: string) => local.run(`courses get ${course.id} -o ${format}`)
  expect(JSON.parse((await shown('jsonl')).stdout)).toEqual(course)
  expect(parseYaml((await shown('yaml')).stdout)).toEqual(course)
  expect(parseCsv((await shown('csv')).stdout, { columns: true })).toMatchObject([
    { id: course.id, title: 'Sea, "deep"', tags: '["a","b"]', language: '', version: '1' },
  ])
  expect((await shown('table')).stdout).toBe(
    `${course.id}\tSea, "deep"\tbeginner\tdraft\t1\t${course.updatedAt}\n`,
  )
})

describe('--columns', () => {
  test('chooses and orders, nested fields as well', async ({ local }) => {
    await local.run('courses create --title Go --passing-score 55')
    const columns = '--columns status,assessmentCriteria.passingScore,title'
    expect((await local.run(`courses list ${columns}`)).stdout).toBe('draft\t55\tGo\n')
    expect((await local.run(`courses list ${columns} -o csv`)).stdout).toBe(
      'status,assessmentCriteria.passingScore,title\r\ndraft,55,Go\r\n',
    )
    expect((await local.run(`courses list ${columns} -o jsonl`)).stdout).toBe(
      '{"status":"draft","assessmentCriteria":{"passingScore":55},"title":"Go"}\n',
    )
  })

  test('with an unknown name lists the valid ones, before anything is done', async ({ local }) => {
    const { code, stderr } = await local.run('courses create --title Go --columns id,titel')
    expect(code).toBe(2)
    expect(stderr).toContain('columns: id, externalId, title,')
    expect((await local.run('courses list -q')).stdout).toBe('')
  })
})

describe('columns of a project file', () => {
  test('are taken by the commands that have them', async ({ local }) => {
    await local.run('courses create --title Go --external-id go')
    writeFileSync(join(local.cwd, 'learnctl.json'), '{"columns": ["title", "email"]}')
    expect((await local.run('courses list')).stdout).toBe('Go\n')
    expect((await local.run('courses versions ext:go')).stdout).toMatch(/^1\t/)
    expect(await local.run('courses list', { env: { LEARNCTL_COLUMNS: 'title,email' } })).toMatchObject({
      code: 2,
    })
  })
})

test('a CSV says which fields came too late for its header', async ({ options }) => {
  const pages = [
    { data: [{ id: '1' }], nextCursor: 'c' },
    { data: [{ id: '2', extra: 'x' }], nextCursor: null },
  ]
  const cli = testCli({ ...options, transport: transportOf(() => Response.json(pages.shift())) })
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'k' }
  const { code, stdout, stderr } = await cli.run('courses list --all -o csv', { env })
  expect(code).toBe(0)
  expect(parseCsv(stdout, { columns: true })).toMatchObject([{ id: '1' }, { id: '2' }])
  expect(stderr).toBe('note: later items have more fields, which are not in this CSV: extra\n')
  cli.remove()
})

describe('--quiet', () => {
  test('prints ids, one a line', async ({ local }) => {
    const one = await local.run('courses create --title One -q')
    const two = await local.run('courses create --title Two -q')
    expect(one.stdout).toMatch(/^crs_\w+\n$/)
    expect((await local.run('courses list -q --sort title')).stdout).toBe(one.stdout + two.stdout)
  })

  test('is refused where nothing has an id', async ({ local }) => {
    expect(await local.run('courses versions crs_1 -q')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('nothing here has one'),
    })
  })
})

describe('a list', () => {
  test('is cut at --limit, and says so', async ({ local }) => {
    for (const title of ['A', 'B', 'C']) await local.run(`courses create --title ${title}`)
    const cut = await local.run('courses list --limit 2 --sort title --columns title')
    expect(cut).toEqual({ code: 0, stdout: 'A\nB\n', stderr: 'note: 2 shown, more exist: --all\n' })
    expect(await local.run('courses list --limit 3 --columns title --sort title')).toMatchObject({
      stdout: 'A\nB\nC\n',
      stderr: '',
    })
  })

  test('with --all is one document over many pages', async ({ local }) => {
    const count = 230
    const items = Array.from({ length: count }, (_, index) =>
      local.run(`courses create --title N${index} -q`),
    )
    await Promise.all(items)
    const all = await local.run('courses list --all -o json')
    expect(JSON.parse(all.stdout)).toHaveLength(count)
    expect(all.stderr).toBe('')
    const some = await local.run('courses list --limit 150 -o jsonl')
    expect(some.stdout.split('\n')).toHaveLength(151)
    expect(some.stderr).toContain('150 shown, more exist')
    const plain = await local.run('courses list -q')
    expect(plain.stdout.split('\n')).toHaveLength(21)
  }, 30_000)

  test('of a flag is not cut by a limit of the environment', async ({ local }) => {
    await local.run('courses create --title A')
    await local.run('courses create --title B')
    const { stdout } = await local.run('courses list --all -q', { env: { LEARNCTL_LIMIT: '1' } })
    expect(stdout.split('\n')).toHaveLength(3)
  })
})

describe('text of a server', () => {
  const hostile = '\u001b[31mred\u0007\ttab\nline'

  test('is shown escaped in tables', async ({ local }) => {
    await local.run(['courses', 'create', '--title', hostile])
    const escaped = '\\x1b[31mred\\x07\\ttab\\nline'
    expect((await local.run('courses list --columns title')).stdout).toBe(`${escaped}\n`)
    const { stdout } = await local.run('courses list --columns title', { tty: 100, env: { NO_COLOR: '1' } })
    expect(stdout).toContain(escaped)
  })

  test('is shown escaped in errors', async ({ local }) => {
    const { stderr } = await local.run(['courses', 'get', 'ext:\u001b[2Jx'])
    expect(stderr).toContain('\\x1b[2Jx')
    expect(stderr).not.toContain('\u001b')
  })
})

describe('a terminal', () => {
  test('gets a head and colour, unless NO_COLOR is set', async ({ local }) => {
    await local.run('courses create --title Go')
    const coloured = await local.run('courses list', { tty: 100 })
    expect(coloured.stdout).toContain('\u001b[1mtitle\u001b[22m')
    const plain = await local.run('courses list', { tty: 100, env: { NO_COLOR: '1' } })
    expect(plain.stdout).toMatch(/^id +title/)
    expect(plain.stdout).not.toContain('\u001b')
  })

  test('is told that nothing was found', async ({ local }) => {
    expect(await local.run('courses list', { tty: 80 })).toMatchObject({
      stdout: '',
      stderr: 'note: nothing found\n',
    })
  })
})

test('a reader that leaves ends the run quietly', async ({ local }) => {
  await local.run('courses create --title Go')
  expect(await local.run('courses list -o json', { readerLeavesAfter: 1 })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(await local.run('--help', { readerLeavesAfter: 1 })).toEqual({ code: 0, stdout: '', stderr: '' })
})
