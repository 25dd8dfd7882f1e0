import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect, onTestFinished } from 'vitest'
import { freshDirectory } from '../../helpers/academy.ts'
import { type TestCli, testCli } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { bin, type Ended, run, runLearnctl, startProcess } from '../../helpers/process.ts'

/** A home with its own temporary directory, which shows what is left behind. */
const test = base
  .extend('home', async ({ task: _ }, { onCleanup }) => {
    const { path, remove } = freshDirectory()
    mkdirSync(join(path, 'tmp'))
    onCleanup(remove)
    return path
  })
  .extend('cli', async ({ task: _ }, { onCleanup }) => {
    const cli = testCli({ env: { PATH: process.env['PATH'] ?? '' } })
    onCleanup(() => cli.remove())
    return cli
  })

const node = process.execPath
const learnctl = (home: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  runLearnctl(['server', 'exec', ...words], {
    cwd: home,
    env: { HOME: home, TMPDIR: join(home, 'tmp'), ...env },
  })
/** Node puts its compile cache there, too. */
const left = (home: string) => readdirSync(join(home, 'tmp')).filter((name) => name.startsWith('learnctl-'))

const enrollments = 'userId,courseId\next:a1,ext:GO-1\n'
const files = {
  'users.csv': 'email,externalId\nada@example.org,a1\n',
  'courses.csv': 'externalId,title\nGO-1,Go\n',
}

/** Returns the words that run a script with arguments. */
const script = (text: string) => ['--', node, '-e', text]

test('the command finds an academy of its own, as admin; nothing is left', async ({ home }) => {
  const text = `
    const { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } = process.env
    const reply = await fetch(url + '/v1/user/profile', { headers: { authorization: 'Bearer ' + key } })
    console.log(JSON.stringify({ ...(await reply.json()), url }))
    console.error('told')`
  const ended = await learnctl(home, ['--', node, '--input-type=module', '-e', text])
  expect(ended).toMatchObject({ code: 0, stderr: 'told\n' })
  expect(JSON.parse(ended.stdout)).toMatchObject({
    role: 'admin',
    scopes: ['read', 'write', 'admin'],
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  })
  expect(left(home)).toEqual([])
  expect(existsSync(join(home, '.local'))).toBe(false)
  expect(existsSync(join(home, '.config'))).toBe(false)
})

test('learnctl inside just works, whatever else has been chosen', async ({ home }) => {
  writeFileSync(join(home, 'learnctl.json'), '{"profile": "school"}')
  const config = join(home, '.config/learnctl')
  mkdirSync(config, { recursive: true, mode: 0o700 })
  const stored = '{"active":"work","profiles":{"work":{"url":"https://academy.example.org"}}}'
  writeFileSync(join(config, 'profiles.json'), stored, { mode: 0o600 })
  const inside = (profile: string) =>
    `${node} ${bin} courses create --title Inside -q && ${node} ${bin} profiles delete ${profile} --yes -q`
  const env = {
    LEARNCTL_DATABASE: 'other.db',
    LEARNCTL_PROFILE: 'none',
    LEARNCTL_ACCESS_TOKEN: 'of another platform',
  }
  for (const [profile, given] of [
    ['school', {}],
    ['none', env],
  ] as const) {
    const { stdout, stderr, code } = await learnctl(home, ['--', 'sh', '-c', inside(profile)], given)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^crs_\w+\n$/)
  }
  expect(readFileSync(join(config, 'profiles.json'), 'utf8')).toBe(stored)
  expect(existsSync(join(home, 'other.db'))).toBe(false)
})

test('standard input is that of the command', async ({ home }) => {
  const ended = await run(node, [bin, 'server', 'exec', '--', 'cat'], {
    cwd: home,
    env: { HOME: home },
    stdin: 'a line\nwithout an end',
  })
  expect(ended).toMatchObject({ code: 0, stdout: 'a line\nwithout an end' })
})

describe('the exit code', () => {
  test.for([
    ['exit 7', 7],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
  ] as const)('of "%s" is %i', async ([line, code], { cli }) => {
    expect(await cli.run(['server', 'exec', '--', 'sh', '-c', line])).toEqual({
      code,
      stdout: '',
      stderr: '',
    })
  })

  test('of a command that is not there is 127, and of one that is none 126', async ({ cli }) => {
    expect(await cli.run('server exec -- no-such-command')).toMatchObject({
      code: 127,
      stderr: 'error: Command not found: no-such-command\n',
    })
    expect(await cli.run('server exec -- /')).toMatchObject({ code: 126 })
  })
})

describe('a signal', () => {
  /** Starts a script that prints a line when it is ready; returns what is needed to end it. */
  async function started(home: string, text: string) {
    const started = startProcess(node, [bin, 'server', 'exec', ...script(text)], {
      cwd: home,
      env: { HOME: home, TMPDIR: join(home, 'tmp') },
    })
    onTestFinished(() => started.kill('SIGKILL'))
    await started.printed(/ready/)
    return started
  }

  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s goes on to the command, which may end as it likes',
    async (signal, { home }) => {
      const { kill, ended } = await started(
        home,
        `process.on('${signal}', () => { console.log('heard'); process.exitCode = 5; clearInterval(timer) })
       const timer = setInterval(() => {}, 1000); console.log('ready')`,
      )
      kill(signal)
      expect(await ended).toMatchObject({ code: 5, stdout: 'ready\nheard\n' })
      expect(left(home)).toEqual([])
    },
  )

  test('that comes a second time kills the command', async ({ home }) => {
    const { kill, ended, printed } = await started(
      home,
      `process.on('SIGTERM', () => setTimeout(() => console.log('heard'), 150)); setInterval(() => {}, 1000); console.log('ready')`,
    )
    kill('SIGTERM')
    await printed(/heard/)
    kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 137 })
    expect(left(home)).toEqual([])
  })

  test('files left by kill -9 are cleared away by the next run, and nothing else is', async ({ home }) => {
    const text = `setInterval(() => {}, 1000); process.stdout.write('ready' + process.pid + '\\n')`
    const { kill, ended, printed } = await started(home, text)
    const [, inner] = await printed(/ready(\d+)\n/)
    kill('SIGKILL')
    process.kill(Number(inner), 'SIGKILL')
    await ended
    const [dead = ''] = left(home)
    expect(dead).toMatch(/^learnctl-exec-/)
    expect(statSync(join(home, 'tmp', dead)).mode & 0o777).toBe(0o700)
    const alive = dead.replace(/_\d+_/, `_${process.pid}_`)
    const elsewhere = dead.replace(/exec-.{12}/, 'exec-0123456789ab')
    for (const name of [alive, elsewhere]) mkdirSync(join(home, 'tmp', name))
    expect(await learnctl(home, ['--', 'true'])).toMatchObject({ code: 0 })
    expect(left(home).sort()).toEqual([alive, elsewhere].sort())
  })
})

describe('--seed', () => {
  /** Runs learnctl in an academy with these seeds, with output to a file. */
  async function seeded(cli: TestCli, seeds: string, line: string) {
    const inside = ['--', 'sh', '-c', `${node} ${bin} ${line} > out.txt`]
    const ran = await cli.run(['server', 'exec', ...seeds.split(' '), ...inside])
    return { ...ran, printed: ran.code === 0 ? readFileSync(join(cli.cwd, 'out.txt'), 'utf8') : '' }
  }

  test('takes a folder, and a file with the name of what is in it', async ({ cli }) => {
    mkdirSync(join(cli.cwd, 'seeds'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cli.cwd, 'seeds', name), text)
    writeFileSync(join(cli.cwd, 'who.csv'), enrollments)
    const ran = await seeded(cli, '--seed enrollments=who.csv --seed seeds', 'enrollments list -q')
    expect(ran, ran.stderr).toMatchObject({ code: 0, printed: expect.stringMatching(/^enr_\w+\n$/) })
  })

  test('a course file is applied before what refers to its course', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'go.yaml'), 'externalId: GO-1\ntitle: Go\nlessons:\n  - title: One\n')
    for (const [name, text] of Object.entries({
      'users.csv': files['users.csv'],
      'enrollments.csv': enrollments,
    })) {
      writeFileSync(join(cli.cwd, name), text)
    }
    const ran = await seeded(cli, '--seed .', 'lessons list --course ext:GO-1 -q')
    expect(ran, ran.stderr).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
      printed: expect.stringMatching(/^les_\w+\n$/),
    })
  })

  test('an academy file is applied', async ({ cli }) => {
    const text =
      'learnctl: 1\ncourses:\n  - externalId: GO-1\n    title: Go\nusers:\n  - email: ada@example.org\n'
    writeFileSync(join(cli.cwd, 'academy.yaml'), text)
    for (const seed of ['academy.yaml', 'academy=academy.yaml']) {
      const ran = await seeded(cli, `--seed ${seed}`, 'courses get ext:GO-1 -q')
      expect(ran, ran.stderr).toMatchObject({
        code: 0,
        stderr: '',
        printed: expect.stringMatching(/^crs_\w+\n$/),
      })
    }
  })

  test('examples are the bundled learners', async ({ cli }) => {
    expect(await seeded(cli, '--seed examples', 'courses list -o csv --columns externalId')).toMatchObject({
      code: 0,
      printed: expect.stringContaining('AAA-2014J'),
    })
  })

  test.for([
    ['--seed none.csv', 2, /^error: Cannot read --seed none\.csv: file not found\n$/],
    [
      '--seed people.csv',
      2,
      /^error: --seed people\.csv does not say what the file contains\n.*\n {2}hint: Name it: --seed users=people\.csv\n$/,
    ],
    ['--seed users=people.csv', 2, /people\.csv/],
    ['--seed .', 2, /contains no file to import/],
  ] as const)('"%s" is refused before the command runs', async ([seeds, code, words], { cli }) => {
    writeFileSync(join(cli.cwd, 'people.csv'), 'email\nnobody\n')
    const ran = await cli.run(`server exec ${seeds} -- touch ran`)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(words)
    expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
  })

  test('a file with rejected rows ends the run before the command', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'enrollments.csv'), enrollments)
    const ran = await cli.run('server exec --seed enrollments.csv -- touch ran')
    expect(ran).toMatchObject({ code: 8, stdout: '' })
    expect(ran.stderr).toContain(
      'error: Cannot seed the academy: rows of enrollments.csv were rejected\n  The command was not run\n',
    )
    expect(ran.stderr).toContain('note: Rejected rows are in enrollments.errors.csv')
    expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
  })
})

describe('--clock and --seed-id', () => {
  const text = `
    import { writeFileSync } from 'node:fs'
    const { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } = process.env
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
    const body = JSON.stringify({ title: 'Made last' })
    await fetch(url + '/v1/courses', { method: 'POST', headers, body })
    const [place] = (await (await fetch(url + '/v1/enrollments', { headers })).json()).data
    const grade = JSON.stringify({ learnerId: place.userId, courseId: place.courseId, scoreGiven: 5 })
    await fetch(url + '/v1/grades', { method: 'PUT', headers, body: grade })
    const paths = ['courses', 'users', 'enrollments', 'grades', 'analytics/learners?format=csv']
    const replies = await Promise.all(paths.map((path) => fetch(url + '/v1/' + path, { headers })))
    writeFileSync('out.txt', (await Promise.all(replies.map((reply) => reply.text()))).join('\\n'))`

  test('give two runs the same ids and times, to the byte; another seed gives others', async ({ cli }) => {
    for (const [name, content] of Object.entries({ ...files, 'enrollments.csv': enrollments })) {
      writeFileSync(join(cli.cwd, name), content)
    }
    const results: string[] = []
    for (const seed of ['1', '1', '2']) {
      const fixed = ['--seed', '.', '--clock', '2026-01-01', '--seed-id', seed]
      const words = ['server', 'exec', ...fixed, '--', node, '--input-type=module', '-e', text]
      const ran = await cli.run(words)
      expect(ran.code, ran.stderr).toBe(0)
      results.push(readFileSync(join(cli.cwd, 'out.txt'), 'utf8'))
    }
    expect(results[1]).toBe(results[0])
    expect(results[2]).not.toBe(results[0])
    expect(results[0]).toContain('"createdAt":"2026-01-01T00:00:00.000Z"')
    expect(results[0]).toContain('"crs_00000000000000001000000000002"')
    expect(results[0]).toContain('GO-1')
    expect(results[0]).toContain('"grd_00000000000000001000000000001"')
  })

  test('keys are drawn by chance nevertheless', async ({ cli }) => {
    const keys: string[] = []
    const print = ['--', 'sh', '-c', 'echo "$LEARNCTL_API_KEY" > key.txt']
    for (let time = 0; time < 2; time += 1) {
      await cli.run(['server', 'exec', '--seed-id', '1', ...print])
      keys.push(readFileSync(join(cli.cwd, 'key.txt'), 'utf8'))
    }
    expect(keys[0]).toMatch(/^lpk_\w{36}\n$/)
    expect(keys[1]).not.toBe(keys[0])
  })

  test('are refused for an academy that is there, and for values that are none', async ({ cli }) => {
    await putNewAcademy(join(cli.cwd, 'old.db'))
    for (const flag of ['--clock 2026-01-01', '--seed-id 1']) {
      expect(await cli.run(`server start --database old.db ${flag} --port 0`)).toMatchObject({
        code: 6,
        stderr: expect.stringContaining(
          `${flag.split(' ')[0]} requires a new academy: ${join(cli.cwd, 'old.db')} already exists`,
        ),
      })
    }
    expect(await cli.run('server exec --seed-id 4294967296 -- true')).toMatchObject({ code: 2 })
    expect(await cli.run('server exec --clock soon -- true')).toMatchObject({ code: 2 })
    expect(await cli.run('server start --database new.db --clock 2026-01-01 --rate-limit 5')).toMatchObject({
      code: 2,
    })
  })
})

test('a dry run starts nothing', async ({ cli }) => {
  expect(await cli.run('server exec --dry-run -- touch ran')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'note: Would run touch ran against a temporary academy\n',
  })
  expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
})
