import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { test as base, describe, expect, onTestFinished } from 'vitest'
import { fillEnrollments } from '../../bench/seed.ts'
import { freshDirectory } from '../../helpers/academy.ts'
import { makeCertificate } from '../../helpers/certificate.ts'
import { bin, type Ended, run, runLearnctl, startProcess } from '../../helpers/process.ts'

/** A fresh home; its servers are stopped after the test. */
const test = base.extend('home', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(() => {
    for (const pid of listed(path)) process.kill(pid)
    remove()
  })
  return path
})

/** Returns the process ids of the servers that report to be running. */
function listed(home: string): number[] {
  const directory = join(home, '.local/state/learnctl/servers')
  return existsSync(directory) ? readdirSync(directory).map((name) => Number.parseInt(name, 10)) : []
}

const learnctl = (home: string, ...words: string[]): Promise<Ended> =>
  runLearnctl(words, { cwd: home, env: { HOME: home } })

describe('--detach', () => {
  const start = ['server', 'start', '--detach', '--port', '0', '--database', 'new.db']

  test('returns when the server answers; stop ends it', async ({ home }) => {
    const started = await learnctl(home, ...start)
    expect(started.code).toBe(0)
    const [url = '', keyLine = '', passwordLine = '', ...more] = started.stdout.split('\n')
    const key = /^Admin API key .*: (lpk_\w{36})$/.exec(keyLine)?.[1] ?? ''
    const password = /^Password for admin@academy\.local .*: ([a-z0-9-]{23})$/.exec(passwordLine)?.[1] ?? ''
    expect(password).not.toBe('')
    expect(more).toEqual([''])
    const reply = await fetch(`${url}/v1/courses`, { headers: { authorization: `Bearer ${key}` } })
    expect(reply.status).toBe(200)
    const log = /^note: Logging to (\S+); stop with: learnctl server stop --database '?([^'\n]+)'?\n$/.exec(
      started.stderr,
    )
    expect(log?.[2]).toBe(join(home, 'new.db'))
    const logged = readFileSync(log?.[1] ?? '', 'utf8')
    for (const secret of [key, password]) expect(logged).not.toContain(secret)

    const { stdout } = await learnctl(home, 'server', 'status', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject([{ url, database: join(home, 'new.db') }])
    expect(await learnctl(home, 'server', 'stop', '--database', 'new.db')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `Stopped the server at ${url} (${join(home, 'new.db')})\n`,
    })
    await expect(fetch(url)).rejects.toThrow()
    expect(await learnctl(home, 'server', 'stop', '--database', 'new.db')).toMatchObject({ code: 3 })
  })

  test('of the usual academy is ended without naming it', async ({ home }) => {
    const { stderr } = await learnctl(home, 'server', 'start', '--detach', '--port', '0')
    expect(stderr).toMatch(/; stop with: learnctl server stop\n$/)
    expect(await learnctl(home, 'server', 'stop')).toMatchObject({ code: 0 })
  })

  test('prints JSON where that is asked for; stop --all ends every server', async ({ home }) => {
    const urls: string[] = []
    for (const words of [
      ['--database', 'one.db', '--output=json'],
      ['--database', 'two.db', '-o', 'jsonl'],
    ]) {
      const started = await learnctl(home, 'server', 'start', '--detach', '--port', '0', ...words)
      urls.push(JSON.parse(started.stdout).url)
    }
    const { code, stderr } = await learnctl(home, 'server', 'stop', '--all')
    expect(code).toBe(0)
    expect(stderr).toBe(
      [
        `Stopped the server at ${urls[0]} (${join(home, 'one.db')})\n`,
        `Stopped the server at ${urls[1]} (${join(home, 'two.db')})\n`,
      ].join(''),
    )
    expect(listed(home)).toEqual([])
    for (const url of urls) await expect(fetch(url)).rejects.toThrow()
  })

  test('serves https to a client that trusts the certificate', async ({ home }) => {
    const { cert, key } = makeCertificate()
    writeFileSync(join(home, 'cert.pem'), cert)
    writeFileSync(join(home, 'key.pem'), key)
    const flags = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem', '--key-file', 'api.key']
    const { stdout } = await learnctl(home, ...start, ...flags)
    const url = stdout.trim().replace('127.0.0.1', 'localhost')
    expect(url).toMatch(/^https:/)
    const env = { HOME: home, LEARNCTL_API_KEY: readFileSync(join(home, 'api.key'), 'utf8').trim() }
    const list = (more: Record<string, string>) =>
      runLearnctl(['courses', 'list', '--url', url, '--retries', '0'], {
        cwd: home,
        env: { ...env, ...more },
      })
    expect(await list({ NODE_EXTRA_CA_CERTS: join(home, 'cert.pem') })).toMatchObject({ code: 0 })
    expect(await list({})).toMatchObject({ code: 7 })
    expect((await learnctl(home, 'server', 'status')).stdout).toContain('https://127.0.0.1')
    expect(await learnctl(home, 'server', 'stop', '--database', 'new.db')).toMatchObject({ code: 0 })
  })

  test.skipIf(!existsSync('/dev/full'))(
    'that cannot print the first key stops the server',
    async ({ home }) => {
      const line = [process.execPath, bin, ...start].join(' ')
      const full = await run('sh', ['-c', `${line} > /dev/full`], { cwd: home, env: { HOME: home } })
      expect(full).toMatchObject({ code: 1, stderr: 'error: Cannot write the output: the disk is full\n' })
      expect(listed(home)).toEqual([])
    },
  )

  test('tells at once why it cannot start', async ({ home }) => {
    const taken = await learnctl(home, ...start, '--host', '192.0.2.1', '--insecure-http')
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toMatch(/^error: Cannot listen on 192\.0\.2\.1, port 0: E\w+\n$/)
    const unwritable = await learnctl(home, ...start, '--key-file', 'none/key.txt')
    expect(unwritable).toMatchObject({ code: 2, stdout: '', stderr: 'error: Directory none not found\n' })
    expect(JSON.parse((await learnctl(home, 'server', 'status', '-o', 'json')).stdout)).toEqual([])
  })
})

test('stop is done when the server says so, even if its ended process is never reaped', async ({ home }) => {
  // `sleep` in place of the shell is a parent that never waits for its child, so the ended process remains a zombie.
  const line = `${process.execPath} ${bin} server start --port 0 --database a.db -o json & exec sleep 60`
  const { printed, kill } = startProcess('sh', ['-c', line], { cwd: home, env: { HOME: home } })
  onTestFinished(() => kill())
  await printed(/\n/)
  expect(await learnctl(home, 'server', 'stop', '--database', 'a.db')).toMatchObject({ code: 0 })
  expect(listed(home)).toEqual([])
})

test('SIGTERM lets an export that is open come to its end, and takes no new request', async ({ home }) => {
  const rows = 40_000
  const words = 'server start --port 0 --database big.db -o json'.split(' ')
  const server = startProcess(process.execPath, [bin, ...words], { cwd: home, env: { HOME: home } })
  const { url, key } = JSON.parse((await server.printed(/^.*\n/))[0])
  fillEnrollments(join(home, 'big.db'), rows)

  const request = get(`${url}/v1/analytics/learners?format=csv`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const [reply] = await once(request, 'response')
  server.kill('SIGTERM')
  while (await answers(url));
  let lines = 0
  for await (const piece of reply) for (const byte of piece) if (byte === 0x0a) lines += 1
  expect(reply.complete).toBe(true)
  expect(lines).toBe(rows + 1)
  expect(await server.ended).toMatchObject({ code: 143, signal: null })
  expect(listed(home)).toEqual([])
})

/** True if a new connection is served. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok
  } catch {
    return false
  }
}
