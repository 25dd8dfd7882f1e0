import { describe, expect } from 'vitest'
import { nouns } from '../../src/cli/program/nouns.ts'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import { test as base, type RunOptions } from '../helpers/cli.ts'
import { host } from '../helpers/host.ts'
import { putQuickstart } from '../helpers/quickstart.ts'
import { resultOf, rowsOf } from '../helpers/result.ts'
import { type SeedServer, startSeedServer } from '../helpers/seed-server.ts'

/** A platform with the eight published operations, a course, a lesson, a learner and some progress. */
const test = base.extend('seed', async ({ task: _ }, { onCleanup }) => {
  const seed = await startSeedServer()
  onCleanup(() => seed.close())
  const send = (method: string, path: string, body: object) =>
    fetch(seed.url + path, {
      method,
      headers: { authorization: `Bearer ${seed.key}` },
      body: JSON.stringify(body),
    })
  await send('POST', '/v1/courses', { title: 'Go', difficulty: 'mythical' })
  await send('POST', '/v1/lessons', { title: 'First', courseId: '1' })
  await send('POST', '/v1/users', { email: 'ada@school.example', role: 'apprentice' })
  await send('PUT', '/v1/learners/2/progress', {
    courseId: '1',
    completionPercentage: 40,
    lastAccessed: '2026-02-20T10:00:00Z',
  })
  return seed
})

const at = ({ url, key }: Pick<SeedServer, 'url' | 'key'>, more: RunOptions = {}): RunOptions => ({
  ...more,
  env: { LEARNCTL_URL: url, LEARNCTL_API_KEY: key, ...more.env },
})

/** Commands that the eight operations support, and their output. */
const offered: Record<string, [line: string, printed: string]> = {
  'courses list': ['courses list --columns id,title,difficulty', '1\tGo\tmythical\n'],
  'courses create': ['courses create --title Sea -q', '2\n'],
  'courses update': ['courses update 1 --title Went --columns version', '2\n'],
  'courses publish': ['courses publish 1 --columns version', '2\n'],
  'courses unpublish': ['courses unpublish 1 --columns version', '2\n'],
  'courses archive': ['courses archive 1 --columns version', '2\n'],
  'lessons create': ['lessons create --course 1 --title Second --columns id,title', '2\tSecond\n'],
  'users create': ['users create --email bob@school.example --role novice --columns id,role', '3\tnovice\n'],
  'users me': ['users me --columns email,role', 'owner@school.example\tadministrator\n'],
  'progress set': ['progress set 2 --course 1 --completion 60 --columns completionPercentage', '60\n'],
  'analytics export': [
    'analytics export',
    'learnerId,courseId,completionPercentage,lastAccessed\r\n2,1,40,2026-02-20T10:00:00Z\r\n',
  ],
  // Changes are noted on this machine.
  'auth status': ['auth status --columns user.email', 'owner@school.example\n'],
  api: [
    'api courses.list',
    `${JSON.stringify([{ id: '1', title: 'Go', difficulty: 'mythical' }], null, 2)}\n`,
  ],
}

/** Commands that a learnctl server alone supports. */
const learnctlOnly: Record<string, [line: string, command: string]> = {
  'undo list': ['undo list', 'undo list'],
  'undo change': ['undo last', 'undo'],
  'audit revert': ['audit revert aud_1 --yes', 'audit revert'],
  'roster export': ['roster export --format canvas school', 'roster export'],
  dump: ['dump', 'dump'],
}

/** Commands that they do not support, and what each needs. */
const missing: Record<string, [line: string, needed: string]> = {
  'courses delete': ['courses delete 1 --yes', 'courses.delete (DELETE /v1/courses/1 returned 404)'],
  'courses versions': ['courses versions 1', 'courses.versions (GET /v1/courses/1/versions returned 404)'],
  'courses diff': ['courses diff 1 1', 'courses.diff (GET /v1/courses/1/versions/1/diff returned 404)'],
  'courses restore': [
    'courses restore 1 1 --yes',
    'courses.restore (POST /v1/courses/1/versions/1/restore returned 404)',
  ],
  'courses restore-deleted': [
    'courses restore-deleted 1',
    'courses.restoreDeleted (POST /v1/deleted-courses/1/restore returned 404)',
  ],
  'lessons move': ['lessons move 1 --position 1', 'lessons.get (GET /v1/lessons/1 returned 404)'],
  'lessons versions': ['lessons versions 1', 'lessons.versions (GET /v1/lessons/1/versions returned 404)'],
  'lessons diff': ['lessons diff 1 1', 'lessons.diff (GET /v1/lessons/1/versions/1/diff returned 404)'],
  'lessons restore': [
    'lessons restore 1 1 --yes',
    'lessons.restore (POST /v1/lessons/1/versions/1/restore returned 404)',
  ],
  'lessons restore-deleted': [
    'lessons restore-deleted 1',
    'lessons.restoreDeleted (POST /v1/deleted-lessons/1/restore returned 404)',
  ],
  'analytics at-risk': ['analytics at-risk', 'analytics.atRisk (GET /v1/analytics/at-risk returned 404)'],
  'analytics activity': [
    'analytics activity --by day',
    'analytics.activity (GET /v1/analytics/activity returned 404)',
  ],
  'analytics grades': [
    'analytics grades --by item',
    'analytics.grades (GET /v1/analytics/grades returned 404)',
  ],
  'lessons list': ['lessons list', 'lessons.list (GET /v1/lessons returned 404)'],
  'lessons export': ['lessons export', 'lessons.list (GET /v1/lessons returned 404)'],
  'lessons get': ['lessons get 1', 'lessons.get (GET /v1/lessons/1 returned 404)'],
  'lessons update': ['lessons update 1 --title x', 'lessons.update (PUT /v1/lessons/1 returned 404)'],
  'lessons delete': ['lessons delete 1 --yes', 'lessons.delete (DELETE /v1/lessons/1 returned 404)'],
  'users list': ['users list', 'users.list (GET /v1/users returned 404)'],
  'users export': ['users export', 'users.list (GET /v1/users returned 404)'],
  'users get': ['users get 2', 'users.get (GET /v1/users/2 returned 404)'],
  'users update': ['users update 2 --role novice', 'users.update (PUT /v1/users/2 returned 404)'],
  'users suspend': ['users suspend 2', 'users.update (PUT /v1/users/2 returned 404)'],
  'users activate': ['users activate 2', 'users.update (PUT /v1/users/2 returned 404)'],
  'users restore': ['users restore 2', 'users.get (GET /v1/users/2 returned 404)'],
  'users delete': ['users delete 2 --yes', 'users.delete (DELETE /v1/users/2 returned 404)'],
  'terms list': ['terms list', 'terms.list (GET /v1/terms returned 404)'],
  'terms get': ['terms get 1', 'terms.get (GET /v1/terms/1 returned 404)'],
  'terms create': ['terms create --name x', 'terms.create (POST /v1/terms returned 404)'],
  'terms update': ['terms update 1 --name x', 'terms.update (PUT /v1/terms/1 returned 404)'],
  'terms delete': ['terms delete 1 --yes', 'terms.delete (DELETE /v1/terms/1 returned 404)'],
  'terms export': ['terms export', 'terms.list (GET /v1/terms returned 404)'],
  'enrollments list': ['enrollments list', 'enrollments.list (GET /v1/enrollments returned 404)'],
  'enrollments export': ['enrollments export', 'enrollments.list (GET /v1/enrollments returned 404)'],
  'enrollments get': ['enrollments get 1', 'enrollments.get (GET /v1/enrollments/1 returned 404)'],
  'enrollments create': [
    'enrollments create --course 1 --user 2',
    'enrollments.create (POST /v1/enrollments returned 404)',
  ],
  'enrollments update': [
    'enrollments update 1 --status active',
    'enrollments.update (PUT /v1/enrollments/1 returned 404)',
  ],
  'enrollments delete': [
    'enrollments delete 1 --yes',
    'enrollments.delete (DELETE /v1/enrollments/1 returned 404)',
  ],
  'enrollments restore': ['enrollments restore 1', 'enrollments.update (PUT /v1/enrollments/1 returned 404)'],
  'progress get': ['progress get 2', 'progress.list (GET /v1/learners/2/progress returned 404)'],
  'progress export': ['progress export', 'progress.all (GET /v1/progress returned 404)'],
  'progress history': [
    'progress history 2 --course 1',
    'progress.history (GET /v1/learners/2/progress/history returned 404)',
  ],
  'grades list': ['grades list', 'grades.list (GET /v1/grades returned 404)'],
  'grades get': ['grades get 1', 'grades.get (GET /v1/grades/1 returned 404)'],
  'grades set': ['grades set 2 --course 1 --score 1', 'grades.set (PUT /v1/grades returned 404)'],
  'grades delete': ['grades delete 1 --yes', 'grades.delete (DELETE /v1/grades/1 returned 404)'],
  'grades history': ['grades history 1', 'grades.history (GET /v1/grades/1/history returned 404)'],
  'grades export': ['grades export', 'grades.list (GET /v1/grades returned 404)'],
  'calendars list': ['calendars list', 'calendars.list (GET /v1/calendars returned 404)'],
  'calendars create': ['calendars create --course 1', 'calendars.create (POST /v1/calendars returned 404)'],
  'calendars revoke': ['calendars revoke 1 --yes', 'calendars.revoke (DELETE /v1/calendars/1 returned 404)'],
  'keys list': ['keys list', 'keys.list (GET /v1/keys returned 404)'],
  'keys create': ['keys create --name ci', 'keys.create (POST /v1/keys returned 404)'],
  'keys revoke': ['keys revoke 1 --yes', 'keys.revoke (DELETE /v1/keys/1 returned 404)'],
  'apps list': ['apps list', 'apps.list (GET /v1/apps returned 404)'],
  'apps create': [
    'apps create --name x --redirect-uri https://a.example/cb',
    'apps.create (POST /v1/apps returned 404)',
  ],
  'apps delete': ['apps delete 1 --yes', 'apps.delete (DELETE /v1/apps/1 returned 404)'],
  'webhooks endpoints list': [
    'webhooks endpoints list',
    'endpoints.list (GET /v1/webhooks/endpoints returned 404)',
  ],
  'webhooks endpoints get': [
    'webhooks endpoints get 1',
    'endpoints.get (GET /v1/webhooks/endpoints/1 returned 404)',
  ],
  'webhooks endpoints create': [
    'webhooks endpoints create --to https://a.example/hooks',
    'endpoints.create (POST /v1/webhooks/endpoints returned 404)',
  ],
  'webhooks endpoints update': [
    'webhooks endpoints update 1 --status active',
    'endpoints.update (PUT /v1/webhooks/endpoints/1 returned 404)',
  ],
  'webhooks endpoints delete': [
    'webhooks endpoints delete 1 --yes',
    'endpoints.delete (DELETE /v1/webhooks/endpoints/1 returned 404)',
  ],
  'webhooks endpoints rotate': [
    'webhooks endpoints rotate 1',
    'endpoints.rotate (POST /v1/webhooks/endpoints/1/rotate returned 404)',
  ],
  'webhooks endpoints test': [
    'webhooks endpoints test 1',
    'endpoints.test (POST /v1/webhooks/endpoints/1/test returned 404)',
  ],
  'webhooks endpoints backfill': [
    'webhooks endpoints backfill 1',
    'analytics.backfill (POST /v1/analytics/statements/backfill returned 404)',
  ],
  'webhooks messages list': [
    'webhooks messages list',
    'messages.list (GET /v1/webhooks/messages returned 404)',
  ],
  'webhooks messages get': [
    'webhooks messages get 1',
    'messages.get (GET /v1/webhooks/messages/1 returned 404)',
  ],
  'webhooks messages replay': [
    'webhooks messages replay 1',
    'messages.resend (POST /v1/webhooks/messages/1/resend returned 404)',
  ],
  report: ['report', 'analytics.report (GET /v1/analytics/report returned 404)'],
  'audit list': ['audit list', 'audit.list (GET /v1/audit returned 404)'],
  'audit get': ['audit get 1', 'audit.get (GET /v1/audit/1 returned 404)'],
  'audit export': ['audit export', 'audit.list (GET /v1/audit returned 404)'],
  'audit verify': ['audit verify', 'audit.list (GET /v1/audit returned 404)'],
  'integrations list': ['integrations list', 'integrations.list (GET /v1/integrations returned 404)'],
  'integrations get': [
    'integrations get canvas',
    'integrations.get (GET /v1/integrations/canvas returned 404)',
  ],
  'integrations set': [
    'integrations set canvas --base-url https://canvas.example',
    'integrations.set (PUT /v1/integrations/canvas returned 404)',
  ],
  'analytics dataset': [
    'analytics dataset warehouse',
    'analytics.changes (GET /v1/analytics/changes returned 404)',
  ],
  'users export-data': ['users export-data 1', 'users.data (GET /v1/users/1/data returned 404)'],
  'grades report': ['grades report 1', 'grades.report (GET /v1/gradebooks/1 returned 404)'],
  'analytics statements': [
    'analytics statements',
    'analytics.statements (GET /v1/analytics/statements returned 404)',
  ],
  'integrations test': [
    'integrations test canvas',
    'integrations.test (POST /v1/integrations/canvas/test returned 404)',
  ],
  'integrations delete': [
    'integrations delete canvas --yes',
    'integrations.remove (DELETE /v1/integrations/canvas returned 404)',
  ],
  'integrations mappings': [
    'integrations mappings canvas',
    'integrations.mappings (GET /v1/integrations/canvas/mappings returned 404)',
  ],
  'integrations map': [
    'integrations map canvas course 1 2',
    'integrations.map (PUT /v1/integrations/canvas/mappings returned 404)',
  ],
  'integrations unmap': [
    'integrations unmap canvas course 1',
    'integrations.mappings (GET /v1/integrations/canvas/mappings returned 404)',
  ],
  'webhooks deliveries list': [
    'webhooks deliveries list',
    'deliveries.list (GET /v1/webhooks/deliveries returned 404)',
  ],
  'webhooks deliveries get': [
    'webhooks deliveries get 1',
    'deliveries.get (GET /v1/webhooks/deliveries/1 returned 404)',
  ],
  'webhooks deliveries replay': [
    'webhooks deliveries replay 1',
    'deliveries.replay (POST /v1/webhooks/deliveries/1/replay returned 404)',
  ],
  'groups export': ['groups export', 'groups.list (GET /v1/groups returned 404)'],
  'groups members export': ['groups members export', 'groups.memberships (GET /v1/memberships returned 404)'],
  'groups list': ['groups list', 'groups.list (GET /v1/groups returned 404)'],
  'groups get': ['groups get 1', 'groups.get (GET /v1/groups/1 returned 404)'],
  'groups create': ['groups create --name A', 'groups.create (POST /v1/groups returned 404)'],
  'groups update': ['groups update 1 --name B', 'groups.update (PUT /v1/groups/1 returned 404)'],
  'groups delete': ['groups delete 1 --yes', 'groups.delete (DELETE /v1/groups/1 returned 404)'],
  'groups restore': [
    'groups restore 1',
    'groups.restoreDeleted (POST /v1/deleted-groups/1/restore returned 404)',
  ],
  'groups members list': ['groups members list 1', 'groups.members (GET /v1/groups/1/members returned 404)'],
  'groups members add': [
    'groups members add 1 2',
    'groups.addMember (PUT /v1/groups/1/members/2 returned 404)',
  ],
  'groups members remove': [
    'groups members remove 1 2',
    'groups.removeMember (DELETE /v1/groups/1/members/2 returned 404)',
  ],
  'settings get': ['settings get', 'settings.get (GET /v1/settings returned 404)'],
  'settings update': [
    'settings update --instructor-access all',
    'settings.update (PUT /v1/settings returned 404)',
  ],
  'auth grants list': ['auth grants list', 'grants.list (GET /v1/grants returned 404)'],
  'auth grants revoke': ['auth grants revoke 1 --yes', 'grants.revoke (DELETE /v1/grants/1 returned 404)'],
}

/** Commands about this machine, which send nothing. */
const here: Record<string, [line: string, code: number]> = {
  quickstart: ['quickstart', 0],
  'auth logout': ['auth logout', 4],
  'auth token': ['auth token', 0],
  'profiles list': ['profiles list', 0],
  'profiles get': ['profiles get', 3],
  'profiles add': ['profiles add school', 0],
  'profiles use': ['profiles use school', 3],
  'profiles delete': ['profiles delete school', 3],
  'server start': ['server start --port 0', 143],
  'server copy': ['server copy --from academy.db --to copy.db', 3],
  'server exec': ['server exec -- true', 0],
  'server backup': ['server backup academy.backup', 3],
  'server restore': ['server restore academy.backup --yes', 3],
  'server new-encryption-key': ['server new-encryption-key --yes', 3],
  'server reset': ['server reset --yes', 3],
  'server snapshot save': ['server snapshot save before', 3],
  'server snapshot list': ['server snapshot list', 3],
  'server snapshot restore': ['server snapshot restore before --yes', 3],
  'server snapshot delete': ['server snapshot delete before --yes', 3],
  completion: ['completion bash', 0],
  'analytics fields': ['analytics fields', 0],
  'analytics pseudonym-key': ['analytics pseudonym-key --file pseudonyms.key', 0],
  validate: ['validate academy.yaml', 2],
  'roster validate': ['roster validate school.zip', 2],
  'server status': ['server status', 0],
  'server stop': ['server stop', 3],
  'server openapi': ['server openapi', 0],
  open: ['open', 0],
  help: ['help exit-codes', 0],
}

/** Commands with tests of their own, below or in import/, export/, academy/ and roster/. */
const others = [
  ...['webhooks listen', 'webhooks send', 'webhooks generate-key'],
  ...[
    'courses',
    'lessons',
    'users',
    'terms',
    'groups',
    'groups members',
    'enrollments',
    'progress',
    'grades',
  ].map((noun) => `${noun} import`),
  ...['courses export', 'diff', 'apply', 'roster diff', 'roster apply', 'roster push'],
  'auth login',
  'auth google',
  'integrations sign-in',
  ...['courses apply', 'courses validate'],
  'courses copy',
  ...['list', 'create', 'rename', 'move', 'delete'].map((verb) => `modules ${verb}`),
  'analytics summary',
  'courses get',
  'doctor',
  ...['profiles describe', 'profiles check'],
  'mcp',
  'users set-password',
]

test('every command is in one of these tables', { tags: ['slow'] }, async () => {
  const commands = await Promise.all(
    Object.entries(nouns).map(async ([name, noun]) => {
      const loaded = await noun.load(host)
      return 'length' in loaded ? loaded.map((command) => `${name} ${command.name}`) : [name]
    }),
  )
  const listed = [...[offered, learnctlOnly, missing, here].flatMap(Object.keys), ...others]
  expect(listed.sort()).toEqual(commands.flat().sort())
})

describe('is offered', () => {
  test.for(Object.values(offered))('%s', async ([line, printed], { cli, seed }) => {
    const { code, stdout, stderr } = await cli.run(line, at(seed))
    expect({ code, stdout }).toEqual({ code: 0, stdout: printed })
    // The clock of these tests stands still, that of the platform does not.
    expect(stderr).toMatch(/^(Exported 1 row\n|note: The clock of this machine.*\d+ (min|h) behind .*\n)?$/)
  })

  test('a course, as its list has it', async ({ cli, seed }) => {
    expect(await cli.run('courses get 1 --columns id,title,difficulty', at(seed))).toEqual({
      code: 0,
      stdout: '1\tGo\tmythical\n',
      stderr: 'note: The platform does not support courses.get; showing the entry from its list\n',
    })
  })

  test('what is named but is not there exits 3', async ({ cli, seed }) => {
    for (const line of [
      'courses update 9 --title x',
      'lessons create --course 9 --title x',
      'progress set 9 --course 1 --completion 10',
    ]) {
      expect(await cli.run(line, at(seed)), line).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringMatching(/^error: .*not found\n$/i),
      })
    }
  })

  test('learners in every format, though it knows CSV alone', async ({ cli, seed }) => {
    const row = {
      learnerId: '2',
      courseId: '1',
      completionPercentage: 40,
      lastAccessed: '2026-02-20T10:00:00Z',
    }
    const exported = async (flags: string) => (await cli.run(`analytics export ${flags}`, at(seed))).stdout
    expect(JSON.parse(await exported('--format json'))).toEqual([row])
    expect(JSON.parse(await exported('--format ndjson'))).toEqual(row)
    expect(JSON.parse(await exported('--format json --start-date 2026-02-21'))).toEqual([])
  })

  test('signing in', { tags: ['slow'] }, async ({ cli, seed }) => {
    const login = await cli.run(`auth login --with-key --url ${seed.url}/v1/`, { stdin: seed.key })
    expect(login).toMatchObject({ code: 0, stdout: '' })
    expect(login.stderr).toContain('owner@school.example')
    expect(await rowsOf(cli, 'courses list --columns title')).toEqual([['Go']])
    expect(await cli.run('auth logout')).toMatchObject({ code: 0 })
    expect(await cli.run('courses list')).toMatchObject({ code: 4, stdout: '' })
  })

  test('a look at the set-up', async ({ cli, seed }) => {
    expect(await resultOf(cli, 'doctor', at(seed))).toContainEqual({
      check: 'Credential',
      status: 'ok',
      detail: 'owner@school.example (administrator)',
    })
  })
})

test.for(Object.values(learnctlOnly))(
  'requires a learnctl server: %s',
  async ([line, command], { cli, seed }) => {
    const before = seed.requests.length
    expect(await cli.run(line, at(seed))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${new URL(seed.url).host} is not a learnctl server, which ${command} requires
  Nothing was sent
  hint: See what other platforms support: docs/platforms.md
`,
    })
    expect(seed.requests.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
  },
)

describe('is not offered, in one line that names host and operation', () => {
  test.for(Object.values(missing))('%s', async ([line, needed], { cli, seed }) => {
    expect(await cli.run(line, at(seed))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${new URL(seed.url).host} does not support ${needed}\n`,
    })
  })

  test('users set-password, whose password is shown nowhere', async ({ cli, seed }) => {
    expect(await cli.run('users set-password 2', at(seed, { stdin: 'correct horse battery\n' }))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${new URL(seed.url).host} does not support users.update (PUT /v1/users/2 returned 404)\n`,
    })
    expect(seed.requests.find(({ url }) => url === '/v1/users/2')?.body).toBe(
      '{"password":"correct horse battery"}',
    )
  })

  test('analytics summary, with what to do instead', async ({ cli, seed }) => {
    expect(await cli.run('analytics summary', at(seed))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${new URL(seed.url).host} does not provide a learner summary
  The response to GET /v1/analytics/learners contains no summary
  hint: Use the export instead: learnctl analytics export
`,
    })
  })
})

describe('sends nothing there', () => {
  test.for(Object.values(here))('%s', async ([line, code], { cli, seed }) => {
    if (line === 'quickstart') await putQuickstart(cli, 'few')
    const before = seed.requests.length
    const signal = line.startsWith('server start')
      ? { signal: AbortSignal.abort(new InterruptedError('SIGTERM')) }
      : {}
    expect(await cli.run(line, at(seed, signal))).toMatchObject({ code })
    expect(seed.requests).toHaveLength(before)
  })
})

describe('with a key that', () => {
  const lines = [...Object.values(offered), ...Object.values(missing)].map(([line]) => line)
  const keys: [what: string, keyOf: (seed: SeedServer) => string, message: string][] = [
    ['has expired', ({ expiredKey }) => expiredKey, 'Expired key'],
    ['it does not know', () => 'sk-live-unknown', 'Invalid token'],
  ]

  test.for(keys)(
    '%s every command exits 4 and says which key that was',
    { tags: ['slow'] },
    async ([, keyOf, message], { cli, seed }) => {
      for (const line of lines) {
        const { code, stdout, stderr } = await cli.run(line, at({ url: seed.url, key: keyOf(seed) }))
        expect({ line, code, stdout }).toEqual({ line, code: 4, stdout: '' })
        const [error, why, hint] = stderr.split('\n')
        expect(error).toBe(`error: ${message}`)
        expect(why).toBe(`  The API key from LEARNCTL_API_KEY was sent to ${seed.url}`)
        expect(hint).toMatch(/^ {2}hint: .*LEARNCTL_API_KEY.*: learnctl auth login --url http:\S+$/)
      }
    },
  )
})

test.for(['--if-not-exists', '--upsert'])(
  'create %s sends nothing where the platform does not show external ids',
  async (flag, { cli, seed }) => {
    const line = `courses create --title Sea --external-id sea ${flag}`
    const { code, stdout, stderr } = await cli.run(line, at(seed))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('does not show externalId of courses, so what is there cannot be recognised\n')
    expect(
      await rowsOf({ ...cli, run: (words) => cli.run(words, at(seed)) }, 'courses list --columns title'),
    ).toEqual([['Go']])
  },
)

test('several courses are changed side by side, and those that fail are named', async ({ cli, seed }) => {
  const { code, stdout, stderr } = await cli.run('courses update 1 77 --title Went', at(seed))
  expect({ code, stdout }).toEqual({ code: 8, stdout: '1\n' })
  expect(stderr).toContain('error: Cannot update 1 of 2 courses\n  77: ')
})
