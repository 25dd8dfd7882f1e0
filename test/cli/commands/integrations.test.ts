import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { listen } from '../../helpers/listen.ts'
import { ran, resultOf, rowsOf } from '../../helpers/result.ts'

const secret = 'webhook-secret-of-a-test'
const token = 'access-token-of-a-test-4711'

/** Starts another system that responds as configured. */
async function system(answer: (request: IncomingMessage, body: string, response: ServerResponse) => void) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    answer(request, body, response)
  })
  const { url, close } = await listen(server)
  onTestFinished(close)
  return url
}

const json = (response: ServerResponse, value: object, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

describe('set', () => {
  test('says where events go and how the other system is told', async ({ local }) => {
    const { stderr } = await ran(local, 'integrations set canvas --root-account-uuid abc')
    expect(stderr).toMatch(
      /^Set up integration canvas\nnote: Webhook URL: <URL of your server>\/webhooks\/canvas\/grades\n/,
    )
    expect(stderr).toContain('In Canvas, under Admin > Data Services')
    expect(await resultOf(local, 'integrations get canvas')).toMatchObject({
      rootAccountUuid: 'abc',
      version: 1,
    })
  })

  test('prints a secret that it makes once, and no other ever', async ({ local }) => {
    const made = await resultOf(local, 'integrations set standard --generate-secret')
    expect(made.webhookSecret).toMatch(/^whsec_[A-Za-z0-9]{32}$/)
    const table = await local.run('integrations set moodle --generate-secret')
    expect(table.stdout).toMatch(/whsec_\w{32}\n$/)
    expect(table.stderr).not.toContain('whsec_')
    const dry = await local.run('integrations set moodle --generate-secret --dry-run')
    expect(dry.stdout + dry.stderr).not.toContain('whsec_')
    const others = [
      'integrations list -o json',
      'integrations get standard -o yaml',
      'integrations test standard',
    ]
    for (const line of others) expect((await local.run(line)).stdout).not.toContain(made.webhookSecret)
    expect((await ran(local, 'integrations set standard --generate-secret -q', 2)).stderr).toContain(
      'would lose the webhookSecret',
    )
  })

  test('takes secrets from standard input or a hidden prompt', { tags: ['slow'] }, async ({ local }) => {
    const runs = [
      await local.run('integrations set moodle --webhook-secret-stdin --debug', { stdin: `${secret}\n` }),
      await local.run('integrations set moodle --access-token-stdin --debug', { stdin: token }),
      await local.run('integrations set canvas --access-token-stdin --color never', {
        tty: 80,
        typed: [`${token}\n`],
      }),
      await local.run('integrations set canvas --webhook-secret-stdin --dry-run', { stdin: secret }),
    ]
    for (const { code, stdout, stderr } of runs) {
      expect({ code, told: `${stdout}${stderr}` }).toMatchObject({ code: 0 })
      expect(stdout + stderr).not.toContain(secret)
      expect(stdout + stderr).not.toContain(token)
    }
    const { secrets } = await resultOf(local, 'integrations get moodle')
    expect(secrets).toMatchObject({ accessToken: { last4: '4711' }, webhook: [{ endsAt: null }] })
    expect((await resultOf(local, 'integrations get canvas')).secrets.accessToken.last4).toBe('4711')
  })

  test('keeps the secret before for a day, or as long as set', { tags: ['slow'] }, async ({ local }) => {
    const setTo = (stdin: string) => local.run('integrations set moodle --webhook-secret-stdin', { stdin })
    const ends = async () =>
      (await resultOf(local, 'integrations get moodle')).secrets.webhook.map(
        ({ endsAt }: { endsAt: string | null }) => endsAt,
      )
    await setTo(secret)
    expect(await ends()).toEqual([null])
    await setTo('the-second-one-of-them')
    expect(await ends()).toEqual([null, '2026-03-02T12:00:00.000Z'])
    // Repeating it, as a script would, does not extend the end of the old secret.
    await setTo('the-second-one-of-them')
    expect(await ends()).toEqual([null, '2026-03-02T12:00:00.000Z'])
    await local.run('integrations set moodle --remove-secret old-webhook-secret')
    expect(await ends()).toEqual([null])
    await setTo(secret)
    await local.run('integrations set moodle --body -', { stdin: 'oldSecretEndsAt: 2026-03-08T12:00:00Z' })
    expect(await ends()).toEqual([null, '2026-03-08T12:00:00.000Z'])
    await local.run('integrations set moodle --remove-secret webhook-secret')
    expect(await ends()).toEqual([])
  })

  test('takes keys from a file or URL, and grade items', { tags: ['slow'] }, async ({ local }) => {
    const key = { kty: 'RSA', kid: '1', n: 'x'.repeat(342), e: 'AQAB' }
    writeFileSync(join(local.cwd, 'jwks.json'), JSON.stringify({ keys: [key] }))
    await local.run('integrations set canvas --jwks jwks.json --grade-item 12=20 --grade-item 13=5')
    expect(await resultOf(local, 'integrations get canvas')).toMatchObject({
      jwks: { keys: [key] },
      gradeItems: { 12: { maximum: 20 }, 13: { maximum: 5 } },
    })
    await local.run('integrations set canvas --jwks https://canvas.example/jwks --grade-item 12=')
    const after = await resultOf(local, 'integrations get canvas')
    expect(after).toMatchObject({ jwks: null, jwksUrl: 'https://canvas.example/jwks' })
    expect(Object.keys(after.gradeItems)).toEqual(['13'])
  })

  test('another base URL requires the access token again', async ({ local }) => {
    await local.run('integrations set canvas --base-url https://here.example --access-token-stdin', {
      stdin: token,
    })
    const { code, stderr } = await local.run('integrations set canvas --base-url https://other.example')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^error: --base-url requires the access token again: .*\n(.*\n)?.*hint: Give it with --access-token-stdin/,
      ),
    })
    const removed = 'integrations set canvas --base-url https://other.example --remove-secret access-token'
    expect(await local.run(removed)).toMatchObject({ code: 0 })
  })

  test.for([
    ['moodle --webhook-secret-stdin', 'No webhook secret on standard input'],
    ['moodle --webhook-secret-stdin --access-token-stdin', 'can read standard input'],
    ['moodle --grade-item 12=none', '--grade-item 12= must be a number above 0, not "none"'],
    ['moodle --remove-secret all', '--remove-secret must be access-token'],
    ['canvas --jwks nowhere.json', 'Cannot read nowhere.json: file not found'],
    ['moodle', 'Nothing to update'],
    ['moodle --webhook-secret-stdin', 'error: The webhook secret must have at least 8 characters\n', 'short'],
    ['moodle --access-token-stdin', 'error: The access token must have at least 8 characters\n', 'short'],
    ['standard --webhook-secret-stdin', 'The webhook secret must be whsec_ followed by', 'not-in-base64'],
  ])('integrations set %s: %s', async ([line, said, stdin = ''], { local }) => {
    const { code, stderr, stdout } = await local.run(`integrations set ${line}`, { stdin })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
  })
})

test('a system without events gets a webhook address for a relay alone', async ({ local }) => {
  const set = 'integrations set oneroster --base-url https://sis.example/ims/oneroster'
  expect((await local.run(set)).stderr).toBe(
    'Set up integration oneroster\nnote: Set the base URL, the token URL, the client id and the client secret to read the provider with learnctl roster diff integration:oneroster\n',
  )
  const relayed = await local.run(`${set} --webhook-secret-stdin`, { stdin: 'a long secret of the relay' })
  expect(relayed.stderr).toContain('note: Webhook URL: <URL of your server>/webhooks/oneroster/grades\n')
  expect(relayed.stderr).toContain('note: Send grade.updated events to this URL')
})

test('an integration that there is not is named with what to type', async ({ local }) => {
  expect(await local.run('integrations get moodle')).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /^error: Integration moodle not found\n.*hint: Set it up: learnctl integrations set moodle\n/s,
    ),
  })
  expect((await ran(local, 'integrations get modle', 3)).stderr).toContain('Did you mean moodle?')
})

describe('test', () => {
  const check = async (local: Parameters<typeof resultOf>[0], kind: string) => {
    const { code, stdout } = await local.run(`integrations test ${kind} -o json`)
    const { checks } = JSON.parse(stdout)
    const of = Object.fromEntries(checks.map((one: Record<string, string>) => [one['name'], one]))
    return { code, connection: of['connection'], token: of['accessToken'], secret: of['webhookSecret'] }
  }
  const connect = (local: Parameters<typeof resultOf>[0], kind: string, url: string) =>
    local.run(`integrations set ${kind} --base-url ${url} --access-token-stdin`, { stdin: token })

  test('asks each system in its own way, and names the user', { tags: ['slow'] }, async ({ local }) => {
    const seen: string[] = []
    const url = await system((request, body, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`)
      if (request.url?.startsWith('/api/v1/')) json(response, { id: 7, name: 'Ada' })
      else if (request.url?.startsWith('/api/user/')) json(response, { username: 'ada' })
      else if (request.url?.startsWith('/api/public/')) json(response, { items: [] })
      else json(response, { username: 'ws', sitename: 'Mount Orange', fullname: 'Web service' })
    })
    const said: Record<string, string> = {}
    for (const kind of ['canvas', 'moodle', 'openedx', 'thinkific']) {
      await connect(local, kind, url)
      const found = await check(local, kind)
      expect(found.connection?.['status']).toBe('ok')
      said[kind] = found.token?.['detail'] ?? ''
    }
    expect(said).toEqual({
      canvas: 'accepted as Ada (id 7)',
      moodle: 'accepted as ws on Mount Orange',
      openedx: 'accepted as ada',
      thinkific: 'accepted as a user who can read courses',
    })
    expect(seen).toEqual(
      expect.arrayContaining([
        `GET /api/v1/users/self Bearer ${token} `,
        `POST /webservice/rest/server.php undefined wstoken=${token}&moodlewsrestformat=json&moodlewssettingraw=true&moodlewssettingfilter=false&wsfunction=core_webservice_get_site_info`,
        `GET /api/user/v1/me Bearer ${token} `,
        `GET /api/public/v1/courses?limit=1 Bearer ${token} `,
      ]),
    )
  })

  test.for([
    ['a wrong token', (response: ServerResponse) => json(response, {}, 401), 'not accepted (HTTP 401)'],
    [
      'a wrong token, as Moodle says it',
      (response: ServerResponse) => json(response, { exception: 'x', errorcode: 'invalidtoken' }),
      'not accepted (invalidtoken)',
    ],
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: 'https://evil.example/x' }).end(),
      'redirected to https://evil.example: set the base URL to where the system is',
    ],
    [
      'a web page',
      (response: ServerResponse) => response.end('<html>'),
      'unexpected answer, which is not JSON: check the base URL',
    ],
  ] as const)('fails on %s', async ([, answer, detail], { local }) => {
    const url = await system((_, __, response) => void answer(response))
    await connect(local, 'moodle', url)
    const found = await check(local, 'moodle')
    expect(found).toMatchObject({ code: 1, token: { status: 'failed', detail } })
    const table = await local.run('integrations test moodle', { tty: 60 })
    expect(table.stderr).toContain(`note: accessToken: ${detail}`)
  })

  test('shows what a system says in bounds, without controls', { tags: ['slow'] }, async ({ local }) => {
    const url = await system((_, __, response) =>
      json(response, { id: '1\u001b[31m', name: 'x'.repeat(100_000) }),
    )
    await connect(local, 'canvas', url)
    const cut = await check(local, 'canvas')
    expect(cut.token).toMatchObject({ status: 'failed' })
    const short = await system((_, __, response) =>
      json(response, { id: '1\u001b[31m', name: `Ada\n${'x'.repeat(500)}` }),
    )
    await connect(local, 'canvas', short)
    expect((await check(local, 'canvas')).token?.['detail']).toBe(
      `accepted as Ada${'x'.repeat(97)} (id 1[31m)`,
    )
  })

  test('says what is missing', { tags: ['slow'] }, async ({ local }) => {
    await local.run('integrations set moodle --grade-to-progress percent')
    expect(await check(local, 'moodle')).toMatchObject({
      code: 1,
      connection: { status: 'skipped', detail: 'no base URL is set' },
      secret: { status: 'skipped', detail: 'no webhook secret is set: every event is refused' },
    })
    expect((await local.run('integrations test moodle', { tty: 80 })).stderr).toContain(
      'Nothing could be checked: no base URL is set; ',
    )
    await local.run('integrations set oneroster --grade-to-progress percent')
    const untouched = await local.run('integrations test oneroster -o json')
    expect([untouched.code, JSON.parse(untouched.stdout).checks[0]]).toEqual([
      1,
      {
        ...{ name: 'client', status: 'skipped' },
        detail: 'no token URL, no client id, no client secret is set',
      },
    ])
    await local.run('integrations set oneroster --client-id academy')
    const begun = await local.run('integrations test oneroster -o json')
    expect([begun.code, JSON.parse(begun.stdout).checks[0]]).toMatchObject([
      1,
      { status: 'failed', detail: 'no token URL, no client secret is set' },
    ])
    await local.run('integrations set standard --generate-secret')
    expect(await check(local, 'standard')).toMatchObject({
      code: 0,
      connection: { status: 'skipped' },
      secret: {
        status: 'ok',
        detail: expect.stringMatching(/^set on 2026-03-01T12:00:00.000Z, ends in \w{4}$/),
      },
    })
    expect(await local.run('integrations test thinkific')).toMatchObject({ code: 3 })
  })

  test('needs no webhook secret of an integration that is read', { tags: ['slow'] }, async ({ local }) => {
    const url = await system((_, __, response) => json(response, { id: 7, name: 'Ada', username: 'ada' }))
    for (const kind of ['canvas', 'moodle']) {
      await connect(local, kind, url)
      expect(await check(local, kind)).toMatchObject({
        ...{ code: 0, token: { status: 'ok' }, secret: { status: 'skipped' } },
      })
    }
    // Keys of Canvas are of no use without the account that they are for.
    await local.run('integrations set canvas --jwks https://school.example/keys')
    expect((await local.run('integrations test canvas')).code).toBe(1)
  })

  test('sends a token to no open http address', async ({ local }) => {
    await connect(local, 'canvas', 'http://93.184.216.34')
    expect((await check(local, 'canvas')).connection).toMatchObject({
      status: 'failed',
      detail: '93.184.216.34 requires https: others could read what is sent over http',
    })
  })
})

describe('map', () => {
  test('maps and unmaps one', { tags: ['slow'] }, async ({ local }) => {
    await local.run('courses create --title Sea --external-id BIO-101')
    const mapped = await local.run('integrations map canvas course 21070000000000565 BIO-101')
    expect(mapped).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Mapped course 21070000000000565 of canvas to Sea \(crs_\w+\)\n$/),
    })
    expect(await rowsOf(local, 'integrations mappings canvas --columns noun,externalKey,name')).toEqual([
      ['course', '21070000000000565', 'Sea'],
    ])
    expect(await local.run('integrations unmap canvas course 565')).toMatchObject({ code: 3 })
    expect((await local.run('integrations unmap canvas course 21070000000000565')).stderr).toBe(
      'Deleted the mapping of course 21070000000000565 of canvas to Sea\n',
    )
    expect(await rowsOf(local, 'integrations mappings canvas')).toEqual([])
    expect(await local.run('integrations map canvas course 1 ext:none')).toMatchObject({ code: 3 })
    expect(await local.run('integrations map canvas course 1')).toMatchObject({ code: 2 })
    expect((await local.run('integrations map canvas course 1 BIO-101 --skip-invalid')).stderr).toContain(
      '--skip-invalid requires --file',
    )
  })

  test('maps a file, after all of it was checked', { tags: ['slow'] }, async ({ local }) => {
    await local.run('courses create --title Sea --external-id BIO-101')
    const file = (text: string) => writeFileSync(join(local.cwd, 'mappings.csv'), text)
    file('noun,externalKey,reference\ncourse,1,BIO-101\nusr,2,x\nuser,,x\n')
    const refused = await local.run('integrations map canvas --file mappings.csv')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^error: 2 problems found in mappings\.csv; nothing was imported\n/)
    expect(refused.stderr).toContain('mappings.csv:3: noun: must be one of course, user')
    expect(refused.stderr).toContain('mappings.csv:4: externalKey: is required')
    writeFileSync(join(local.cwd, 'm.json'), '[{"noun":"course","externalKey":4,"reference":"BIO-101"}]')
    expect((await local.run('integrations map canvas --file m.json')).stderr).toContain(
      'm.json:1: externalKey: must be a string, not 4\n',
    )
    file(
      'noun,externalKey,reference\ncourse,1,BIO-101\nuser,2,ext:nobody\nuser,3,email:admin@academy.local\n',
    )
    const planned = await local.run('integrations map canvas --file mappings.csv --dry-run')
    expect(planned.stderr).toBe('Dry run of mappings.csv: 2 create, 1 fail; nothing was sent\n')
    expect(planned.stdout).toContain('reference: user ext:nobody not found')
    expect(await rowsOf(local, 'integrations mappings canvas')).toEqual([])
    const done = await ran(local, 'integrations map canvas --file mappings.csv', 8)
    expect(done.stderr).toContain('Imported 2 rows of 3 from mappings.csv: 2 created, 1 failed')
    expect(readFileSync(join(local.cwd, 'mappings.errors.csv'), 'utf8')).toContain(
      'User ext:nobody not found',
    )
    expect((await local.run('integrations map canvas --file mappings.csv')).stderr).toContain(
      '2 unchanged, 1 failed',
    )
    expect(await rowsOf(local, 'integrations mappings canvas')).toHaveLength(2)
    const again = await local.run('integrations map canvas --file mappings.csv --dry-run')
    expect(again.stderr).toBe('Dry run of mappings.csv: 2 unchanged, 1 fail; nothing was sent\n')
    expect(await local.run('integrations map canvas course 1 x --file mappings.csv')).toMatchObject({
      code: 2,
    })
    const piped = await local.run('integrations map moodle --file -', {
      stdin: 'noun,externalKey,reference\ncourse,9,BIO-101\n',
    })
    expect(piped.stderr).toBe('Imported 1 row of 1 from standard input: 1 created\n')
  })
})

describe('the encryption key', () => {
  test('is named for PostgreSQL alone: that of a file is beside it', async ({ local }) => {
    expect((await ran(local, 'server start --encryption-key-file academy.key', 2)).stderr).toContain(
      '--encryption-key-file requires a PostgreSQL database',
    )
    expect(
      await local.run('server new-encryption-key --yes --database postgres://db.example.org/academy'),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--encryption-key-file is required for a PostgreSQL database'),
    })
  })

  const keyOf = (local: Parameters<typeof resultOf>[0]) => join(local.cwd, 'academy.db.key')

  test('is told by doctor when lost, and replaced on request', { tags: ['slow'] }, async ({ local }) => {
    expect((await local.run('server new-encryption-key --yes')).stderr).toContain(
      'The encryption key is not lost',
    )
    await local.run('integrations set moodle --webhook-secret-stdin', { stdin: secret })
    const path = keyOf(local)
    expect((await rowsOf(local, 'doctor')).find(([name]) => name === 'Encryption')).toEqual([
      'Encryption',
      'ok',
      'everything encrypted can be read',
    ])
    rmSync(path)
    const sick = await ran(local, 'doctor', 1)
    expect(sick.stdout).toMatch(
      /Encryption\tfailed\tEncryption key file \S+\.key is missing: restore it from where it was kept; if it is lost, run: learnctl server new-encryption-key\n/,
    )
    const refused = await local.run('integrations set moodle --webhook-secret-stdin', {
      stdin: 'another-secret',
    })
    expect(refused).toMatchObject({ code: 7 })
    expect(refused.stderr).toContain('is missing: restore it from where it was kept')
    expect(await local.run('server new-encryption-key')).toMatchObject({ code: 2 })
    expect(await local.run('server new-encryption-key --yes')).toMatchObject({ code: 0 })
    expect((await local.run('audit list --noun encryption_key --columns action,credential')).stdout).toBe(
      'encryption_key.replaced\tlocal\n',
    )
    expect(await local.run('integrations test moodle')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is missing'),
    })
    await local.run('integrations set moodle --webhook-secret-stdin', { stdin: 'another-secret' })
    expect((await local.run('integrations test moodle')).stdout).toContain('webhookSecret\tok')
    expect((await local.run('doctor')).stdout).toContain('everything encrypted can be read')
  })

  test('is in no backup, which says so, and missed elsewhere', { tags: ['slow'] }, async ({ local }) => {
    await local.run('integrations set moodle --webhook-secret-stdin', { stdin: secret })
    const path = keyOf(local)
    expect((await local.run('server backup saved.db')).stderr).toContain(
      `note: Its secrets are encrypted with ${path}, which is not in the backup; keep a copy of that elsewhere\n`,
    )
    expect((await local.run('server restore saved.db --yes')).stderr).not.toContain('Encryption')
    const elsewhere = await local.run('server restore saved.db --database other.db --yes')
    expect(elsewhere.stderr).toContain('Encryption key file other.db.key is missing')
    const copied = await local.run([
      'server',
      'copy',
      '--from',
      path.replace(/\.key$/, ''),
      '--to',
      'copy.db',
    ])
    expect(copied.stderr).toMatch(
      /note: Its secrets are encrypted with \S+\.key; copy that to \S+copy\.db\.key\n$/,
    )
  })
})
