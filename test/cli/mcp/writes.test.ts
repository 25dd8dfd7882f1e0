import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { offeredCommands } from '../../../src/cli/mcp/offered-commands.ts'
import { test as base, splitWords, type TestCli } from '../../helpers/cli.ts'
import { McpProcess } from '../../helpers/mcp-client.ts'
import { allRows, start } from '../../helpers/new-academy.ts'

const minuteMs = 60_000

/** Files in the folder that is shared. */
const files: Readonly<Record<string, string>> = {
  'users.csv': 'email,externalId,role\neve@school.example,E,learner\n',
  'courses.csv': 'externalId,title\nlake,Lake\n',
  'lessons.csv': 'courseId,externalId,title\next:sea,L9,Currents\n',
  'terms.csv': 'externalId,name\n2027S,Spring 2027\n',
  'groups.csv': 'externalId,name\n7c,Class 7c\n',
  'members.csv': 'groupId,userId\n5b,ext:B\n',
  'enrollments.csv': 'courseId,userId\next:sea,ext:C\n',
  'progress.csv':
    'courseId,learnerId,completionPercentage,lastAccessed\next:sea,ext:C,80,2026-02-02T00:00:00Z\n',
  'grades.csv': 'courseId,learnerId,item,scoreGiven,scoreMaximum\next:sea,ext:A,quiz,8,10\n',
  'academy.yaml': 'learnctl: 1\nterms: [{externalId: 2028A, name: Autumn 2028}]\n',
  'course.yaml': 'externalId: bay\ntitle: The bay\nlessons: [{externalId: S, title: Sand}]\n',
  'roster/users.csv':
    'user_id,login_id,first_name,last_name,email,status\nR1,R1,Rosa,Lind,rosa@school.example,active\n',
}

/** Makes an academy with records for every command below, and the files that they read. */
async function prepare(cli: TestCli): Promise<void> {
  for (const line of [
    'courses create --title Sea --external-id sea --status published',
    'courses create --title Pond --external-id pond',
    'courses create --title Hill --external-id hill',
    'courses create --title Gone --external-id gone',
    'courses delete ext:gone --yes',
    'lessons create --course ext:sea --title Tides --external-id T',
    'lessons create --course ext:sea --title Waves --external-id W',
    'lessons create --course ext:sea --title Foam --external-id F',
    'lessons delete ext:F --yes',
    'modules create --course ext:sea --title Basics',
    'modules create --course ext:sea --title More',
    'users create --email ada@school.example --external-id A --first-name Ada --role learner',
    'users create --email bob@school.example --external-id B --role learner',
    'users create --email cy@school.example --external-id C --role learner',
    'users create --email dan@school.example --external-id D --role learner',
    'users delete ext:D --yes',
    'enrollments create --course ext:sea --user ext:A',
    'enrollments create --course ext:pond --user ext:A',
    'enrollments delete --course ext:pond --user ext:A --yes',
    'groups create --name "Class 5b" --external-id 5b',
    'groups create --name "Class 5x" --external-id 5x',
    'groups delete 5x --yes',
    'terms create --name "Autumn 2026" --external-id 2026A',
    'terms create --name "Old term" --external-id 1999A',
    'grades set ext:A --course ext:sea --item exam --score 16 --maximum 20',
  ]) {
    const { code, stderr } = await cli.run(line)
    if (code !== 0) throw new Error(`${line}: ${stderr}`)
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(cli.cwd, 'shared', name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
}

/** A line for every command that changes data, in an order in which each works. */
const lines = [
  'courses create --title Forest --external-id forest',
  'courses update ext:sea --language en',
  'courses publish ext:pond',
  'courses unpublish ext:pond',
  'courses restore ext:sea 2',
  'courses restore ext:gone',
  'courses archive ext:gone',
  'courses delete ext:hill',
  'courses apply --file course.yaml',
  'courses copy ext:sea --title "Sea again" --external-id sea2',
  'courses import courses.csv',
  'modules create --course ext:sea --title Extra',
  'modules rename Extra --course ext:sea --title Further',
  'modules move Further --course ext:sea --position 1',
  'modules delete Further --course ext:sea',
  'lessons create --course ext:sea --title Storms --external-id X',
  'lessons update ext:W --title "Big waves"',
  'lessons move ext:W --position 1',
  'lessons restore ext:W 1',
  'lessons delete ext:T',
  'lessons restore ext:F',
  'lessons import lessons.csv',
  'users create --email fay@school.example',
  'users update ext:A --last-name Byron',
  'users suspend ext:B',
  'users activate ext:B',
  'users restore ext:D',
  'users delete ext:D',
  'users import users.csv',
  'terms create --name "Spring 2026" --external-id 2026S',
  'terms update 2026A --name "Autumn term 2026"',
  'terms delete 1999A',
  'terms import terms.csv',
  'enrollments create --course ext:sea --user ext:B',
  'enrollments update --course ext:sea --user ext:B --status inactive',
  'enrollments delete --course ext:sea --user ext:B',
  'enrollments restore --course ext:pond --user ext:A',
  'enrollments import enrollments.csv',
  'groups create --name "Class 6a" --external-id 6a',
  'groups update 6a --name "Class 6b"',
  'groups delete 6a',
  'groups restore 5x',
  'groups import groups.csv',
  'groups members add 5b ext:A',
  'groups members remove 5b ext:A',
  'groups members import members.csv',
  'progress set ext:A --course ext:sea --completion 75',
  'progress import progress.csv',
  'grades set ext:A --course ext:sea --item exam --score 18 --maximum 20',
  'grades delete ext:A --course ext:sea --item exam',
  'grades import grades.csv',
  'apply academy.yaml',
  'roster apply roster --format canvas',
  'settings update --instructor-access all',
  'audit revert last',
  'undo change last',
] as const

interface School {
  readonly cli: TestCli
  /** Runs `learnctl mcp`, which ends with the test. */
  readonly serve: (...flags: string[]) => McpProcess
  readonly time: { ms: number }
}

const test = base
  .extend('time', async () => ({ ms: Date.parse(start) }))
  .extend('options', async ({ time }) => {
    // Each record gets its own time.
    return {
      now: () => {
        time.ms += 1
        return time.ms
      },
    }
  })
  .extend('school', async ({ local: cli, time }, { onCleanup }): Promise<School> => {
    await prepare(cli)
    const open: McpProcess[] = []
    onCleanup(async () => {
      await Promise.all(open.map((mcp) => mcp.end()))
    })
    const serve = (...flags: string[]) => {
      const mcp = new McpProcess(cli, flags)
      open.push(mcp)
      return mcp
    }
    return { cli, time, serve }
  })

test('no command changes data before its plan is confirmed, and none at all on a read-only server', async ({
  school: { cli, serve },
}) => {
  const known = [...offeredCommands].flatMap(([path, { access }]) => (access === 'write' ? [path] : []))
  const tried = known.filter((path) => lines.some((line) => line.startsWith(`${path} `)))
  expect(tried).toEqual(known)
  const readOnly = serve('--folder', 'shared')
  const writing = serve('--folder', 'shared', '--allow-writes')
  for (const each of lines) {
    const entry = await cli.run('audit list --noun course --limit 1 -q')
    const line = each.replace('revert last', `revert ${entry.stdout.trim()}`)
    const argv = splitWords(line)
    const before = allRows(join(cli.cwd, 'academy.db'))
    const refused = await readOnly.run([...argv, '--yes'])
    expect.soft(refused.data, line).toEqual({ exitCode: 5, errorCode: 'read_only' })
    const plan = await writing.run([...argv, '--yes'])
    expect.soft(plan.data, `${line}\n${plan.text}`).toMatchObject({ planned: true })
    expect.soft(allRows(join(cli.cwd, 'academy.db')), line).toEqual(before)
    const done = await writing.run([...argv, '--yes'], plan.data['confirm'])
    expect.soft(done.data, `${line}\n${done.text}`).toMatchObject({ exitCode: 0 })
    expect.soft(allRows(join(cli.cwd, 'academy.db')) === before, line).toBe(false)
  }
})

describe('a digest carries out nothing', () => {
  const argv = ['users', 'import', 'users.csv']
  const refused = { exitCode: 6, errorCode: 'not_confirmed' }

  test('twice', async ({ school: { serve } }) => {
    const mcp = serve('--allow-writes')
    const line = ['courses', 'create', '--title', 'Forest']
    const { data } = await mcp.run(line)
    expect(await mcp.run(line, data['confirm'])).toMatchObject({ isError: false })
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
  })

  test('for other words, a changed file, or in another process', async ({ school: { cli, serve } }) => {
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const before = allRows(join(cli.cwd, 'academy.db'))
    const first = await mcp.run(argv)
    expect((await mcp.run(['courses', 'archive', 'ext:sea'], first.data['confirm'])).data).toEqual(refused)
    const second = await mcp.run(argv)
    writeFileSync(join(cli.cwd, 'shared/users.csv'), `${files['users.csv']}mal@school.example,M,admin\n`)
    expect((await mcp.run(argv, second.data['confirm'])).data).toEqual(refused)
    const third = await mcp.run(argv)
    const other = serve('--allow-writes', '--folder', 'shared')
    expect((await other.run(argv, third.data['confirm'])).data).toEqual(refused)
    expect((await mcp.run(argv, 'a'.repeat(32))).data).toEqual(refused)
    expect(allRows(join(cli.cwd, 'academy.db'))).toEqual(before)
  })

  test('after ten minutes', async ({ school: { cli, serve, time } }) => {
    const mcp = serve('--allow-writes')
    const line = ['courses', 'archive', 'ext:sea']
    const before = allRows(join(cli.cwd, 'academy.db'))
    const { data } = await mcp.run(line)
    time.ms += 10 * minuteMs
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
    expect(allRows(join(cli.cwd, 'academy.db'))).toEqual(before)
  })

  test('if another plan of many records would be carried out by now', async ({ school: { cli, serve } }) => {
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const line = ['apply', 'academy.yaml']
    const { data } = await mcp.run(line)
    await cli.run('apply shared/academy.yaml --yes')
    const late = await mcp.run(line, data['confirm'])
    expect(late).toMatchObject({ isError: true, data: refused })
    expect(late.text).toContain('The plan no longer fits')
  })

  test('if the active profile has changed', async ({ school: { cli } }) => {
    for (const name of ['one', 'two']) await cli.run(`profiles add ${name} --database academy.db`)
    await cli.run('profiles use one')
    const mcp = new McpProcess(cli, ['--allow-writes'], { env: { HOME: cli.home } })
    const line = ['courses', 'archive', 'ext:sea']
    const { data } = await mcp.run(line)
    await cli.run('profiles use two')
    expect((await mcp.run(line, data['confirm'])).data).toEqual(refused)
    await mcp.end()
  })
})

describe('files', () => {
  const users = (path: string) => ['users', 'import', path, '--dry-run']

  test('are read from the shared folder alone', async ({ school: { cli, serve } }) => {
    writeFileSync(join(cli.cwd, 'secret.csv'), files['users.csv'] ?? '')
    symlinkSync(join(cli.cwd, 'secret.csv'), join(cli.cwd, 'shared/link.csv'))
    const mcp = serve('--allow-writes', '--folder', 'shared')
    expect(await mcp.run(users('users.csv'))).toMatchObject({ isError: false })
    for (const path of [
      '../secret.csv',
      join(cli.cwd, 'secret.csv'),
      'link.csv',
      '/etc/passwd',
      '/nowhere',
    ]) {
      expect.soft((await mcp.run(users(path))).data, path).toMatchObject({ errorCode: 'outside_folder' })
    }
    expect((await mcp.run(users('-'))).text).toContain('There is no standard input here')
    expect((await mcp.run(['validate'])).text).toContain('Name the files')
    expect((await serve('--allow-writes').run(users('users.csv'))).data).toMatchObject({
      errorCode: 'no_folder',
    })
  })

  test('are regular files: a pipe would keep the next run waiting', async ({ school: { cli, serve } }) => {
    execFileSync('mkfifo', [join(cli.cwd, 'shared/pipe.csv')])
    const mcp = serve('--folder', 'shared', '--allow-writes')
    expect((await mcp.run(users('pipe.csv'))).text).toContain('pipe.csv: it is not a regular file')
    writeFileSync(join(cli.cwd, 'shared/all.yaml'), 'learnctl: 1\nusers: {file: pipe.csv}\n')
    expect((await mcp.run(['validate', 'all.yaml'])).text).toContain('it is not a regular file')
  })

  test('with rejected rows are not written through a link', async ({ school: { cli, serve } }) => {
    const outside = join(cli.cwd, 'outside')
    writeFileSync(outside, 'kept')
    writeFileSync(join(cli.cwd, 'shared/bad.csv'), 'email,role\neve@school.example,learner\nnone,learner\n')
    symlinkSync(outside, join(cli.cwd, 'shared/bad.errors.csv'))
    const mcp = serve('--folder', 'shared', '--allow-writes')
    const argv = ['users', 'import', 'bad.csv', '--skip-invalid']
    expect((await mcp.run(argv)).data).toMatchObject({ errorCode: 'outside_folder' })
    expect(readFileSync(outside, 'utf8')).toBe('kept')
  })

  test('that a file names must be in the folder, too', async ({ school: { cli, serve } }) => {
    const shared = join(cli.cwd, 'shared')
    writeFileSync(join(cli.cwd, 'secret.csv'), files['users.csv'] ?? '')
    symlinkSync(join(cli.cwd, 'secret.csv'), join(shared, 'link.csv'))
    writeFileSync(join(shared, 'all.yaml'), 'learnctl: 1\nusers: {file: link.csv}\n')
    const mcp = serve('--folder', 'shared')
    expect((await mcp.run(['validate', 'all.yaml'])).data).toMatchObject({ errorCode: 'outside_folder' })
  })

  test('are the body of a request by @, and are never written', async ({ school: { cli, serve } }) => {
    writeFileSync(join(cli.cwd, 'shared/body.json'), '{"title": "Delta"}')
    const mcp = serve('--allow-writes', '--folder', 'shared')
    const plan = await mcp.run(['courses', 'create', '--body', '@body.json'])
    expect(plan.text).toContain('Delta')
    const outside = await mcp.run(['courses', 'create', '--body=@../academy.db'])
    expect(outside.data).toMatchObject({ errorCode: 'outside_folder' })
    for (const line of ['courses export --file out.csv', 'users import users.csv --errors e.csv']) {
      expect((await mcp.run(splitWords(line))).data, line).toMatchObject({ errorCode: 'flag_not_offered' })
    }
    expect(readFileSync(join(cli.cwd, 'shared/users.csv'), 'utf8')).toBe(files['users.csv'])
  })
})
