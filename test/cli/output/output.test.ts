import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseCsv } from 'csv-parse/sync'
import { describe, expect } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { openAcademy } from '../../../src/server/academy/local-academy.ts'
import { test, testCli } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'
import { fetchOf, transportOf } from '../../helpers/web.ts'

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
    `Sea, "deep"\tdraft\tbeginner\t1\t${course.updatedAt}\t\t${course.id}\n`,
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

  test('takes the last step of a path for it, in every format', async ({ local }) => {
    await local.run('users create --email ada@school.example --first-name Ada')
    const list = 'users list --role learner --columns firstName'
    expect((await local.run(list)).stdout).toBe('Ada\n')
    expect((await local.run(`${list} -o csv`)).stdout).toBe('firstName\r\nAda\r\n')
    expect((await local.run(`${list} -o jsonl`)).stdout).toBe('{"profile":{"firstName":"Ada"}}\n')
    expect((await local.run(list, { tty: 80, env: { NO_COLOR: '1' } })).stdout).toBe('firstName\nAda\n')
  })

  test('with a name that several fields have lists them all', async ({ local }) => {
    expect(await local.run('courses list --columns title,enabled')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: "enabled" matches 2 columns\n' +
        '  Columns: adaptiveDifficulty.enabled, progressTracking.enabled\n' +
        '  hint: Use the full name: --columns adaptiveDifficulty.enabled\n',
    })
  })

  test('with an unknown name lists the valid ones, before anything is done', async ({ local }) => {
    const { stderr } = await ran(local, 'courses create --title Go --columns id,titel', 2)
    expect(stderr).toContain('Columns: id, externalId, title,')
    expect((await local.run('courses list -q')).stdout).toBe('')
  })
})

test('columns of a project file are taken by the commands that have them', async ({ local }) => {
  await local.run('courses create --title Go --external-id go')
  writeFileSync(join(local.cwd, 'learnctl.json'), '{"columns": ["title", "email"]}')
  expect((await local.run('courses list')).stdout).toBe('Go\n')
  expect((await local.run('courses versions ext:go')).stdout).toMatch(/^1\t/)
  expect(await local.run('courses list', { env: { LEARNCTL_COLUMNS: 'title,email' } })).toMatchObject({
    code: 2,
  })
})

test('a CSV has a column for each field, also of objects; lists are JSON in one cell', async ({ local }) => {
  await local.run('users create --email ada@school.example --first-name Ada --last-name Lovelace')
  const users = parseCsv((await local.run('users list --role learner -o csv')).stdout, { columns: true })
  expect(users).toMatchObject([{ email: 'ada@school.example', firstName: 'Ada', lastName: 'Lovelace' }])
  expect(users[0]).toMatchObject({ pace: '', 'profile.learningPreferences.notifications.email': 'true' })
  expect(users[0]).not.toHaveProperty('profile')

  await local.run(['courses', 'create', '--title', 'Go', '--tags', 'a,b'])
  const [course] = parseCsv((await local.run('courses list -o csv')).stdout, { columns: true })
  expect(course).toMatchObject({
    passingScore: '70',
    'progressTracking.enabled': 'true',
    'adaptiveDifficulty.enabled': 'false',
    tags: '["a","b"]',
  })
})

test('a CSV has columns for undeclared fields as well', async ({ options }) => {
  const data = [
    { id: '1', score: { math: 3, art: null } },
    { id: '2', score: { math: 4, art: { best: 1 } } },
  ]
  const cli = testCli({ ...options, transport: transportOf(() => Response.json({ data, nextCursor: null })) })
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'k' }
  expect((await cli.run('api GET /v1/things --all -o csv', { env })).stdout).toBe(
    'id,math,best\r\n1,3,\r\n2,4,1\r\n',
  )
  cli.remove()
})

test('a CSV says which fields came too late for its header', async ({ options }) => {
  const pages = [
    { data: [{ id: '1' }], nextCursor: 'c' },
    { data: [{ id: '2', extra: 'x' }], nextCursor: null },
  ]
  const answer = ({ url }: { url: string }) =>
    url.includes('/v1/courses') ? Response.json(pages.shift()) : new Response(null, { status: 404 })
  const cli = testCli({ ...options, transport: transportOf(answer) })
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'k' }
  const { stdout, stderr } = await ran(cli, 'courses list --all -o csv', 0, { env })
  expect(parseCsv(stdout, { columns: true })).toMatchObject([{ id: '1' }, { id: '2' }])
  expect(stderr).toBe(
    'note: Later items have fields that are missing from this CSV: extra; use --columns or -o json\n',
  )
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
      stderr: expect.stringContaining('--quiet is not supported here: the result has no id'),
    })
  })
})

describe('a list', () => {
  test('is cut at --limit, and says so', async ({ local }) => {
    for (const title of ['A', 'B', 'C']) await local.run(`courses create --title ${title}`)
    const cut = await local.run('courses list --limit 2 --sort title --columns title')
    expect(cut).toEqual({
      code: 0,
      stdout: 'A\nB\n',
      stderr: 'note: Showing the first 2; use --all for the rest\n',
    })
    expect(await local.run('courses list --limit 3 --columns title --sort title')).toMatchObject({
      stdout: 'A\nB\nC\n',
      stderr: '',
    })
  })

  test('with --all is one document over many pages', { tags: ['slow'] }, async ({ local }) => {
    const count = 230
    const academy = await openAcademy({ path: join(local.cwd, 'academy.db') })
    const post = fetchOf(academy.transport)
    for (let index = 0; index < count; index += 1) {
      const body = JSON.stringify({ title: `N${index}` })
      const headers = { 'content-type': 'application/json' }
      await post(new Request('http://localhost/v1/courses', { method: 'POST', headers, body }))
    }
    await academy.close()
    const all = await local.run('courses list --all -o json')
    expect(JSON.parse(all.stdout)).toHaveLength(count)
    expect(all.stderr).toBe('')
    const some = await local.run('courses list --limit 150 -o jsonl')
    expect(some.stdout.split('\n')).toHaveLength(151)
    expect(some.stderr).toContain('Showing the first 150;')
    const plain = await local.run('courses list -q')
    expect(plain.stdout.split('\n')).toHaveLength(21)
  })
})

describe('text of a server', () => {
  test('is obeyed by no terminal; a pipe gets it exactly', { tags: ['slow'] }, async ({ local }) => {
    const title = '\u001b]0;owned\u0007\u009b31m\u202etxt\u2028end'
    await local.run(['courses', 'create', '--title', title, '--external-id', 'sea'])
    await local.run('users create --email ada@school.example')
    await local.run('enrollments create --course ext:sea --user email:ada@school.example')
    for (const words of ['courses list', 'courses get ext:sea', 'analytics export']) {
      for (const format of ['table', 'csv', 'json', 'jsonl', 'yaml']) {
        const { stdout } = await local.run(`${words} --color never -o ${format}`, { tty: 200 })
        expect(stdout, `${words} ${format}`).toContain('owned')
        expect(stdout, `${words} ${format}`).not.toMatch(/[^\P{Cc}\r\n]|[\u202e\u2028]/u)
      }
      expect(JSON.stringify(parseYaml((await local.run(`${words} -o yaml`)).stdout))).toContain(
        JSON.stringify(title),
      )
      const onTerminal = await local.run(`${words} -o json`, { tty: 80 })
      expect(JSON.stringify(JSON.parse(onTerminal.stdout))).toContain(JSON.stringify(title))
    }
    for (const words of ['api GET /v1/courses', 'api GET /v1/courses --all', 'api GET /v1/courses/ext:sea']) {
      expect((await local.run(words, { tty: 200 })).stdout, words).not.toMatch(
        /[^\P{Cc}\r\n]|[\u202e\u2028]/u,
      )
    }
    const { stdout } = await local.run('courses list --columns title -o csv')
    expect(stdout).toBe(`title\r\n"${title}"\r\n`)
    expect((await local.run('analytics export --columns courseTitle')).stdout).toBe(
      `courseTitle\r\n"${title}"\r\n`,
    )
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
    expect(plain.stdout).toMatch(/^title +status/)
    expect(plain.stdout).not.toContain('\u001b')
  })

  test('is told which columns have no room, and shows them where there is', async ({ local }) => {
    await local.run(['courses', 'create', '--title', 'Marine biology for absolute beginners'])
    const narrow = await local.run('courses list --color never', { tty: 80 })
    expect(narrow.stdout).toMatch(/^title +status +id\n/)
    expect(narrow.stderr).toBe(
      'note: 4 columns hidden: difficulty, version, updatedAt, externalId; use --columns or a wider terminal\n',
    )
    const wide = await local.run('courses list --color never', { tty: 200 })
    expect(wide.stdout).toMatch(/^title +status +difficulty +version +updatedAt +externalId +id\n/)
    expect(wide.stderr).toBe('')
    expect((await local.run('courses list')).stderr).toBe('')
  })

  test('shows of one thing what is set', async ({ local }) => {
    const { stdout } = await local.run('users me --color never', { tty: 80 })
    expect(stdout).toMatch(/^email {7}\S+@\S+$/m)
    expect(stdout).toMatch(/^scopes {6}read, write, admin$/m)
    expect(stdout).not.toMatch(/externalId|firstName|bio/)
    expect(JSON.parse((await local.run('users me -o json')).stdout)).toMatchObject({ externalId: null })
  })

  test('is told that nothing was found', async ({ local }) => {
    expect(await local.run('courses list', { tty: 80 })).toMatchObject({
      stdout: '',
      stderr: 'note: No results\n',
    })
  })
})
