import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { test as base, describe, expect, onTestFinished } from 'vitest'
import { testCli } from '../../helpers/cli.ts'
import { freePort } from '../../helpers/free-port.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'

const test = base.extend('cli', async ({ task: _ }, { onCleanup }) => {
  const cli = testCli({ env: { PATH: process.env['PATH'] ?? '' } })
  onCleanup(() => cli.remove())
  return cli
})

/** Returns the words that run a script, in which `call` sends a request and returns its status and body. */
const script = (text: string) => [
  ...['--', process.execPath, '--input-type=module', '-e'],
  `const { LEARNCTL_URL: url, LEARNCTL_API_KEY: key } = process.env
   const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
   const call = async (method, path, body) => {
     const reply = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
     return { status: reply.status, body: await reply.json() }
   }
   ${text}`,
]
const exec = (flags: string) => ['server', 'exec', ...flags.split(' ')]

describe('--dotenv-file', () => {
  const copy = ['--', 'sh', '-c', 'cp academy.env copy.env; stat -c %a academy.env > mode.txt; env > env.txt']

  test('has the address and the key while the command runs, for any tool', async ({ cli }) => {
    expect(await cli.run([...exec('--dotenv-file academy.env'), ...copy])).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(existsSync(join(cli.cwd, 'academy.env'))).toBe(false)
    const read = (name: string) => readFileSync(join(cli.cwd, name), 'utf8')
    expect(read('mode.txt')).toBe('600\n')
    expect(read('copy.env').trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^LEARNCTL_URL=http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^LEARNCTL_API_KEY=lpk_\w+$/),
    ])
    expect(parseEnv(read('env.txt'))).toMatchObject(parseEnv(read('copy.env')))
  })

  test('leaves a file that exists alone', async ({ cli }) => {
    const path = join(cli.cwd, 'academy.env')
    writeFileSync(path, 'SECRET=1\n')
    expect(await cli.run([...exec('--dotenv-file academy.env'), ...copy])).toEqual({
      code: 6,
      stdout: '',
      stderr:
        'error: Cannot write --dotenv-file academy.env: the file exists\n  hint: Remove the file, or choose another name\n',
    })
    expect(readFileSync(path, 'utf8')).toBe('SECRET=1\n')
    expect(await cli.run([...exec('--dotenv-file none/academy.env'), ...copy])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('its directory does not exist'),
    })
  })
})

describe('--webhooks-file', () => {
  const text = `
    await call('POST', '/v1/courses', { title: 'Tides' })
    await call('POST', '/v1/courses', { title: '' })
    await call('POST', '/v1/users/batch', { items: [{ email: 'ada@example.org' }, { email: 'nobody' }] })
    const { readFileSync, writeFileSync } = await import('node:fs')
    const { body } = await call('GET', '/v1/webhooks/endpoints')
    writeFileSync('seen.json', JSON.stringify({ endpoints: body.data, file: readFileSync('sent.jsonl', 'utf8') }))`

  test('has the events of the run in order, before their replies', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'users.csv'), 'email\nseed@example.org\n')
    // Of an earlier run.
    writeFileSync(join(cli.cwd, 'sent.jsonl'), '{"id":"msg_1"}\n')
    const ran = await cli.run([...exec('--seed users.csv --webhooks-file sent.jsonl'), ...script(text)])
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' })
    const sent = readFileSync(join(cli.cwd, 'sent.jsonl'), 'utf8')
    expect(statSync(join(cli.cwd, 'sent.jsonl')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(join(cli.cwd, 'seen.json'), 'utf8'))).toEqual({
      endpoints: [],
      file: sent,
    })
    const events = sent
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events).toMatchObject([
      { type: 'course.created', data: { title: 'Tides', status: 'draft' } },
      { type: 'user.created', data: { email: 'ada@example.org' } },
    ])
    for (const { id, body, ...event } of events) {
      expect(id).toMatch(/^msg_\w{29}$/)
      expect(JSON.parse(body)).toEqual(event)
    }
  })

  test('is there without webhooks as well, and a file with other content stays', async ({ cli }) => {
    expect(await cli.run([...exec('--webhooks-file sent.jsonl'), '--', 'true'])).toMatchObject({ code: 0 })
    expect(readFileSync(join(cli.cwd, 'sent.jsonl'), 'utf8')).toBe('')
    writeFileSync(join(cli.cwd, 'notes.txt'), 'mine\n')
    expect(await cli.run([...exec('--webhooks-file notes.txt'), '--', 'touch', 'ran'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('--webhooks-file notes.txt: the file exists, and holds no webhooks'),
    })
    expect(await cli.run([...exec('--webhooks-file .'), '--', 'touch', 'ran'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('it is not a regular file'),
    })
    expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
  })
})

describe('--from-snapshot', () => {
  const env = { LEARNCTL_DATABASE: 'school.db' }
  const text = `
    const { body: courses } = await call('GET', '/v1/courses')
    const { body: before } = await call('GET', '/v1/webhooks/endpoints')
    const added = await call('POST', '/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9/mine', events: ['*'] })
    const { writeFileSync } = await import('node:fs')
    const endpoints = before.data.map(({ url, status }) => ({ url, status }))
    writeFileSync('seen.json', JSON.stringify([courses.data.map(({ title }) => title), endpoints, added.status]))`

  test('begins with a copy that sends nothing, and leaves the snapshot as it is', async ({ cli }) => {
    await putNewAcademy(join(cli.cwd, 'school.db'))
    const own = (line: string) => cli.run(line, { env })
    expect(await own('courses create --title Tides')).toMatchObject({ code: 0 })
    expect(
      await own('webhooks endpoints create --to https://lms.example.org/hooks --events *'),
    ).toMatchObject({ code: 0 })
    expect(await own('server snapshot save seeded')).toMatchObject({ code: 0 })
    const snapshot = join(cli.cwd, 'school.db.snapshots/seeded.db')
    const bytes = readFileSync(snapshot)
    for (const named of ['seeded', 'school.db.snapshots/seeded.db', 'school.db']) {
      const words = [...exec(`--from-snapshot ${named} --clock 2026-04-01`), ...script(text)]
      expect(await cli.run(words, { env })).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(JSON.parse(readFileSync(join(cli.cwd, 'seen.json'), 'utf8'))).toEqual([
        ['Tides'],
        [{ url: 'https://lms.example.org/hooks', status: 'disabled' }],
        201,
      ])
    }
    expect(readFileSync(snapshot).equals(bytes)).toBe(true)
    expect(readdirSync(join(cli.cwd, 'school.db.snapshots'))).toEqual(['seeded.db'])
    expect((await own('webhooks endpoints list --columns status')).stdout).toContain('active')
  })

  test.for([
    ['--from-snapshot none', 3, 'Snapshot not found: none'],
    ['--from-snapshot ./none.db', 3, 'Cannot read --from-snapshot ./none.db: file not found'],
    ['--from-snapshot notes.txt', 1, 'notes.txt is not a SQLite database'],
    ['--from-snapshot notes.txt --seed-id 1', 2, 'cannot be used together'],
  ] as const)('"%s" is refused: exit %i', async ([flags, code, words], { cli }) => {
    writeFileSync(join(cli.cwd, 'notes.txt'), 'not a database, but long enough to look like one\n'.repeat(20))
    const ran = await cli.run([...exec(flags), '--', 'touch', 'ran'])
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) })
    expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
  })
})

test('--port is the port of the academy; one that is in use is named', async ({ cli }) => {
  const taken = createServer()
  const port = await freePort()
  await once(taken.listen(port, '127.0.0.1'), 'listening')
  onTestFinished(() => void taken.close())
  expect(await cli.run([...exec(`--port ${port}`), '--', 'touch', 'ran'])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`error: Port ${port} on 127.0.0.1 is already in use\n  hint: Use --port`),
  })
  expect(existsSync(join(cli.cwd, 'ran'))).toBe(false)
  taken.close()
  const words = [...exec(`--port ${port}`), '--', 'sh', '-c', 'echo $LEARNCTL_URL > url.txt']
  expect(await cli.run(words)).toMatchObject({ code: 0 })
  expect(readFileSync(join(cli.cwd, 'url.txt'), 'utf8')).toBe(`http://127.0.0.1:${port}\n`)
  expect(await cli.run([...exec('--port 70000'), '--', 'true'])).toMatchObject({ code: 2 })
})
