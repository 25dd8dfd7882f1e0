import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { addServer } from '../../../src/cli/local-server/running-servers.ts'
import { InterruptedError } from '../../../src/cli/terminal/errors.ts'
import { type TestCli, test, testCli } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran } from '../../helpers/result.ts'
import { startReceiver, status } from '../../server/events/scene.ts'

const url = 'https://lms.example.org/hooks'

test('endpoints and calendars name the missing or wrong flag', { tags: ['slow'] }, async ({ local }) => {
  const refusals = [
    [
      'webhooks endpoints create --to https://lms.example.org --learner-names',
      '--learner-names requires the kind slack or teams',
    ],
    [
      'webhooks endpoints create --kind slack --to https://lms.example.org --username a',
      '--username requires the kind xapi',
    ],
    [
      'webhooks endpoints create --kind slack --to https://lms.example.org --digest-hour 7',
      '--digest-hour requires the schedule daily',
    ],
    [
      'webhooks endpoints create --kind teams --to https://lms.example.org --digest-timezone Europe/Vienna',
      '--digest-timezone requires the schedule daily',
    ],
    [
      'webhooks endpoints create --kind xapi --to https://lrs.example/xapi --username a',
      'password is required for a user name or client id',
    ],
    [
      'webhooks endpoints create --kind xapi --to https://lrs.example/xapi --events course.*,user.created',
      '--events must have one that becomes a statement: ',
    ],
    ['calendars create', '--course or a user is required, but not both'],
  ] as const
  for (const [line, message] of refusals) {
    expect(await local.run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  }
})

test('the hour of a digest stays, and changes with a digest only', { tags: ['slow'] }, async ({ local }) => {
  const flags =
    '--kind slack --to https://hooks.slack.com/services/T0/B0/XXXX --schedule daily --digest-hour 7'
  const { id } = JSON.parse((await local.run(`webhooks endpoints create ${flags} -o json`)).stdout)
  const update = `webhooks endpoints update ${id}`
  expect(await local.run(`${update} --schedule immediately`)).toMatchObject({ code: 0 })
  expect((await ran(local, `${update} --digest-hour 9`, 2)).stderr).toContain(
    '--digest-hour requires the schedule daily',
  )
  expect(await local.run(`${update} --schedule daily --digest-hour 9`)).toMatchObject({ code: 0 })
})

test('a webhook endpoint is created, shown, changed and deleted; its secret is shown once', {
  tags: ['slow'],
}, async ({ local }) => {
  const created = await local.run(
    `webhooks endpoints create --to ${url} --events course.*,user.created -o json`,
  )
  const { id, secret } = JSON.parse(created.stdout)
  expect(secret).toMatch(/^whsec_/)
  expect(await local.run('webhooks endpoints list')).toMatchObject({
    code: 0,
    stdout: `active\tstandard\t${url}\t${id}\tcourse.*, user.created\t\t\n`,
  })
  expect(await local.run(`webhooks endpoints update ${id} --events * --status disabled`)).toMatchObject({
    code: 0,
    stderr: `Updated webhook endpoint ${url}, version 2\n`,
  })
  expect(JSON.parse((await local.run(`webhooks endpoints get ${id} -o json`)).stdout)).toMatchObject({
    events: ['*'],
    status: 'disabled',
  })
  const rotated = JSON.parse((await local.run(`webhooks endpoints rotate ${id} -o json`)).stdout)
  expect(rotated.secret).toMatch(/^whsec_/)
  expect(rotated.previousSecretUntil).toBe('2026-03-02T12:00:00.000Z')
  expect((await local.run(`webhooks endpoints get ${id} -o json`)).stdout).not.toContain('whsec_')
  expect(await local.run(`webhooks endpoints delete ${id}`)).toMatchObject({ code: 2 })
  expect(await local.run(`webhooks endpoints delete ${id} --yes`)).toMatchObject({
    code: 0,
    stderr: 'Deleted webhook endpoint https://lms.example.org/hooks\n',
  })
  expect(await local.run(`webhooks endpoints get ${id}`)).toMatchObject({ code: 3 })
})

test('without a server events wait, and the commands say so', { tags: ['slow'] }, async ({ local }) => {
  await local.run(`webhooks endpoints create --to ${url} -o json`)
  const { stdout } = await local.run('webhooks endpoints list -q')
  expect(await local.run(`webhooks endpoints test ${stdout.trim()}`)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^note: Events are sent while a server runs for the academy: learnctl server start\nQueued test event msg_\w+\n$/,
    ),
  })
  const { stdout: message } = await local.run('webhooks messages list -q')
  expect(await local.run('webhooks messages list --columns type,status,attemptCount')).toMatchObject({
    stdout: 'endpoint.test\tpending\t0\n',
  })
  expect(await local.run(`webhooks messages replay ${message.trim()}`)).toMatchObject({
    code: 0,
    stderr: `Queued message ${message.trim()}\n`,
  })
  expect(await local.run('webhooks listen')).toEqual({
    code: 2,
    stdout: '',
    stderr: `error: No server is running for ${join(local.cwd, 'academy.db')}
  Events are sent while a server runs for the academy
  hint: Start one in another terminal: learnctl server start
`,
  })
})

test('beside a server of the same academy, what it sends is awaited', { tags: ['slow'] }, async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const sleep = async (ms: number) => {
    now += ms
  }
  const cli = testCli({ now: () => now, sleep, env: { LEARNCTL_DATABASE: 'academy.db' } })
  onTestFinished(cli.remove)
  await putNewAcademy(join(cli.cwd, 'academy.db'))
  // A server that sends nothing, so that both programs end by themselves.
  await addServer(join(cli.home, '.local', 'state', 'learnctl'), {
    ...{ pid: process.pid, url: 'http://127.0.0.1:4700', address: 'http://127.0.0.1:4700' },
    ...{ database: join(cli.cwd, 'academy.db'), startedAt: '2026-03-01T12:00:00.000Z' },
  })
  await cli.run(`webhooks endpoints create --to ${url} -o json`)
  const { stdout: id } = await cli.run('webhooks endpoints list -q')
  expect(await cli.run(`webhooks endpoints test ${id.trim()}`)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: Test event msg_\w+ was not delivered: not sent yet\n/),
  })
  expect((await ran(cli, 'webhooks listen', 1)).stderr).toContain(
    'The server cannot send events to this machine\n  No event arrived',
  )
  expect((await cli.run('webhooks endpoints list -q')).stdout).toBe(id)
})

/** The clock of this machine, put forward by the rest of an interval where a server would wait for it. */
function impatientClock() {
  const intervalMs = 1000
  let skippedMs = 0
  const elapsedMs = () => performance.now() + skippedMs
  const later = (work: () => void, ms: number) => {
    const isRest = ms < intervalMs
    if (isRest) skippedMs += ms
    const timer = setTimeout(work, isRest ? 0 : ms).unref()
    return { clear: () => clearTimeout(timer) }
  }
  return { now: () => new Date(Date.now() + skippedMs), timers: { elapsedMs, later } }
}

/** A server in this process, and the program as its admin. */
async function withServer(): Promise<TestCli & { readonly url: string }> {
  const cli = testCli({
    now: Date.now,
    serve: impatientClock(),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (ms < 1000) setTimeout(resolve, Math.min(ms, 10))
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  onTestFinished(() => cli.remove())
  const ending = new AbortController()
  const started = Promise.withResolvers<string>()
  const line = 'server start --port 0 --database academy.db --key-file key.txt -o json'
  const ended = cli.run(line, { signal: ending.signal, onStdout: started.resolve })
  onTestFinished(async () => {
    ending.abort(new InterruptedError('SIGTERM'))
    await ended
  })
  const { url } = JSON.parse(await started.promise)
  const key = readFileSync(join(cli.cwd, 'key.txt'), 'utf8').trim()
  const env = { LEARNCTL_URL: url, LEARNCTL_API_KEY: key }
  return {
    ...cli,
    url,
    run: (line, options) => cli.run(line, { ...options, env: { ...env, ...options?.env } }),
  }
}

test('a test event says whether the receiver accepts it', { tags: ['slow'] }, async () => {
  const cli = await withServer()
  const receiver = await startReceiver()
  await cli.run(`webhooks endpoints create --to ${receiver.url} -o json`)
  const { stdout } = await cli.run('webhooks endpoints list -q')
  const line = `webhooks endpoints test ${stdout.trim()}`
  expect(await cli.run(line)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Delivered test event msg_\w+: HTTP 204\n$/),
  })
  const inside = await cli.run('webhooks endpoints create --to http://10.0.0.7/hooks')
  expect(inside.stderr).toBe(
    'note: Plain http is sent only to hosts that the server allows: learnctl server start --webhook-allow 10.0.0.7\n',
  )
  const { stdout: refused } = await cli.run('webhooks endpoints list --limit 1 -q')
  expect((await cli.run(`webhooks endpoints test ${refused.trim()}`)).stderr).toMatch(
    /: Refused: 10\.0\.0\.7 is not a public address\n {2}hint: Allow it: learnctl server start --webhook-allow 10\.0\.0\.7\n$/,
  )
  receiver.answer = status(500, {}, 'broken')
  const failed = await cli.run(line)
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: Test event msg_\w+ was not delivered: HTTP 500\n {2}hint: Show its attempts: /,
    ),
  })
  const [message = ''] = /msg_\w+/.exec(failed.stderr) ?? []
  // A narrow terminal shows the outcome and the reason.
  const list = `webhooks messages list --endpoint ${stdout.trim()} --status pending --color never`
  const { stdout: narrow } = await cli.run(list, { tty: 80 })
  expect(narrow.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
    ['status', 'type', 'lastResult', 'id'],
    ['pending', 'endpoint.test', 'HTTP 500', message],
    [''],
  ])
  const shown = await cli.run(`webhooks messages get ${message} --columns number,result,response`)
  // A busy machine may have come to the next attempt.
  expect(shown.stdout).toMatch(/^1\tHTTP 500\tbroken\n(2\tHTTP 500\tbroken\n)?$/)
})

test('listen prints and forwards events, and leaves no endpoint behind', { tags: ['slow'] }, async () => {
  const cli = await withServer()
  const receiver = await startReceiver()
  const ending = new AbortController()
  const printed = Promise.withResolvers<string>()
  const listening = Promise.withResolvers<void>()
  const ended = cli.run(`webhooks listen --events course.* --forward-to ${receiver.url} -o json`, {
    signal: ending.signal,
    onStdout: printed.resolve,
    onStderr: (text) => text.includes('Listening for events of') && listening.resolve(),
  })
  await listening.promise
  await cli.run('courses create --title Logic')
  const event = JSON.parse(await printed.promise)
  expect(event).toMatchObject({
    type: 'course.created',
    data: { title: 'Logic' },
    forwarded: { status: 204 },
  })
  expect(receiver.got).toMatchObject([{ type: 'course.created', headers: { 'webhook-id': event.id } }])
  ending.abort(new InterruptedError('SIGINT'))
  expect(await ended).toMatchObject({ code: 130 })
  expect((await cli.run('webhooks endpoints list -o json')).stdout).toBe('[]\n')
})
