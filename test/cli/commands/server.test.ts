import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { makeCertificate } from '../../helpers/certificate.ts'
import { type TestCli, test, testCli } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { resultOf, rowsOf } from '../../helpers/result.ts'
import { serve } from './serving.ts'

const password = '[a-z3-9]{5}(-[a-z3-9]{5}){3}'

const get = (url: string, key?: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) } })

describe('start', () => {
  test("serves a new academy, and prints its address, the admin's key and password, once", {
    tags: ['slow'],
  }, async ({ cli }) => {
    const { printed, stop } = await serve(cli, '--database new.db')
    const [address = '', ofKey = '', ofPassword = '', ...more] = printed.split('\n')
    const [url = ''] = /^http:\/\/127\.0\.0\.1:\d+$/.exec(address) ?? []
    const [, key = ''] = /^Admin API key \(shown only once\): (lpk_\w{36})$/.exec(ofKey) ?? []
    expect(ofPassword).toMatch(
      new RegExp(`^Password for admin@academy.local at ${url}/dashboard \\(shown only once\\): ${password}$`),
    )
    expect(more).toEqual([''])
    expect(await (await get(`${url}/v1/user/profile`, key)).json()).toMatchObject({
      role: 'admin',
      scopes: ['read', 'write', 'admin'],
    })
    expect((await get(`${url}/v1/courses`)).status).toBe(401)
    expect(await stop()).toMatchObject({ code: 143, stdout: printed })

    const again = await serve(cli, '--database new.db')
    expect(again.printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/)
    expect((await get(`${again.printed.trim()}/v1/courses`, key)).status).toBe(200)
  })

  test('under -o json prints and logs JSON, and hides secrets', { tags: ['slow'] }, async ({ cli }) => {
    const { printed, stop } = await serve(cli, '--database new.db -o json')
    expect(printed).toMatch(/^\{.*\}\n$/)
    const { database, ...shown } = JSON.parse(printed)
    expect(database).toBe(join(cli.cwd, 'new.db'))
    expect(shown).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      key: expect.stringMatching(/^lpk_/),
      email: 'admin@academy.local',
      password: expect.stringMatching(new RegExp(`^${password}$`)),
    })
    await get(`${shown.url}/v1/courses?limit=1`, shown.key)
    await get(`${shown.url}/v1/courses?limit=0`, shown.key)
    const { stderr } = await stop()
    const entries = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toMatchObject([
      { method: 'GET', status: 200 },
      { method: 'GET', status: 400 },
    ])
    const files = readdirSync(cli.home, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    expect(files.map(({ name }) => name)).toContain('new.db')
    for (const secret of [shown.key, shown.password]) {
      expect(stderr).not.toContain(secret)
      for (const { parentPath, name } of files) {
        expect(readFileSync(join(parentPath, name)).includes(secret), name).toBe(false)
      }
    }
  })

  test('gives an admin without a password one, and keeps one that is set', async ({ cli }) => {
    await putNewAcademy(join(cli.cwd, 'old.db'))
    const first = await serve(cli, '--database old.db')
    expect(first.printed).toMatch(new RegExp(`^http\\S+\nPassword for .+: ${password}\n$`))
    await first.stop()
    expect((await serve(cli, '--database old.db')).printed).toMatch(/^http\S+\n$/)
    await putNewAcademy(join(cli.cwd, 'set.db'))
    const set = 'users set-password email:admin@academy.local --database set.db'
    expect(await cli.run(set, { stdin: 'correct horse battery' })).toMatchObject({ code: 0 })
    expect((await serve(cli, '--database set.db')).printed).toMatch(/^http\S+\n$/)
  })

  test('logs a line for people on a terminal, or with --log text', { tags: ['slow'] }, async ({ cli }) => {
    for (const [flags, options] of [
      ['', { tty: 80, env: { NO_COLOR: '1' } }],
      ['--log text', {}],
    ] as const) {
      const { printed, stop } = await serve(cli, `--database a.db ${flags}`, options)
      const [url = ''] = printed.split('\n')
      await get(`${url}/v1/courses?limit=1`)
      await get(`${url}/health`)
      const { stderr } = await stop()
      expect(stderr).toMatch(/^\d\d:\d\d:\d\d GET \/v1\/courses 401 \d+ ms missing_credentials$/m)
      expect(stderr).toMatch(/^\d\d:\d\d:\d\d GET \/health 200 \d+ ms$/m)
    }
  })

  test('logs a clock that is more than five seconds off the database', { tags: ['slow'] }, async () => {
    const logged = async (clockAheadMs: number, flags = '') => {
      const cli = testCli({ served: { clockAheadMs } })
      onTestFinished(cli.remove)
      const { stop } = await serve(cli, `--database a.db ${flags}`)
      return (await stop()).stderr
    }
    expect(await logged(-42_400, '--log text')).toBe(
      'The clock of this machine is 42 s behind the clock of the database: synchronise both, or other servers may refuse sign-in codes\n',
    )
    expect(JSON.parse(await logged(7000))).toEqual({
      level: 'warn',
      time: expect.any(String),
      clockAheadSeconds: 7,
    })
    expect(await logged(5000)).toBe('')
  })

  test('logs that stored secrets cannot be read', { tags: ['slow'] }, async () => {
    const encryptionTrouble = 'Encryption key file academy.key is missing: restore it from where it was kept.'
    const logged = async (flags = '') => {
      const cli = testCli({ served: { encryptionTrouble } })
      onTestFinished(cli.remove)
      const { stop } = await serve(cli, `--database a.db ${flags}`)
      return (await stop()).stderr
    }
    expect(await logged('--log text')).toBe(`${encryptionTrouble}\n`)
    expect(JSON.parse(await logged())).toMatchObject({ level: 'warn', encryption: encryptionTrouble })
  })

  test('on a terminal tells the dashboard and how to stop', { tags: ['slow'] }, async ({ cli }) => {
    const { printed, stop } = await serve(cli, '--database a.db', { tty: 80 })
    const [url = ''] = printed.split('\n')
    expect((await stop()).stderr).toBe(`note: Dashboard: ${url}/dashboard · Press Ctrl-C to stop\n`)
    expect((await (await serve(cli, '--database a.db')).stop()).stderr).toBe('')
  })

  test('in a dry run says what it would serve, and starts and makes nothing', async ({ cli }) => {
    for (const flags of ['', '--detach', '--key-file key.txt']) {
      expect(await cli.run(`server start --database new.db --port 4711 --dry-run ${flags}`)).toEqual({
        code: 0,
        stdout: '',
        stderr: `note: Would serve ${join(cli.cwd, 'new.db')} on 127.0.0.1, port 4711\n`,
      })
    }
    expect(readdirSync(cli.home)).toEqual(['work'])
    expect(readdirSync(cli.cwd)).toEqual([])
  })

  test('--detach of an academy that is served says where, and starts no other', async ({ cli }) => {
    const { printed } = await serve(cli, '--database a.db -o json')
    const { url } = JSON.parse(printed)
    const again = 'server start --detach --database a.db'
    for (const line of [again, `${again} --dry-run`]) {
      expect(await cli.run(line)).toEqual({
        code: 0,
        stdout: `${url}\n`,
        stderr: `note: Already running at ${url}\n`,
      })
    }
    const { stdout } = await cli.run(`${again} -o json`)
    expect(JSON.parse(stdout)).toEqual({ url, database: join(cli.cwd, 'a.db') })
    expect(await resultOf(cli, 'server status')).toHaveLength(1)
  })

  test.for([
    ['XDG_STATE_HOME', '--database a.db'],
    ['XDG_DATA_HOME', ''],
  ])('names %s where what it keeps cannot be written', async ([variable = '', flags], { cli }) => {
    writeFileSync(join(cli.home, 'taken'), '')
    const taken = join(cli.home, 'taken')
    expect(await cli.run(`server start --port 0 ${flags}`, { env: { [variable]: taken } })).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: Cannot write ${taken}/learnctl: ENOTDIR\n  hint: Set ${variable} to a writable directory\n`,
    })
  })

  test('ends with 130 on Ctrl-C and 143 on SIGTERM', async ({ cli }) => {
    expect(await (await serve(cli)).stop('SIGINT')).toMatchObject({ code: 130 })
    expect(await (await serve(cli)).stop('SIGTERM')).toMatchObject({ code: 143 })
  })

  test('serves the academy that quickstart makes, unless --database names another', async ({ cli }) => {
    await cli.run('profiles add local --database mine.db')
    await putNewAcademy(join(cli.cwd, 'mine.db'))
    await cli.run('courses create --title Sea --external-id sea')
    const { key } = await resultOf(cli, 'keys create --name test')
    const { printed } = await serve(cli, '-o json')
    const { url, database } = JSON.parse(printed)
    expect(database).toBe(join(cli.cwd, 'mine.db'))
    expect(await (await get(`${url}/v1/courses/ext:sea`, key)).json()).toMatchObject({
      title: 'Sea',
    })
  })

  test('takes no more requests a minute than --rate-limit', { tags: ['slow'] }, async ({ cli }) => {
    const { printed } = await serve(cli, '--database new.db --rate-limit 2 -o json')
    const { url, key } = JSON.parse(printed)
    const statuses = []
    for (let request = 0; request < 3; request += 1)
      statuses.push((await get(`${url}/v1/courses`, key)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('hands its addresses on: --public-url, --cors-origin', { tags: ['slow'] }, async ({ cli }) => {
    const flags =
      '--database new.db --public-url https://learn.example.org --cors-origin https://app.example.org'
    const { printed } = await serve(cli, flags)
    expect(printed).toMatch(/^https:\/\/learn\.example\.org\n/)
    const [{ address }] = await resultOf(cli, 'server status')
    const reply = await get(`${address}/health`, undefined, { origin: 'https://app.example.org' })
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.org')
  })

  test.for([
    ['--port 70000', '--port must be a whole number from 0 to 65535, not 70000'],
    ['--rate-limit -1', '--rate-limit must be a whole number, 0 or more, not -1'],
    ...['example.org', 'https://me:pw@example.org', 'https://example.org/?a', 'https://example.org/#a'].map(
      (url) => [
        `--public-url ${url}`,
        `--public-url must be an http or https URL without a user name, query or fragment, not "${url}"`,
      ],
    ),
    [
      '--cors-origin https://a.example/x',
      '--cors-origin must be an origin such as https://app.example.org, not "https://a.example/x"',
    ],
    [
      '--trusted-proxy 10.0.0.0/8,proxy.example',
      '--trusted-proxy must be an IP address or a network such as 10.0.0.0/8, not "proxy.example"',
    ],
    ['--tls-cert cert.pem', '--tls-cert requires --tls-key'],
    ['--tls-key key.pem', '--tls-key requires --tls-cert'],
    ['--tls-cert cert.pem --tls-key key.pem', 'Cannot read --tls-cert cert.pem: not found'],
    ['--tls-cert . --tls-key key.pem', 'Cannot read --tls-cert .: it is a directory'],
  ])('refuses %s in one line, and makes nothing', async ([flags = '', message = ''], { cli }) => {
    expect(await cli.run(`server start --database new.db ${flags}`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${message}\n`,
    })
    expect(readdirSync(cli.cwd)).toEqual([])
  })

  test('refuses a certificate or a key that cannot be used, in one line that says why', async ({ cli }) => {
    const [good, other, old, early] = [
      makeCertificate(),
      makeCertificate(),
      makeCertificate('2019-01-01', '2020-01-01'),
      makeCertificate('2110-01-01'),
    ]
    const write = (name: string, text: string) => writeFileSync(join(cli.cwd, name), text)
    for (const [name, { cert }] of Object.entries({ good, old, early })) write(`${name}.pem`, cert)
    for (const [name, { key }] of Object.entries({ good, other, old, early })) write(`${name}.key`, key)
    const locked = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'open sesame' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    write('locked.key', locked.privateKey)
    write('noise.pem', 'no certificate')
    const refusals = [
      ['noise.pem', 'good.key', '--tls-cert noise.pem is not a certificate in PEM format'],
      ['good.pem', 'noise.pem', '--tls-key noise.pem is not a private key in PEM format'],
      ['good.pem', 'locked.key', '--tls-key locked.key is protected by a passphrase, which is not supported'],
      ['good.pem', 'other.key', '--tls-key other.key does not belong to the certificate good.pem'],
      ['old.pem', 'old.key', '--tls-cert old.pem expired on 2020-01-01'],
      ['early.pem', 'early.key', '--tls-cert early.pem is not valid before 2110-01-01'],
    ] as const
    for (const [cert, key, message] of refusals) {
      expect(
        await cli.run(`server start --database new.db --port 0 --tls-cert ${cert} --tls-key ${key}`),
      ).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n` })
    }
    expect(existsSync(join(cli.cwd, 'new.db'))).toBe(false)
  })

  test('serves plain http to others only where that is asked for', { tags: ['slow'] }, async ({ cli }) => {
    expect(await cli.run('server start --database new.db --port 0 --host 0.0.0.0')).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: Refusing to serve on 0.0.0.0 over unencrypted http
  Others on the network could read passwords and API keys
  hint: Use --tls-cert and --tls-key, or --public-url https://… behind a proxy, or --insecure-http to allow it
`,
    })
    for (const host of [
      '0.0.0.0 --public-url http://learn.example.org',
      '::',
      '192.0.2.1',
      'learn.example.org',
    ]) {
      const { code } = await cli.run(`server start --database new.db --port 0 --host ${host}`)
      expect(code, host).toBe(2)
    }
    for (const flags of [
      '--host 0.0.0.0 --insecure-http',
      '--host 0.0.0.0 --public-url https://learn.example.org',
      '--host localhost',
    ]) {
      await (await serve(cli, `--database new.db ${flags}`)).stop()
    }
  })

  test('on a port that is in use says how to go on, and is not listed', async ({ cli }) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { code, stdout, stderr } = await cli.run(`server start --database new.db --port ${port}`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `error: Port ${port} on 127.0.0.1 is already in use\n  hint: Use --port to choose another (0 for any free port); \`learnctl server status\` lists running servers\n`,
    )
    expect(await rowsOf(cli, 'server status')).toEqual([])
  })

  test('of a file that is no academy leaves the file alone', async ({ cli }) => {
    const file = join(cli.cwd, 'notes.txt')
    writeFileSync(file, 'My notes, not a database at all.')
    const { code, stdout, stderr } = await cli.run('server start --port 0 --database notes.txt')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: .*notes\.txt .*\n$/)
    expect(readFileSync(file, 'utf8')).toBe('My notes, not a database at all.')
  })

  test('of an academy elsewhere is refused', async ({ cli }) => {
    await cli.run('profiles add school --url https://school.example')
    expect(await cli.run('server start --profile school')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: Cannot serve https://school.example: it is not an academy on this machine\n',
    })
  })
})

describe('--key-file', () => {
  test('gets the first key, for its owner alone, unprinted', { tags: ['slow'] }, async ({ cli }) => {
    const { printed, stop } = await serve(cli, '--database new.db --key-file key.txt')
    expect(printed).toMatch(/^http:\S+\n$/)
    const file = join(cli.cwd, 'key.txt')
    const key = readFileSync(file, 'utf8').trim()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await get(`${printed.trim()}/v1/courses`, key)).status).toBe(200)
    expect((await stop()).stderr).not.toContain(key)
    await (await serve(cli, '--database new.db --key-file key.txt')).stop()
    expect(readFileSync(file, 'utf8').trim()).toBe(key)
    // No password was made, because no one would have seen it.
    expect((await serve(cli, '--database new.db')).printed).toMatch(new RegExp(`: ${password}\n$`))
  })

  test('that cannot be written is told before an academy is made', async ({ cli }) => {
    const { code, stdout, stderr } = await cli.run(
      'server start --port 0 --database new.db --key-file none/key.txt',
    )
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe('error: Directory none not found\n')
    expect(existsSync(join(cli.cwd, 'new.db'))).toBe(false)
  })
})

describe('status and stop', () => {
  test('a server is listed while it runs', { tags: ['slow'] }, async ({ cli }) => {
    const { printed, stop } = await serve(cli, '--database new.db -o json')
    const { url, database } = JSON.parse(printed)
    expect(await resultOf(cli, 'server status')).toEqual([
      { url, address: url, pid: process.pid, database, startedAt: '2026-03-01T12:00:00.000Z' },
    ])
    expect(await rowsOf(cli, 'server status')).toEqual([
      [url, database, `${process.pid}`, '2026-03-01T12:00:00.000Z'],
    ])
    await stop()
    expect(await resultOf(cli, 'server status')).toEqual([])
  })

  test('files of a killed server are cleared away', async ({ cli }) => {
    await serve(cli, '--database new.db')
    const [file = ''] = serversIn(cli)
    const dead = 'http://127.0.0.1:1'
    // The system reuses process ids.
    for (const pid of [2 ** 30, process.ppid]) {
      const gone = { ...JSON.parse(readFileSync(file, 'utf8')), pid, url: dead, address: dead }
      writeFileSync(join(file, '..', `${pid}.json`), JSON.stringify(gone))
    }
    writeFileSync(join(file, '..', '999999.json'), '{"pid": 99')
    expect(await resultOf(cli, 'server status')).toHaveLength(1)
    expect(serversIn(cli)).toEqual([file])
  })

  test('stop without a server exits 3 and names the academy', async ({ cli }) => {
    expect(await cli.run('server stop --database new.db')).toEqual({
      code: 3,
      stdout: '',
      stderr: `error: No server is running for ${join(cli.cwd, 'new.db')}\n  hint: List running servers: learnctl server status\n`,
    })
  })

  test('stop in a dry run says what it would stop, and stops nothing', async ({ cli }) => {
    const { printed } = await serve(cli, '--database a.db -o json')
    const { url, database } = JSON.parse(printed)
    for (const flags of ['--database a.db', '--all']) {
      expect(await cli.run(`server stop --dry-run ${flags}`)).toEqual({
        code: 0,
        stdout: '',
        stderr: `note: Would stop the server at ${url} (${database})\n`,
      })
    }
    expect((await get(`${url}/health`)).status).toBe(200)
  })

  test('stop --all without a server exits 3; with --database it is refused', async ({ cli }) => {
    expect(await cli.run('server stop --all')).toEqual({
      code: 3,
      stdout: '',
      stderr: 'error: No server is running\n',
    })
    expect(await cli.run('server stop --all --database a.db')).toMatchObject({
      code: 2,
      stderr: 'error: --all and --database cannot be used together\n',
    })
  })
})

test('openapi prints every operation, in JSON or YAML', { tags: ['slow'] }, async ({ cli }) => {
  const { code, stdout, stderr } = await cli.run('server openapi')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const document = JSON.parse(stdout)
  expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), 'x-idempotency': true })
  expect(Object.keys(document.paths)).toContain('/v1/learners/{learnerId}/progress')
  expect(parseYaml((await cli.run('server openapi -o yaml')).stdout)).toEqual(document)
})

function serversIn(cli: TestCli): string[] {
  const directory = join(cli.home, '.local/state/learnctl/servers')
  return readdirSync(directory).map((name) => join(directory, name))
}
