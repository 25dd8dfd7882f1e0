import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addServer } from '../../../src/cli/local-server/running-servers.ts'
import type { LmsKind } from '../../../src/contract/constants.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../../src/contract/http.ts'
import { DeliveryFault, type Trust } from '../../../src/lms/delivery.ts'
import type { LmsEvent } from '../../../src/lms/event.ts'
import { readEvent } from '../../../src/lms/kinds.ts'
import { verify } from '../../../src/lms/verify.ts'
import { test as localTest, type RunOptions, testCli } from '../../helpers/cli.ts'

const secret = 'the-webhook-secret'
const now = Date.parse('2026-03-01T12:00:00.000Z')
const to = '--to https://platform.example.org --yes'

/** The program and a platform that trusts the secret. */
function beside(trusted = secret) {
  const platform = receiver({
    secrets: [trusted],
    rootAccountUuid: 'school',
    keys: null,
    now,
  })
  const cli = testCli({ transport: platform.transport, env: { LEARNCTL_WEBHOOK_SECRET: secret } })
  onTestFinished(cli.remove)
  const { run, cwd } = cli
  const send = (line: string, given?: RunOptions) => run(`webhooks send ${line} ${to} -o json`, given)
  return { ...platform, run, cwd, send }
}

const lines = [
  ['canvas grade_change --user ext:ABC.123 --course ext:BIO-101 --item 12 --score 18 --maximum 20', 'grade'],
  ['canvas course_grade_change --user 48 --course ext:BIO-101 --score 81.5', 'grade'],
  ['canvas course_progress --user ada@example.org --course 565 --completion 33.33', 'progress'],
  ['canvas course_completed --user 48 --course 565', 'progress'],
  ['moodle user_graded --user 15 --course 4 --score 85', 'grade'],
  ['moodle course_completed --user 15 --course 4', 'progress'],
  ['openedx grade --user 42 --course course-v1:edX+100+2021 --score 80', 'grade'],
  ['thinkific enrollment.progress --user ada@example.org --course 25 --completion 24', 'progress'],
  ['thinkific enrollment.completed --user 95 --course 25', 'progress'],
  ['standard grade.updated --user ada@example.org --course ext:BIO-101 --score 83 --label Quiz', 'grade'],
] as const

describe('each event of each kind', () => {
  test.for(lines)('%s is authentic, and means a %s', async ([line, type]) => {
    const { send, events } = beside()
    const ran = await send(line)
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: 'Sent 1 delivery: 1 applied\n' })
    expect(JSON.parse(ran.stdout)).toMatchObject([
      { delivery: 1, status: 200, outcome: 'applied', deliveryId: 'whd_1' },
    ])
    expect(events).toMatchObject([{ type }])
  })

  test('the requested event arrives', async () => {
    const { send, events } = beside()
    await send(`${lines[0][0]} --at 2026-02-01T10:00:00Z --unpublished`)
    await send(lines[2][0])
    expect(events).toMatchObject([
      {
        course: [{ value: '21070000000000565' }, { value: '565' }, { by: 'externalId', value: 'BIO-101' }],
        learner: [{ value: '21070000000000048' }, { value: '48' }, { by: 'externalId', value: 'ABC.123' }],
        itemId: '12',
        scoreGiven: 18,
        scoreMaximum: 20,
        published: false,
        gradedAt: '2026-02-01T10:00:00.000Z',
      },
      { percentage: 33.33, learner: [{}, {}, { by: 'email', value: 'ada@example.org' }] },
    ])
  })
})

test('a generated key is for a platform whose integration can be read', {
  tags: ['slow'],
}, async () => {
  const { run, send, cwd } = beside()
  const made = await run('webhooks generate-key -o json')
  expect(made).toMatchObject({ code: 0 })
  expect(JSON.parse(made.stdout)).toEqual({
    kid: expect.stringMatching(/^test-/),
    file: join(cwd, 'canvas-key.json'),
    jwksFile: join(cwd, 'canvas-jwks.json'),
  })
  expect(statSync(join(cwd, 'canvas-key.json')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(cwd, 'canvas-jwks.json'), 'utf8')).not.toContain('"d"')
  const signed = `${lines[0][0]} --signing-key canvas-key.json`
  expect(await send(signed)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The integration at --to cannot be asked for it'),
  })
  expect(await run('webhooks generate-key')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already exists'),
  })
})

describe('what was not expected', () => {
  const line = 'standard grade.updated --course 2'

  test('a learner who is not known: exit 1 with the way on', async () => {
    const { send } = beside()
    const ran = await send(`${line} --user nobody`)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('Sent 1 delivery: 1 unmatched\n')
    expect(ran.stderr).toContain('Unexpected outcome: unmatched (202): learner not found')
    expect(ran.stderr).toContain('learnctl webhooks deliveries replay whd_1')
  })

  test('a wrong secret: exit 4', async () => {
    const { send } = beside('another')
    const ran = await send(`${line} --user 1`)
    expect(ran.code).toBe(4)
    expect(ran.stderr).toContain('Unexpected outcome: refused (401): invalid_signature')
  })

  test('a platform without the integration: exit 3', async () => {
    const cli = testCli({
      transport: async () => ({ status: 404, headers: {}, body: '{"code":"not_found"}' }),
      env: { LEARNCTL_WEBHOOK_SECRET: secret },
    })
    onTestFinished(cli.remove)
    const ran = await cli.run(`webhooks send ${line} --user 1 ${to}`)
    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('Unexpected outcome: failed (404): not_found')
  })
})

describe('the secret', () => {
  const line = 'moodle user_graded --user 1 --course 2'

  test('comes from standard input or the environment, and is required', async () => {
    const { run, send } = beside()
    const none = { env: { LEARNCTL_WEBHOOK_SECRET: '' } }
    expect(await send(`${line} --webhook-secret-stdin`, { ...none, stdin: `${secret}\n` })).toMatchObject({
      code: 0,
    })
    expect(await send(line, none)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The webhook secret is required'),
    })
    const typed = await run(`webhooks send ${line} ${to}`, { ...none, tty: 80, typed: [`${secret}\r`] })
    expect(typed, typed.stderr).toMatchObject({ code: 0 })
    expect(typed.stdout + typed.stderr).not.toContain(secret)
  })

  test.for([line, 'openedx grade --user 1 --course 2', 'standard grade.updated --user 1 --course 2'])(
    'is in nothing that %s prints',
    async (line) => {
      const { send } = beside()
      for (const flag of ['--dry-run', '--debug']) {
        const ran = await send(`${line} ${flag}`)
        expect(ran, ran.stderr).toMatchObject({ code: 0 })
        expect(ran.stdout + ran.stderr).not.toContain(secret)
        expect(ran.stdout + ran.stderr).not.toContain(secret.slice(1))
      }
    },
  )

  test('--dry-run sends nothing, and shows a command that takes the secret from the environment', async () => {
    const { run, requests } = beside()
    const ran = await run(`webhooks send openedx grade --user 1 --course 2 --dry-run ${to}`)
    expect(ran.stdout).toMatch(
      /^curl -X POST 'https:\/\/platform\.example\.org\/webhooks\/openedx\/grades\?token='"\$LEARNCTL_WEBHOOK_SECRET" -H /,
    )
    expect(requests).toEqual([])
  })
})

describe('where it goes', () => {
  const line = 'webhooks send standard grade.updated --user 1 --course 2'

  test.for([
    ['https://platform.example.org', 'https://platform.example.org/webhooks/standard/grades'],
    ['https://example.org/lms/', 'https://example.org/lms/webhooks/standard/grades'],
    ['https://example.org/webhooks/standard/grades', 'https://example.org/webhooks/standard/grades'],
  ] as const)('%s', async ([given, url]) => {
    const { run, requests } = beside()
    await run(`${line} --to ${given} --yes`)
    expect(requests).toMatchObject([{ method: 'POST', url }])
  })

  test('another machine is asked about first; this one is not', async () => {
    const { run, requests } = beside()
    expect(await run(`${line} --to https://platform.example.org`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Refusing to send 1 delivery without confirmation'),
    })
    expect(await run(`${line} --to http://platform.example.org --yes`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unencrypted http'),
    })
    expect(requests).toEqual([])
    expect(await run(`${line} --to http://127.0.0.1:4700`)).toMatchObject({ code: 0 })
  })
})

test.for([
  ['moodle user_graded --user ada@example.org --course 2', '--user must be the id of the learner in Moodle'],
  ['moodle user_graded --user 1 --course 2 --maximum 20', '--maximum is not supported'],
  [
    'canvas grade_change --user ada@example.org --course 2',
    '--user must be the id of the learner in Canvas or ext:',
  ],
  ['canvas grade_change --user 1', '--course is required'],
  ['moodle user_graded --user 1 --course 2 --at yesterday', '--at must be a day (2026-01-31)'],
  [
    'moodle user_graded --user 1 --course ext:BIO-101',
    'learnctl integrations map moodle course <id> ext:BIO-101',
  ],
  ['canvas nothing --user 1 --course 2', 'canvas has no event'],
  ['nothing grade --user 1 --course 2', '<kind> must be canvas'],
  ['standard grade.updated --user 1 --course 2 --expect all', '--expect must be one of'],
])('not in an event: %s: %s', async ([line = '', message]) => {
  const { send, requests } = beside()
  expect(await send(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(message ?? '') })
  expect(requests).toEqual([])
})

localTest('on a local academy: the grade is in the gradebook, and an older one is not', async ({ local }) => {
  const env = { LEARNCTL_WEBHOOK_SECRET: secret }
  const run = async (line: string, stdin = '') => {
    const ran = await local.run(line, { env, stdin })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    return ran
  }
  await run('integrations set canvas --webhook-secret-stdin', secret)
  await run('courses create --title Biology --external-id BIO-101')
  await run('users create --email ada@example.org --external-id ABC.123')
  await run('enrollments create --course ext:BIO-101 --user ext:ABC.123')
  const line =
    'webhooks send canvas grade_change --user ext:ABC.123 --course ext:BIO-101 --item 355 --maximum 20'
  await run(`${line} --score 18`)
  await run(`${line} --score 2 --at 2020-01-01 --expect stale`)
  const unmatched = await local.run('webhooks send canvas grade_change --user 1 --course 2', { env })
  expect(unmatched).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /hint: Map it with `learnctl integrations map canvas course 2 <course here>` and `learnctl integrations map canvas user 1 <user here>`, then run `learnctl webhooks deliveries replay whd_\w+`\n$/,
    ),
  })
  const unknown = await local.run(`${line.replace('ABC.123', 'XYZ').replace('ext:BIO-101', '2')}`, { env })
  expect(unknown.stderr).toContain(
    'hint: Check --user, map it with `learnctl integrations map canvas course 2',
  )
  expect((await local.run(`${line} --at 2020-01-01`, { env })).stderr).toContain('later time with --at')
  const grades = await run('grades list --columns itemId,scoreGiven,scoreMaximum,source')
  expect(grades.stdout).toBe('355\t18\t20\tcanvas\n')
})

localTest('printed for a local academy, it goes to where its server is', async ({ local }) => {
  const line = 'webhooks send moodle user_graded --user 15 --course 4 --dry-run'
  const env = { LEARNCTL_WEBHOOK_SECRET: secret }
  expect((await local.run(line, { env })).stdout).toContain(' http://127.0.0.1:4700/webhooks/moodle/grades ')
  await addServer(join(local.home, '.local', 'state', 'learnctl'), {
    ...{ pid: process.pid, url: 'http://127.0.0.1:4711', address: 'http://127.0.0.1:4711' },
    ...{ database: join(local.cwd, 'academy.db'), startedAt: '2026-03-01T12:00:00.000Z' },
  })
  expect((await local.run(line, { env })).stdout).toContain(' http://127.0.0.1:4711/webhooks/moodle/grades ')
})

localTest('signed as Canvas signs, the account is that of the integration', async ({ local }) => {
  await local.run('webhooks generate-key')
  const line =
    'webhooks send canvas grade_change --user 1 --course 2 --signing-key canvas-key.json --expect unmatched'
  expect(await local.run(line)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Integration canvas not found'),
  })
  await local.run('integrations set canvas --jwks canvas-jwks.json')
  expect(await local.run(line)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('learnctl integrations set canvas --root-account-uuid <uuid>'),
  })
  await local.run('integrations set canvas --root-account-uuid school')
  expect(await local.run(line)).toMatchObject({ code: 0 })
  await local.run('webhooks generate-key --file another-key.json')
  const refused = await local.run(line.replace('canvas-key', 'another-key'))
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('--root-account-uuid, --jwks') })
})

/** A platform that accepts deliveries of every kind and keeps their events. */
interface Receiver {
  readonly transport: Transport
  readonly requests: readonly HttpRequest[]
  /** Applied events in order. */
  readonly events: readonly LmsEvent[]
}

/** Creates a receiver with this trust; it responds as docs/webhooks.md says and recognises duplicates. */
function receiver(trust: Trust): Receiver {
  const requests: HttpRequest[] = []
  const events: LmsEvent[] = []
  const seen = new Set<string>()
  let newest = ''

  async function answerTo(request: HttpRequest): Promise<readonly [number, object]> {
    const { pathname, searchParams } = new URL(request.url)
    const kind = /^\/webhooks\/(\w+)\/grades$/.exec(pathname)?.[1] as LmsKind
    try {
      const rawBody = Buffer.from(String(request.body))
      const { key, body } = await verify(
        kind,
        { headers: request.headers, query: searchParams, rawBody },
        trust,
      )
      if (seen.has(key)) return [200, { status: 'duplicate', deliveryId: 'whd_1' }]
      seen.add(key)
      const event = readEvent(kind, body, { gradeItems: {}, defaultGradeMaximum: 100 })
      if (event.type === 'ignored') return [200, { status: 'ignored', reason: event.reason }]
      if (event.learner.some(({ value }) => value === 'nobody')) {
        return [202, { status: 'unmatched', deliveryId: 'whd_1', missing: ['learner'] }]
      }
      const at = event.type === 'grade' ? event.gradedAt : event.at
      if (at < newest) return [200, { status: 'stale', deliveryId: 'whd_1' }]
      newest = at
      events.push(event)
      return [200, { status: 'applied', deliveryId: 'whd_1', grade: null, progress: null }]
    } catch (error) {
      if (!(error instanceof DeliveryFault)) throw error
      return [error.code === 'malformed_payload' ? 400 : 401, { code: error.code, detail: error.message }]
    }
  }

  const transport = async (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request)
    const [status, body] = await answerTo(request)
    return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }
  return { transport, requests, events }
}
