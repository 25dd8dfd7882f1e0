import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestCli, testCli } from '../../helpers/cli.ts'
import { testWithFilled } from '../../helpers/filled-academy.ts'
import { McpProcess } from '../../helpers/mcp-client.ts'
import { start } from '../../helpers/new-academy.ts'

/** Words that identify the people of the school. */
const identities = /Ada|Lovelace|Byron|ada@|school\.example|S-815|Grace|Hopper|S-816|usr_/

async function fill(cli: TestCli): Promise<void> {
  for (const line of [
    'courses create --title Sea --external-id sea --status published',
    'users create --email ada@school.example --external-id S-815 --first-name Ada --last-name "Lovelace Byron"',
    'users create --email grace@school.example --external-id S-816 --first-name Grace --last-name Hopper',
    'enrollments create --course ext:sea --user ext:S-815',
    'enrollments create --course ext:sea --user ext:S-816',
    'groups create --name 5b --external-id 5b',
    'groups members add 5b ext:S-815',
    'progress set ext:S-815 --course ext:sea --completion 75',
    'grades set ext:S-815 --course ext:sea --item exam --score 16 --maximum 20 --label "Exam"',
    'users update ext:S-816 --last-name Hopper-Murray',
  ]) {
    const { code, stderr } = await cli.run(line)
    expect(code, line + stderr).toBe(0)
  }
}

const test = testWithFilled(fill, true)
  .extend('options', async () => {
    // Each change gets its own time, so that one of them is the last.
    let ms = Date.parse(start) + 60_000
    return {
      now: () => {
        ms += 1
        return ms
      },
    }
  })
  .extend('school', async ({ local }) => local)
  .extend('mcp', async ({ school }, { onCleanup }) => {
    const mcp = new McpProcess(school, ['--allow-writes'])
    onCleanup(async () => {
      await mcp.end()
    })
    return mcp
  })

/** Returns the records in a result. */
function recordsIn(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
}

test('no result names a person', { tags: ['slow'] }, async ({ mcp, school }) => {
  const entry = await school.run('audit list --noun user --limit 1 -q')
  const enrolment = await school.run('enrollments list --user ext:S-815 -q')
  for (const line of [
    'users list',
    'users list --columns firstName,lastName,email,externalId,id',
    'users export',
    'users get ext:S-815',
    'users get email:ada@school.example',
    'users get S-81',
    'users get ad@school.example',
    'users list --search Lovelace',
    'users me',
    'enrollments list',
    'enrollments export',
    'enrollments get --user ext:S-815 --course ext:sea',
    `enrollments get ${enrolment.stdout.trim()}`,
    'groups members list 5b',
    'groups members export',
    'progress get ext:S-815',
    'progress history ext:S-815 --course ext:sea',
    'progress export',
    'grades list',
    'grades get ext:S-815 --course ext:sea --item exam',
    'grades history ext:S-815 --course ext:sea --item exam',
    'grades export',
    'grades report ext:sea',
    'analytics export',
    'analytics at-risk --course ext:sea',
    'analytics summary --learner ext:S-815',
    'audit list',
    `audit get ${entry.stdout.trim()}`,
    'undo list',
    // Errors name what is wrong.
    'users get ext:S-81',
    'users get email:ada@school.exampl',
    'users get Lovelace',
    'enrollments get --user ext:S-816 --course ext:none',
    'progress get ext:S-817',
    'users list --role Lovelace',
  ]) {
    const { text, data } = await mcp.run(line.split(' '))
    expect.soft(text, line).not.toMatch(identities)
    expect.soft(JSON.stringify(data), line).not.toMatch(identities)
  }
})

test('a plan names no person but those that the assistant named', { tags: ['slow'] }, async ({ mcp }) => {
  const { text } = await mcp.run(['users', 'delete', 'email:ada@school.example'])
  expect(text).toContain('"role":"learner"')
  expect(text).not.toMatch(/Lovelace|S-815/)
  const named = await mcp.run(['users', 'create', '--email', 'alan@other.example', '--first-name', 'Alan'])
  expect(named.text).toContain('"firstName":"Alan"')
})

test('a plan of many records names no person', { tags: ['slow'] }, async ({ school }) => {
  mkdirSync(join(school.cwd, 'shared/roster'), { recursive: true })
  const files: Readonly<Record<string, string>> = {
    'users.csv':
      'email,externalId,role,firstName\nrosa@school.example,S-900,learner,Rosa\nada,S-901,learner,Ada\n',
    'academy.yaml':
      'learnctl: 1\ncourses: [{externalId: sea, title: The sea}]\nusers: [{email: ada@school.example, externalId: S-815, role: analyst, profile: {firstName: Rosa}}, {email: rosa@school.example, externalId: S-900, profile: {lastName: Lind}}]\n',
    'roster/users.csv':
      'user_id,login_id,first_name,last_name,email,status\nS-900,S-900,Rosa,Lind,rosa@school.example,active\n',
    'grades.csv': 'courseId,learnerId,item,scoreGiven,scoreMaximum\next:sea,ext:S-816,quiz,8,10\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(school.cwd, 'shared', name), text)
  await school.run('users update ext:S-815 ext:S-816 --language en')
  const mcp = new McpProcess(school, ['--allow-writes', '--folder', 'shared'])
  for (const line of [
    'users import users.csv',
    'users import users.csv --skip-invalid',
    'grades import grades.csv',
    'apply academy.yaml',
    'diff academy.yaml',
    'validate academy.yaml',
    'roster validate roster --format canvas',
    'roster diff roster --format canvas',
    'roster apply roster --format canvas',
    'courses list --columns title',
    'undo list',
    'undo change last',
  ]) {
    const argv = line.split(' ')
    const { text, data } = await mcp.run(argv)
    if (line.startsWith('courses')) expect(text).toContain('The sea')
    expect.soft(text, line).not.toMatch(identities)
    expect.soft(text, line).not.toMatch(/Rosa|rosa|Lind|S-90/)
    if (data['confirm'] === undefined) continue
    const done = await mcp.run(argv, data['confirm'])
    expect.soft(done.text, line).not.toMatch(identities)
    expect.soft(done.text, line).not.toMatch(/Rosa|rosa|Lind|S-90/)
  }
  expect(await mcp.end()).toBe(0)
})

test('pseudonyms work as arguments, and stay the same', { tags: ['slow'] }, async ({ mcp, school }) => {
  const listed = await mcp.run(['users', 'list', '--sort', 'email', '--role', 'learner'])
  const [ada] = recordsIn(listed.text)
  const { id, externalId, email } = ada ?? {}
  expect(id).toMatch(/^person_[a-z2-7]{12}$/)
  expect(externalId).toMatch(/^external_[a-z2-7]{12}$/)
  expect(email).toMatch(/^mail_[a-z2-7]{12}@pseudonym\.invalid$/)
  for (const reference of [id, `ext:${externalId}`, `email:${email}`]) {
    const { text } = await mcp.run(['users', 'get', String(reference)])
    expect(recordsIn(text)[0]).toMatchObject({ id, externalId, email })
  }
  const grades = await mcp.run(['grades', 'list', `--learner=${id}`])
  expect(recordsIn(grades.text)).toMatchObject([{ learnerId: id, userEmail: email }])
  const missing = await mcp.run(['progress', 'get', String(id), '--course', 'ext:none'])
  expect(missing.text).not.toMatch(identities)
  const argv = ['users', 'update', String(id), '--role', 'analyst']
  const plan = await mcp.run(argv)
  expect(plan.text).toContain(`/v1/users/${id}`)
  expect(plan.text).not.toMatch(identities)
  expect((await mcp.run(argv, plan.data['confirm'])).data).toMatchObject({ exitCode: 0 })
  const { stdout } = await school.run('users get ext:S-815 --columns role')
  expect(stdout).toContain('analyst')
  // Another process reads the same map.
  const other = new McpProcess(school, [])
  const again = await other.run(['users', 'get', String(externalId)])
  expect(recordsIn(again.text)).toMatchObject([{ id, externalId, email }])
  expect(await other.end()).toBe(0)
})

test('a pseudonym is refused where its id would be shown', { tags: ['slow'] }, async ({ mcp, school }) => {
  const listed = await mcp.run(['users', 'list', '--role', 'learner'])
  const [{ id, externalId, email } = {}] = recordsIn(listed.text)
  const course = ['courses', 'create', '--title', 'Lake']
  for (const argv of [
    ['courses', 'create', '--title', String(email)],
    [...course, `--external-id=${externalId}`],
    [...course, '--description', `Of ${id}`],
    ['groups', 'create', '--name', String(externalId)],
    ['users', 'update', String(id), '--first-name', String(externalId)],
  ]) {
    const { text, data } = await mcp.run(argv)
    expect.soft(data, argv.join(' ')).toMatchObject({ errorCode: 'unusable_pseudonym' })
    expect.soft(text, argv.join(' ')).not.toMatch(identities)
  }
  const argv = ['users', 'update', String(id), '--external-id', String(externalId), '--email', String(email)]
  expect((await mcp.run(argv)).data).toMatchObject({ planned: true })
  expect((await school.run('courses list -q')).stdout.trim().split('\n')).toHaveLength(1)
})

test('people that a file names are hidden in plans and messages', async ({ school }) => {
  const shared = join(school.cwd, 'shared')
  mkdirSync(shared)
  writeFileSync(join(shared, 'ids'), 'S-777\next:S-778\nzoltan@school.example\n')
  writeFileSync(join(shared, 'rows.csv'), 'courseId,userId\next:sea,ext:S-779\n')
  const mcp = new McpProcess(school, ['--allow-writes', '--folder', 'shared'])
  const plan = await mcp.run(['users', 'delete', '--ids', 'ids'])
  expect(plan.data).toMatchObject({ planned: true, steps: 3 })
  const failed = await mcp.run(['enrollments', 'import', 'rows.csv'])
  expect(failed.text).toMatch(/User ext:external_[a-z2-7]{12} not found/)
  expect(plan.text + failed.text).not.toMatch(/S-77|zoltan/)
})

test('entries of the audit log have no salts, with which a digest confirms a guess', async ({ mcp }) => {
  const { text } = await mcp.run(['audit', 'list', '--noun', 'user', '--limit', '1'])
  const [entry] = recordsIn(text)
  expect(entry).toMatchObject({ noun: 'user', at: expect.any(String), detailsDigest: expect.any(String) })
  expect(entry).not.toHaveProperty('detailsSalt')
  expect(entry).not.toHaveProperty('originSalt')
})

test('a result is returned even if its pseudonyms cannot be kept', async ({ mcp, school }) => {
  await mcp.run(['courses', 'list'])
  const folder = join(school.home, '.local/state/learnctl/pseudonyms')
  rmSync(folder, { recursive: true })
  const { text, isError } = await mcp.run(['users', 'list'])
  expect(isError).toBe(false)
  expect(text).toContain('person_')
})

test('an unknown pseudonym is refused', async ({ mcp }) => {
  const { text, data } = await mcp.run(['users', 'get', 'person_aaaaaaaaaaaa'])
  expect(data).toMatchObject({ errorCode: 'unknown_pseudonym' })
  expect(text).toContain('person_aaaaaaaaaaaa')
})

test('an id that looks like a flag does not become one', async ({ mcp, school }) => {
  const argv = ['users', 'create', '--email', 'x@school.example', '--external-id=--all', '--role', 'learner']
  expect((await school.run(argv)).code).toBe(0)
  const { text } = await mcp.run(['users', 'list', '--search', 'x@school.example'])
  const { data } = await mcp.run(['users', 'get', String(recordsIn(text)[0]?.['externalId'])])
  expect(data).toMatchObject({ errorCode: 'unusable_pseudonym' })
})

test('the map is readable by its owner alone', async ({ mcp, school }) => {
  await mcp.run(['users', 'list'])
  const folder = join(school.home, '.local/state/learnctl/pseudonyms')
  const [name = ''] = readdirSync(folder)
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, name), 'utf8')).toContain('ada@school.example')
})

test('people on a platform of another style are hidden as well', async () => {
  const users = [
    {
      id: 4711,
      user_id: 4712,
      first_name: 'Ada',
      name: 'Ada Lovelace',
      email: 'ada@school.example',
      points: 7,
    },
  ]
  const cli = testCli({
    env: { LEARNCTL_URL: 'https://other.example', LEARNCTL_API_KEY: 'key' },
    transport: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ users }),
    }),
  })
  const mcp = new McpProcess(cli, [])
  const { text } = await mcp.run(['users', 'list'])
  // No column of the data dictionary has it.
  expect(text).not.toContain('"points":')
  expect(text).toMatch(/"id":"person_/)
  expect(text).not.toMatch(identities)
  expect(text).not.toMatch(/471[12]/)
  expect(await mcp.end()).toBe(0)
  cli.remove()
})

test('--show-names shows people as they are', async ({ school }) => {
  const mcp = new McpProcess(school, ['--show-names'])
  const { text } = await mcp.run(['users', 'get', 'ext:S-815'])
  expect(text).toContain('Lovelace')
  expect(text).toContain('ada@school.example')
  expect(await mcp.end()).toBe(0)
})
