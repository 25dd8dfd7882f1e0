import { createServer, type ServerResponse } from 'node:http'
import { raw } from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { slackMessage, teamsBody } from '../../../src/server/events/endpoint-kinds.ts'
import { type Person, second, test } from '../../helpers/academy.ts'
import { startSlack } from '../../helpers/fake-slack.ts'
import { listen } from '../../helpers/listen.ts'
import { makeEndpoint, openDispatcher, waitFor } from './scene.ts'

const at = { timeout: 30_000, interval: 5 }

/** Makes a published course with a learner. */
async function courseWith(admin: Person, title: string) {
  const { body: course } = await admin.post('/v1/courses', { title })
  await admin.put(`/v1/courses/${course.id}`, { status: 'published' })
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const { body: learner } = await admin.post('/v1/users', {
    email: 'ada@school.example',
    externalId: 'S-1',
    profile,
  })
  await admin.post('/v1/enrollments', { courseId: course.id, userId: learner.id })
  const complete = () =>
    admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage: 100 })
  return { course, learner, complete }
}

const events = ['progress.completed']

test('Slack gets a sentence that names the learner only by external id', async ({ academy, admin }) => {
  const slack = await startSlack()
  const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', events })
  const { complete } = await courseWith(admin, 'Fish & <Chips>')
  await complete()
  openDispatcher(academy, { publicUrl: 'https://academy.example' }).advance(1)
  await waitFor(admin, id).toMatchObject([{ status: 'delivered', lastResult: 'HTTP 200' }])
  const text = 'Learner S-1 completed Fish &amp; &lt;Chips&gt;.'
  expect(slack.messages).toEqual([
    {
      text,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
        {
          type: 'context',
          elements: [{ type: 'mrkdwn', text: '<https://academy.example/dashboard|Open the dashboard>' }],
        },
      ],
    },
  ])
})

test('names of learners appear only if the endpoint says so', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const teams = await startTeams()
  await makeEndpoint(admin, teams.url, { kind: 'teams', events })
  await makeEndpoint(admin, teams.url, { kind: 'teams', events, chat: { learnerNames: true } })
  const { complete } = await courseWith(admin, 'Logic')
  await complete()
  openDispatcher(academy).advance(1)
  await expect.poll(() => teams.cards.length, at).toBe(2)
  const texts = teams.cards.map(({ body }) => body.map(({ inlines }) => inlines[0]?.text))
  expect(texts).toEqual(
    expect.arrayContaining([['Learner S-1 completed Logic.'], ['Ada Lovelace completed Logic.']]),
  )
})

test('events that wait together become one message, and Slack gets one message a second', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const slack = await startSlack(academy.clock.now)
  const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', events: ['course.created'] })
  for (let count = 1; count <= 45; count += 1) await admin.post('/v1/courses', { title: `Course ${count}` })
  const { advance, wake } = openDispatcher(academy)
  advance(1)
  await expect.poll(() => slack.messages.length, at).toBe(1)
  wake()
  for (const messages of [2, 3]) {
    await waitFor(admin, id).toSatisfy(
      (all) =>
        all.filter(({ status }: { status: string }) => status === 'delivered').length === 20 * (messages - 1),
    )
    advance(second)
    await expect.poll(() => slack.messages.length, at).toBe(messages)
  }
  expect(slack.messages.map(({ text }) => text.split('\n')[0])).toEqual([
    '20 events',
    '20 events',
    '5 events',
  ])
  expect(slack.requests).toHaveLength(3)
  expect(slack.messages.at(-1)?.text).toContain('Course Course 45 was created.')
})

test('messages are about the courses of the endpoint', { tags: ['slow'] }, async ({ academy, admin }) => {
  const slack = await startSlack()
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', externalId: 'LOG' })
  const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', chat: { courseIds: ['ext:LOG'] } })
  expect((await admin.get(`/v1/webhooks/endpoints/${id}`)).body.chat.courseIds).toEqual([course.id])
  await admin.post('/v1/courses', { title: 'Ethics' })
  await admin.post('/v1/users', { email: 'bea@school.example' })
  await admin.put(`/v1/courses/${course.id}`, { status: 'published' })
  await admin.post('/v1/lessons', { courseId: course.id, title: 'Sets' })
  openDispatcher(academy).advance(1)
  await waitFor(admin, id).toMatchObject([
    { type: 'course.published', status: 'delivered' },
    { type: 'lesson.created', status: 'delivered' },
  ])
})

for (const [fault, lastResult, status] of [
  ['login_page', 'HTTP 200, but not from Slack: it answers "ok"', 'pending'],
  ['empty', 'HTTP 200, but not from Slack: it answers "ok"', 'pending'],
  ['rate_limited', 'HTTP 429', 'pending'],
  ['no_service', 'HTTP 404 no_service: the webhook was removed or disabled', 'pending'],
  ['channel_not_found', 'HTTP 404 channel_not_found: the channel does not exist', 'pending'],
  [
    'action_prohibited',
    'HTTP 403 action_prohibited: a setting of the workspace does not allow it',
    'pending',
  ],
  ['rollup_error', 'HTTP 500 rollup_error: Slack failed', 'pending'],
  ['invalid_payload', 'HTTP 400 invalid_payload: Slack cannot read the message', 'failed'],
  ['channel_is_archived', 'HTTP 410 channel_is_archived: the channel is archived', 'failed'],
] as const) {
  test(`the answer ${fault} of Slack is told, and nothing is lost or sent twice`, async ({
    academy,
    admin,
  }) => {
    const slack = await startSlack()
    slack.fault = fault
    const { id } = await makeEndpoint(admin, slack.url, { kind: 'slack', events: ['course.created'] })
    await admin.post('/v1/courses', { title: 'Logic' })
    const { advance } = openDispatcher(academy)
    advance(1)
    await waitFor(admin, id).toMatchObject([{ status, lastResult, attemptCount: 1 }])
    const { body: endpoint } = await admin.get(`/v1/webhooks/endpoints/${id}`)
    expect(endpoint.status).toBe(fault === 'channel_is_archived' ? 'disabled' : 'active')
    expect(endpoint.pausedUntil === null).toBe(fault !== 'rate_limited')
    if (status === 'failed') return
    slack.fault = undefined
    advance(60 * second)
    await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 2 }])
    expect(slack.messages).toHaveLength(1)
  })
}

for (const [fault, lastResult] of [
  ['login_page', 'HTTP 200, but a web page, not a workflow'],
  ['error_with_200', 'HTTP 200, but with an error: see the response'],
  ['rate_limited', 'HTTP 429'],
  ['bad_gateway', 'HTTP 502'],
  [
    'unauthorized',
    'HTTP 401 DirectApiAuthorizationRequired: the URL of the workflow has no signature; copy it again',
  ],
  ['deleted', 'HTTP 404 WorkflowNotFound: the workflow was deleted'],
  ['turned_off', 'HTTP 400 WorkflowTriggerIsNotEnabled: the workflow is turned off'],
] as const) {
  test(`the answer ${fault} of Teams is told, and the message is sent again`, async ({ academy, admin }) => {
    const teams = await startTeams()
    teams.fault = fault
    const { id } = await makeEndpoint(admin, teams.url, { kind: 'teams', events: ['course.created'] })
    await admin.post('/v1/courses', { title: 'Logic' })
    const { advance } = openDispatcher(academy)
    advance(1)
    await waitFor(admin, id).toMatchObject([{ status: 'pending', lastResult, attemptCount: 1 }])
    teams.fault = undefined
    advance(60 * second)
    await waitFor(admin, id).toMatchObject([{ status: 'delivered', attemptCount: 2 }])
    expect(teams.cards).toHaveLength(1)
  })
}

test('the URL of a chat is a secret: only its host and last characters are stored in the open or shown', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  const slack = await startSlack()
  slack.fault = 'echo'
  const secret = new URL(slack.url).pathname
  const created = await admin.post('/v1/webhooks/endpoints', { kind: 'slack', url: slack.url })
  expect(created.body).toMatchObject({ url: `${new URL(slack.url).origin}/...hijk`, secret: null })
  const path = `/v1/webhooks/endpoints/${created.body.id}`
  expect((await admin.put(path, { url: created.body.url, description: 'Staff' })).body).toMatchObject({
    url: created.body.url,
    description: 'Staff',
  })
  await admin.post(`${path}/test`)
  openDispatcher(academy).advance(1)
  await waitFor(admin, created.body.id).toMatchObject([{ lastResult: 'HTTP 500' }])
  expect(slack.requests).toMatchObject([{ path: secret }])
  const [{ id }] = (await admin.get(`/v1/webhooks/messages?endpoint_id=${created.body.id}`)).body.data
  const { body: message } = await admin.get(`/v1/webhooks/messages/${id}`)
  expect(message.attempts).toMatchObject([{ response: 'cannot post to ***' }])
  await admin.put(path, { url: slack.url.replace('hijk', 'wxyz') })
  const { body: audit } = await admin.get('/v1/audit?noun=endpoint')
  const seen = JSON.stringify([created.body, message, audit, (await admin.get(path)).body])
  expect(seen).toContain('...wxyz')
  expect(seen).not.toContain('XyZ0123456789')
  for (const table of [
    'webhook_endpoints',
    'webhook_messages',
    'webhook_attempts',
    'audit_entries',
    'idempotency',
  ]) {
    const rows = await academy.database.all(raw(`select * from ${table}`))
    expect(JSON.stringify(rows), table).not.toContain('XyZ0123456789')
  }
})

test('a chat has no signing secret, a kind cannot be changed, and settings belong to chats', async ({
  admin,
}) => {
  const url = 'https://hooks.slack.com/services/T1/B1/0123456789abcdefghijklmn'
  const { body } = await admin.post('/v1/webhooks/endpoints', { kind: 'slack', url })
  expect((await admin.post(`/v1/webhooks/endpoints/${body.id}/rotate`)).body).toMatchObject({
    code: 'read_only',
    detail: expect.stringContaining('has no signing secret'),
  })
  const refused = async (input: object) => (await admin.post('/v1/webhooks/endpoints', input)).body.errors
  expect(await refused({ url, chat: {} })).toMatchObject([{ pointer: '#/chat', code: 'not_applicable' }])
  expect(await refused({ url, chat: { learnerNames: true } })).toMatchObject([
    { pointer: '#/chat/learnerNames', detail: 'requires the kind slack or teams' },
  ])
  expect(await refused({ kind: 'slack', url: body.url })).toMatchObject([
    { pointer: '#/url', code: 'invalid_url' },
  ])
  expect(await refused({ kind: 'slack', url, chat: { atRiskOnly: true } })).toMatchObject([
    { pointer: '#/chat/atRiskOnly', code: 'requires_daily' },
  ])
  const changed = await admin.put(`/v1/webhooks/endpoints/${body.id}`, { kind: 'teams' })
  expect(changed.body.errors).toMatchObject([{ pointer: '#/kind', code: 'read_only' }])
})

test('text that would format, mention or link is shown as it is', () => {
  const { blocks } = slackMessage({
    title: 'Course *Bold* _it_ ~no~ `code` AAA_2014 was created.',
    lines: ['<!here> <@U1> https://a.example & more'],
    link: null,
  })
  const texts = blocks.map((block) => (block as { text: { text: string } }).text.text)
  expect(texts).toEqual([
    'Course ∗Bold∗ ˍitˍ ∼no∼ ˋcodeˋ AAA_2014 was created.',
    '• &lt;!here&gt; &lt;@U1&gt; https://a.example &amp; more',
  ])
})

test('messages keep to the limits of Slack and Teams', { tags: ['slow'] }, () => {
  const lines = Array.from({ length: 400 }, (_, index) => `${index} ${'&'.repeat(190)}`)
  const { text, blocks } = slackMessage({ title: 'Many', lines, link: 'https://academy.example/dashboard' })
  expect(text.length).toBeLessThanOrEqual(4000)
  expect(blocks.length).toBeLessThanOrEqual(50)
  for (const block of blocks) {
    expect((block as { text?: { text: string } }).text?.text.length ?? 1).toBeLessThanOrEqual(3000)
  }
  const body = teamsBody({ title: 'Many', lines, link: null })
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(28 * 1024)
  expect(body).toMatch(/… and \d+ more/)
})

/**
 * A workflow of Microsoft Teams with the trigger "When a Teams webhook request is received", on the loopback
 * (learn.microsoft.com, Create incoming webhooks with Workflows for Microsoft Teams; the limit of 28 KB from its
 * section on limits). It accepts a request with 202 and an empty body before the flow runs, and so also if the flow
 * then fails (louislam/uptime-kuma#4922).
 */
interface FakeTeams {
  readonly url: string
  /** Cards in the channel. */
  readonly cards: TeamsCard[]
  readonly requests: { readonly path: string; readonly body: string }[]
  /** Accepted requests whose flow failed. */
  failedFlows: number
  /** How it answers wrong; undefined for right. */
  fault: TeamsFault | undefined
}

interface TeamsCard {
  readonly type: string
  readonly version: string
  readonly body: readonly { readonly type: string; readonly inlines: readonly { readonly text: string }[] }[]
  readonly actions?: readonly { readonly type: string; readonly title: string; readonly url: string }[]
}

type TeamsFault =
  | 'failing_flow'
  | 'login_page'
  | 'error_with_200'
  | 'rate_limited'
  | 'unauthorized'
  | 'deleted'
  | 'turned_off'
  | 'bad_gateway'

const errorWith200 =
  'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429'

/** Wrong answers, before the flow would run. */
const wrong: Partial<Record<TeamsFault, (response: ServerResponse) => void>> = {
  login_page: (response) =>
    void response.writeHead(200).end('<html><title>Sign in to your account</title></html>'),
  error_with_200: (response) => void response.writeHead(200).end(errorWith200),
  rate_limited: (response) => void response.writeHead(429, { 'retry-after': '20' }).end(),
  bad_gateway: (response) => void response.writeHead(502).end(),
  unauthorized: (response) => refuse(response, 401, 'DirectApiAuthorizationRequired'),
  deleted: (response) => refuse(response, 404, 'WorkflowNotFound'),
  turned_off: (response) => refuse(response, 400, 'WorkflowTriggerIsNotEnabled'),
}

const path = '/workflows/0f1e2d3c4b5a69788796a5b4c3d2e1f0/triggers/manual/paths/invoke'
const search =
  '?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=Qm9vIUJvbyFCb28hQm9vIUJvbyFCb28hQm9v'

/** Starts a workflow. */
async function startTeams(): Promise<FakeTeams> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    teams.requests.push({ path: request.url ?? '', body })
    const answerWrong = teams.fault && wrong[teams.fault]
    if (answerWrong) return answerWrong(response)
    if (request.url !== path + search) return refuse(response, 401, 'AuthorizationFailed')
    if (Buffer.byteLength(body) > 28 * 1024) return refuse(response, 413, 'RequestEntityTooLarge')
    const card = cardIn(body)
    if (card && teams.fault !== 'failing_flow') teams.cards.push(card)
    else teams.failedFlows += 1
    response.writeHead(202).end()
  })
  const { port, close } = await listen(server)
  onTestFinished(close)
  const teams: FakeTeams = {
    url: `http://127.0.0.1:${port}${path}${search}`,
    cards: [],
    requests: [],
    failedFlows: 0,
    fault: undefined,
  }
  return teams
}

/** The flow posts each attachment; it fails for anything but an Adaptive Card. */
function cardIn(body: string): TeamsCard | undefined {
  try {
    const { type, attachments } = JSON.parse(body)
    const [{ contentType, content }] = attachments
    const isCard =
      contentType === 'application/vnd.microsoft.card.adaptive' && content.type === 'AdaptiveCard'
    return type === 'message' && isCard ? content : undefined
  } catch {
    return undefined
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { code, message: 'The request was refused.' } }))
}
