import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { minute, type Person, type TestAcademy, test } from '../../helpers/academy.ts'
import { listen } from '../../helpers/listen.ts'
import { makeEndpoint, messagesOf, openDispatcher, waitFor } from './scene.ts'

const [username, password] = ['academy', 'secret of the academy']
const homePage = 'https://academy.example'

/** Makes an endpoint for a record store. */
async function connect(admin: Person, lrs: FakeLrs, xapi: object = {}, more: object = {}): Promise<string> {
  const settings = { username, homePage, ...xapi }
  return (await makeEndpoint(admin, lrs.url, { kind: 'xapi', xapi: settings, password, ...more })).id
}

/** Makes a course and learners in it. */
async function fill(admin: Person, learners = 1) {
  const criteria = { assessmentCriteria: { passingScore: 60 } }
  const course = { title: 'Logic', status: 'published', language: 'en', ...criteria }
  const { id: courseId } = (await admin.post('/v1/courses', course)).body
  const ids: string[] = []
  for (let index = 0; index < learners; index += 1) {
    const profile = { firstName: 'Ada', lastName: `Secret${index}` }
    const user = { email: `ada${index}@b.example`, externalId: `S-${index}`, profile }
    ids.push((await admin.post('/v1/users', user)).body.id)
  }
  const reach = async (learnerId: string, completionPercentage: number) => {
    await admin.put(`/v1/learners/${learnerId}/progress`, { courseId, completionPercentage })
  }
  return { courseId, ids, reach }
}

const verbsIn = ({ statements }: FakeLrs) => [...statements.values()].map(({ verb }) => verb.display['en'])

const delivered = (all: readonly { status: string }[]) => all.every(({ status }) => status === 'delivered')

async function grade(academy: TestAcademy, learnerId: string, courseId: string, more: object = {}) {
  return academy.grade({ learnerId, courseId, itemId: 'quiz', scoreGiven: 8, scoreMaximum: 10, ...more })
}

test('progress, completion, scores and passing reach the record store in one batch, in their order', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const { courseId, ids, reach } = await fill(admin)
  await reach(ids[0] ?? '', 0)
  await reach(ids[0] ?? '', 50)
  await reach(ids[0] ?? '', 100)
  await grade(academy, ids[0] ?? '', courseId)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toSatisfy((all) => all.length === 5 && delivered(all))
  expect(lrs.batches).toEqual([6])
  expect(verbsIn(lrs)).toEqual(['initialized', 'progressed', 'progressed', 'completed', 'scored', 'passed'])
  expect(lrs.requests[0]?.headers).toMatchObject({
    'x-experience-api-version': '1.0.3',
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  })
  expect(JSON.stringify([...lrs.statements.values()])).not.toMatch(/Secret|b\.example/)
})

test('what was pushed is what the analytics list, with the same ids', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs, { xapiVersion: '2.0.0', actor: 'external-id' })
  const { courseId, ids, reach } = await fill(admin, 2)
  for (const learner of ids) {
    await reach(learner, 0)
    await reach(learner, 100)
    await grade(academy, learner, courseId)
  }
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toSatisfy(delivered)
  const query = `xapi_version=2.0.0&actor=external-id&home_page=${homePage}&limit=100`
  const { data } = (await admin.get(`/v1/analytics/statements?${query}`)).body
  expect(data).toHaveLength(10)
  expect(Object.fromEntries(data.map((one: { id: string }) => [one.id, one]))).toEqual(
    Object.fromEntries(lrs.statements),
  )
})

test('only events that make statements are queued; grades that are hidden make none', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const { courseId, ids } = await fill(admin)
  await admin.post('/v1/enrollments', { courseId, userId: ids[0] })
  await grade(academy, ids[0] ?? '', courseId, { published: false })
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toMatchObject([
    {
      type: 'grade.updated',
      status: 'delivered',
      lastResult: 'Nothing to send: the event makes no statement',
    },
  ])
  expect(lrs.requests).toEqual([])
})

test('a statement at fault is found and marked with the words of the store; all others are stored', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const { ids, reach } = await fill(admin, 40)
  const at = ids[17] ?? ''
  lrs.refuses = ({ actor }) => (JSON.stringify(actor).includes(at) ? 'The actor\nis unknown here' : undefined)
  for (const learner of ids) await reach(learner, 50)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toSatisfy((all) =>
    all.every(({ status }: { status: string }) => status !== 'pending'),
  )
  const messages = await messagesOf(admin, id)
  expect(messages.filter(({ status }: { status: string }) => status === 'failed')).toMatchObject([
    { subject: at, attemptCount: 1, lastResult: 'HTTP 400: The actor is unknown here' },
  ])
  expect(lrs.statements.size).toBe(39)
  // 40 halves to 1 in about six steps, of two requests each, and one for the versions.
  expect(lrs.requests.length).toBeLessThan(16)
})

test('a batch that is too large is divided', { tags: ['slow'] }, async ({ academy, admin }) => {
  const lrs = await startLrs({ maxBatch: 7 })
  const id = await connect(admin, lrs)
  const { ids, reach } = await fill(admin, 20)
  for (const learner of ids) await reach(learner, 50)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toSatisfy((all) => all.length === 20 && delivered(all))
  expect(Math.max(...lrs.batches.slice(2))).toBeLessThanOrEqual(10)
  expect(lrs.statements.size).toBe(20)
})

test('a response that is lost, and a replay, store nothing twice', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const { ids, reach } = await fill(admin)
  await reach(ids[0] ?? '', 50)
  lrs.fault = 'half'
  const dispatcher = openDispatcher(academy)
  dispatcher.advance(1)
  await waitFor(admin, id).toMatchObject([
    { status: 'pending', attemptCount: 1, lastResult: 'Connection closed before the response' },
  ])
  lrs.fault = undefined
  dispatcher.advance(6000)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 2 }])
  const [message] = await messagesOf(admin, id)
  await admin.post(`/v1/webhooks/messages/${message.id}/resend`)
  dispatcher.wake()
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 3, lastResult: 'HTTP 200' }])
  expect(lrs.statements.size).toBe(1)
})

test('a store that answers 409 for what it has is asked, and an equal statement counts as delivered', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const { ids, reach } = await fill(admin, 3)
  for (const learner of ids) await reach(learner, 50)
  const dispatcher = openDispatcher(academy)
  dispatcher.advance(1)
  await waitFor(admin, id).toSatisfy((all) => all.length === 3 && delivered(all))
  lrs.fault = 'conflicts_always'
  const [first, ...others] = [...lrs.statements.values()]
  if (first) lrs.statements.set(first.id, { ...first, result: { completion: false } })
  for (const { id: message } of await messagesOf(admin, id)) {
    await admin.post(`/v1/webhooks/messages/${message}/resend`)
  }
  dispatcher.wake()
  await waitFor(admin, id).toMatchObject([
    { status: 'failed', lastResult: 'HTTP 409: another statement has the same id' },
    ...others.map(() => ({ status: 'delivered', lastResult: 'HTTP 409: the record store has it already' })),
  ])
})

test.for([
  ['login_page', 'HTTP 200, but not from a record store: check the URL, which ends before /statements'],
  ['redirect', 'HTTP 302: redirects are not followed'],
  ['forbidden', 'HTTP 403: the credential may not store statements'],
  ['unavailable', 'HTTP 503'],
  ['throttled', 'HTTP 429'],
] as const)(
  'a store that answers %s fails the attempt, and all is sent later',
  async ([fault, result], { academy, admin }) => {
    const lrs = await startLrs()
    const id = await connect(admin, lrs)
    const { ids, reach } = await fill(admin)
    await reach(ids[0] ?? '', 50)
    lrs.fault = fault
    const dispatcher = openDispatcher(academy)
    dispatcher.advance(1)
    await waitFor(admin, id).toMatchObject([{ status: 'pending', attemptCount: 1, lastResult: result }])
    lrs.fault = undefined
    dispatcher.advance(2 * minute)
    await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 2 }])
  },
)

test('a test says what is missing: the password, the version, the path', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const lrs = await startLrs({ versions: ['1.0.0', '1.0.3'] })
  const dispatcher = openDispatcher(academy)
  const resultOf = async (id: string) => {
    const { body } = await admin.post(`/v1/webhooks/endpoints/${id}/test`)
    dispatcher.advance(6000)
    let result: string | null = null
    await expect
      .poll(async () => {
        result = (await admin.get(`/v1/webhooks/messages/${body.id}`)).body.lastResult
        return result
      })
      .not.toBeNull()
    return result
  }
  expect(await resultOf(await connect(admin, lrs))).toBe('HTTP 200')
  expect(verbsIn(lrs)).toEqual(['interacted'])
  expect(await resultOf(await connect(admin, lrs, {}, { password: 'another' }))).toBe(
    'HTTP 401: the record store does not accept the user name or the password',
  )
  expect(await resultOf(await connect(admin, lrs, { xapiVersion: '2.0.0' }))).toBe(
    'HTTP 400: the record store knows xAPI 1.0.0, 1.0.3, not 2.0.0',
  )
  const settings = { kind: 'xapi', xapi: { username, homePage }, password }
  const wrong = await makeEndpoint(admin, lrs.url.replace('/xapi', '/data'), settings)
  expect(await resultOf(wrong.id)).toBe(
    'HTTP 404: no resource for statements: check the URL, which ends before /statements',
  )
  const whole = await makeEndpoint(admin, `${lrs.url}/statements`, settings)
  expect(await resultOf(whole.id)).toBe('HTTP 200')
})

test('access tokens are granted to the client, kept, and replaced once they are revoked', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs({ oauth: true })
  const id = await connect(admin, lrs, { tokenUrl: lrs.tokenUrl })
  const { ids, reach } = await fill(admin)
  const dispatcher = openDispatcher(academy)
  for (const percentage of [10, 20]) {
    await reach(ids[0] ?? '', percentage)
    dispatcher.advance(6000)
    await waitFor(admin, id).toSatisfy(delivered)
  }
  expect(lrs.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
  lrs.tokens.clear()
  await reach(ids[0] ?? '', 30)
  dispatcher.advance(6000)
  await waitFor(admin, id).toSatisfy(delivered)
  expect(lrs.requests.filter(({ path }) => path === '/token')).toHaveLength(2)
  lrs.tokens.clear()
  lrs.fault = 'token_refused'
  await reach(ids[0] ?? '', 40)
  dispatcher.advance(6000)
  await waitFor(admin, id).toSatisfy((all) => all.at(-1)?.lastResult === 'No access token: invalid_client')
  const { text } = await admin.get('/v1/webhooks/messages?limit=100')
  expect(text).not.toMatch(/token-\d|secret of/)
})

test('the password is never shown, and is sent to no other host', async ({ academy, admin }) => {
  const lrs = await startLrs()
  const id = await connect(admin, lrs)
  const path = `/v1/webhooks/endpoints/${id}`
  const { text, body } = await admin.get(path)
  expect(text).not.toContain(password)
  expect(body).toMatchObject({
    kind: 'xapi',
    xapi: { username, xapiVersion: '1.0.3', actor: 'id', tokenUrl: null },
  })
  expect((await admin.put(path, { url: 'https://evil.example/xapi' })).body).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '#/password', detail: 'is required again, because the URL has another host' }],
  })
  expect((await admin.put(path, { xapi: { tokenUrl: 'https://evil.example/token' } })).status).toBe(422)
  expect((await admin.put(path, { xapi: { scope: 'all' } })).status).toBe(200)
  expect((await admin.put(path, { url: 'https://other.example/xapi', password: 'new' })).status).toBe(200)
  expect(
    JSON.stringify(
      await academy.database.all((await import('sql-template-tag')).raw('select * from webhook_endpoints')),
    ),
  ).not.toContain(password)
  expect((await admin.get('/v1/audit')).text).not.toContain(password)
})

test('a password is sent to no other host after its user name was removed and set again', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const [lrs, other] = [await startLrs(), await startLrs()]
  const id = await connect(admin, lrs)
  const path = `/v1/webhooks/endpoints/${id}`
  expect((await admin.put(path, { xapi: { username: null } })).status).toBe(200)
  expect((await admin.put(path, { url: other.url })).status).toBe(200)
  expect((await admin.put(path, { xapi: { username } })).body.errors).toEqual([
    expect.objectContaining({ pointer: '#/password', code: 'required' }),
  ])
  expect((await admin.put(path, { xapi: { username }, password: 'another one' })).status).toBe(200)
  await admin.post(`${path}/test`)
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toSatisfy((all) =>
    all.some((one: { lastResult: string | null }) => one.lastResult !== null),
  )
  const sent = other.requests.map(({ headers }) => headers.authorization)
  expect(sent[0]).toBe(`Basic ${Buffer.from(`${username}:another one`).toString('base64')}`)
  expect(sent).not.toContain(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
})

test('a credential that the record store returns is not stored', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  for (const oauth of [false, true]) {
    const lrs = await startLrs({ oauth })
    const authorization = () => String(lrs.requests.at(-1)?.headers.authorization)
    lrs.refuses = () => `The header ${authorization()} is refused`
    const id = await connect(admin, lrs, oauth ? { tokenUrl: lrs.tokenUrl } : {})
    const { body } = await admin.post(`/v1/webhooks/endpoints/${id}/test`)
    openDispatcher(academy).advance(1)
    await waitFor(admin, id).toSatisfy((all) =>
      all.some((one: { lastResult: string | null }) => one.lastResult !== null),
    )
    const { text } = await admin.get(`/v1/webhooks/messages/${body.id}`)
    expect(text).toContain('is refused')
    expect(text).not.toContain(authorization().split(' ')[1])
  }
})

test('settings of a record store require its kind', async ({ admin }) => {
  const make = (body: object) => admin.post('/v1/webhooks/endpoints', { url: 'https://a.example', ...body })
  expect((await make({ password })).body.errors).toMatchObject([
    { pointer: '#/password', code: 'not_applicable' },
  ])
  expect((await make({ kind: 'slack', xapi: {} })).body.errors).toMatchObject([{ pointer: '#/xapi' }])
  expect((await make({ kind: 'xapi', chat: {} })).body.errors).toMatchObject([{ pointer: '#/chat' }])
  const { id, secret } = (await make({ kind: 'xapi' })).body
  expect(secret).toBeNull()
  expect((await admin.post(`/v1/webhooks/endpoints/${id}/rotate`)).body.code).toBe('read_only')
})

test('a backfill sends what happened before, a part at a time, and nothing twice', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const lrs = await startLrs()
  const { courseId, ids, reach } = await fill(admin, 3)
  for (const learner of ids) {
    for (let percentage = 1; percentage <= 100; percentage += 1) {
      academy.clock.advance(1000)
      await reach(learner, percentage)
    }
    await grade(academy, learner, courseId)
  }
  const id = await connect(admin, lrs)
  const dispatcher = openDispatcher(academy)
  const send = async (query = '') => {
    let queued = 0
    let cursor: string | null = ''
    for (; cursor !== null; ) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { status, body } = await admin.post(
        `/v1/analytics/statements/backfill?endpoint_id=${id}${query}${from}`,
      )
      expect(status).toBe(200)
      queued += body.queued
      cursor = body.nextCursor
    }
    dispatcher.advance(6000)
    await expect
      .poll(async () => (await admin.get(`/v1/webhooks/messages?endpoint_id=${id}&status=pending`)).body.data)
      .toEqual([])
    return queued
  }
  expect(await send()).toBe(3 * 102)
  expect(lrs.statements.size).toBe(3 * 103)
  const { data } = (await admin.get(`/v1/analytics/statements?home_page=${homePage}&limit=100`)).body
  for (const statement of data) expect(lrs.statements.get(statement.id)).toEqual(statement)
  const before = new Map(lrs.statements)
  expect(await send()).toBe(3 * 102)
  expect(lrs.statements).toEqual(before)
  expect(await send('&end_date=2000-01-01')).toBe(0)
})

test('a backfill requires an active endpoint of its kind', async ({ admin }) => {
  const send = (id: string) => admin.post(`/v1/analytics/statements/backfill?endpoint_id=${id}`)
  const other = await makeEndpoint(admin, 'https://lms.example/hooks')
  expect((await send(other.id)).body).toMatchObject({
    code: 'invalid_parameter',
    errors: [{ parameter: 'endpoint_id', detail: 'must be an endpoint of kind xapi' }],
  })
  const disabled = await makeEndpoint(admin, 'https://lrs.example', { kind: 'xapi', status: 'disabled' })
  expect((await send(disabled.id)).body.code).toBe('endpoint_disabled')
  expect((await send('whe_none')).status).toBe(404)
})

/** A statement as the record store keeps it. */
interface StoredStatement {
  readonly id: string
  readonly actor: object
  readonly verb: { readonly id: string; readonly display: Readonly<Record<string, string>> }
  readonly object: { readonly id: string }
  readonly result?: object
  readonly timestamp: string
}

/**
 * A learning record store on the loopback, by the xAPI specification (adlnet/xAPI-Spec@ca782a1, Communication 2.1.2, 2.8
 * and 3.3) and the rules of its conformance tests (adlnet/lrs-conformance-test-suite@2ec25f2): a batch is stored as a whole or
 * not at all, an id that occurs twice in it is refused, and another statement with a known id is a conflict.
 */
interface FakeLrs {
  /** URL up to `/statements`. */
  readonly url: string
  readonly tokenUrl: string
  readonly statements: Map<string, StoredStatement>
  /** Statement requests that were not refused for their credential: how many statements each had. */
  readonly batches: number[]
  readonly requests: {
    readonly method: string
    readonly path: string
    readonly headers: IncomingHttpHeaders
  }[]
  /** Returns why it refuses a statement; undefined if it does not. */
  refuses: (statement: StoredStatement) => string | undefined
  /** How it answers wrong; undefined for right. */
  fault: LrsFault | undefined
  /** Tokens that are valid; a revoked one is removed. */
  readonly tokens: Set<string>
}

type LrsFault =
  | 'login_page'
  | 'redirect'
  | 'half'
  | 'throttled'
  | 'unavailable'
  | 'forbidden'
  | 'conflicts_always'
  | 'token_refused'

interface LrsOptions {
  /** Versions that it knows (Communication 2.8). */
  readonly versions?: readonly string[]
  /** True to accept access tokens of the client instead of the password. */
  readonly oauth?: boolean
  readonly maxBatch?: number
}

/** Starts a record store; it ends with the test. */
async function startLrs({
  versions = ['1.0.0', '1.0.1', '1.0.2', '1.0.3', '2.0.0'],
  oauth = false,
  maxBatch = Number.POSITIVE_INFINITY,
}: LrsOptions = {}): Promise<FakeLrs> {
  const credential = [username, password]
  const basic = `Basic ${Buffer.from(credential.join(':')).toString('base64')}`
  const client = `Basic ${Buffer.from(credential.map(encodeURIComponent).join(':')).toString('base64')}`

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const { method = '', headers } = request
    const url = new URL(request.url ?? '', 'http://lrs')
    lrs.requests.push({ method, path: url.pathname, headers })
    if (url.pathname === '/token') return grant(response, headers, body)
    if (!url.pathname.startsWith('/xapi/')) return end(response, 404, 'Not found')
    if (lrs.fault === 'login_page') return end(response, 200, '<!DOCTYPE html><title>Sign in</title>')
    if (lrs.fault === 'redirect') return end(response, 302, '', { location: '/login' })
    if (url.pathname === '/xapi/about') return endJson(response, 200, { version: versions })
    if (url.pathname !== '/xapi/statements') return end(response, 404, 'Not found')
    const version = String(headers['x-experience-api-version'] ?? '')
    if (!versions.some((one) => one.split('.', 2).join() === version.split('.', 2).join())) {
      return endJson(response, 400, { error: `X-Experience-API-Version ${version} is not supported` })
    }
    const known = oauth ? [...lrs.tokens].map((token) => `Bearer ${token}`) : [basic]
    if (!known.includes(String(headers.authorization))) return end(response, 401, 'Unauthorized')
    if (lrs.fault === 'forbidden') return end(response, 403, 'Forbidden')
    if (lrs.fault === 'throttled') return end(response, 429, 'Slow down', { 'retry-after': '30' })
    if (lrs.fault === 'unavailable') return end(response, 503, 'Maintenance')
    if (method === 'GET') return find(response, url.searchParams.get('statementId') ?? '')
    store(response, body)
  })

  function grant(response: ServerResponse, headers: IncomingHttpHeaders, body: string) {
    const isKnown = headers.authorization === client && lrs.fault !== 'token_refused'
    if (!isKnown) return endJson(response, 401, { error: 'invalid_client' })
    if (new URLSearchParams(body).get('grant_type') !== 'client_credentials') {
      return endJson(response, 400, { error: 'unsupported_grant_type' })
    }
    const token = `token-${lrs.tokens.size + 1}-${'x'.repeat(20)}`
    lrs.tokens.add(token)
    endJson(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 3600 })
  }

  function find(response: ServerResponse, id: string) {
    const found = lrs.statements.get(id)
    if (!found) return end(response, 404, 'Not found')
    endJson(response, 200, { ...found, stored: found.timestamp, version: '1.0.0' })
  }

  function store(response: ServerResponse, body: string) {
    const statements: StoredStatement[] = [JSON.parse(body)].flat()
    lrs.batches.push(statements.length)
    const ids = statements.map(({ id }) => id)
    if (statements.length > maxBatch) return end(response, 413, 'Too large')
    if (new Set(ids).size < ids.length) return endJson(response, 400, { message: 'An id occurs twice' })
    for (const statement of statements) {
      const why = lrs.refuses(statement)
      if (why !== undefined) return endJson(response, 400, { message: why })
    }
    const conflict = statements.find((statement) => {
      const stored = lrs.statements.get(statement.id)
      return stored && (lrs.fault === 'conflicts_always' || coreOf(stored) !== coreOf(statement))
    })
    if (conflict) return end(response, 409, `Statement ${conflict.id} conflicts`)
    for (const statement of statements) lrs.statements.set(statement.id, statement)
    // The statements are stored, but the response does not arrive.
    if (lrs.fault === 'half') return void response.destroy()
    endJson(response, 200, ids)
  }

  const { port, close } = await listen(server)
  onTestFinished(close)
  const lrs: FakeLrs = {
    url: `http://127.0.0.1:${port}/xapi`,
    tokenUrl: `http://127.0.0.1:${port}/token`,
    statements: new Map(),
    batches: [],
    requests: [],
    refuses: () => undefined,
    fault: undefined,
    tokens: new Set(),
  }
  return lrs
}

function coreOf({ actor, verb, object, result }: StoredStatement): string {
  return JSON.stringify([actor, verb.id, object.id, result])
}

function endJson(response: ServerResponse, status: number, value: unknown): void {
  end(response, status, JSON.stringify(value), { 'content-type': 'application/json' })
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text)
}
