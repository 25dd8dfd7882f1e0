import { describe, expect } from 'vitest'
import { InterruptedError } from '../../src/cli/terminal/errors.ts'
import { test as base, type RunOptions } from '../helpers/cli.ts'
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
const offered: readonly [line: string, printed: string][] = [
  ['courses list --columns id,title,difficulty', '1\tGo\tmythical\n'],
  ['courses create --title Sea -q', '2\n'],
  ['courses update 1 --title Went --columns version', '2\n'],
  ['courses publish 1 --columns version', '2\n'],
  ['lessons create --course 1 --title Second --columns id,title', '2\tSecond\n'],
  ['users create --email bob@school.example --role novice --columns id,role', '3\tnovice\n'],
  ['users me --columns email,role', 'owner@school.example\tadministrator\n'],
  ['progress set 2 --course 1 --completion 60 --columns completionPercentage', '60\n'],
  [
    'analytics export',
    'learnerId,courseId,completionPercentage,lastAccessed\r\n2,1,40,2026-02-20T10:00:00Z\r\n',
  ],
  ['auth status --columns user.email', 'owner@school.example\n'],
  ['api courses.list', `${JSON.stringify([{ id: '1', title: 'Go', difficulty: 'mythical' }], null, 2)}\n`],
]

/** Commands that a learnctl server alone supports. */
const learnctlOnly: readonly [line: string, command: string][] = [
  ['undo last', 'undo'],
  ['audit revert aud_1 --yes', 'audit revert'],
  ['roster export --format canvas school', 'roster export'],
  ['dump', 'dump'],
]

/** Commands that they do not support, one of each kind and all with a request of their own, and what each needs. */
const missing: readonly [line: string, needed: string][] = [
  ['courses delete 1 --yes', 'courses.delete (DELETE /v1/courses/1 returned 404)'],
  ['users list', 'users.list (GET /v1/users returned 404)'],
  ['grades set 2 --course 1 --score 1', 'grades.set (PUT /v1/grades returned 404)'],
  [
    'integrations map canvas course 1 2',
    'integrations.map (PUT /v1/integrations/canvas/mappings returned 404)',
  ],
]

/** Commands about this machine, which send nothing. */
const here: readonly [line: string, code: number][] = [
  ['quickstart', 0],
  ['auth logout', 4],
  ['profiles add school', 0],
  ['server start --port 0', 143],
  ['server exec -- true', 0],
  ['validate academy.yaml', 2],
  ['open', 0],
]

describe('is offered', () => {
  test.for(offered)('%s', async ([line, printed], { cli, seed }) => {
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

test.for(learnctlOnly)('requires a learnctl server: %s', async ([line, command], { cli, seed }) => {
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
})

describe('is not offered, in one line that names host and operation', () => {
  test.for(missing)('%s', async ([line, needed], { cli, seed }) => {
    expect(await cli.run(line, at(seed))).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${new URL(seed.url).host} does not support ${needed}\n`,
    })
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

test.for(here)('%s sends nothing there', async ([line, code], { cli, seed }) => {
  if (line === 'quickstart') await putQuickstart(cli, 'few')
  const before = seed.requests.length
  const signal = line.startsWith('server start')
    ? { signal: AbortSignal.abort(new InterruptedError('SIGTERM')) }
    : {}
  expect(await cli.run(line, at(seed, signal))).toMatchObject({ code })
  expect(seed.requests).toHaveLength(before)
})

const lines = [...offered, ...missing].map(([line]) => line)
const keys: [what: string, keyOf: (seed: SeedServer) => string, message: string][] = [
  ['has expired', ({ expiredKey }) => expiredKey, 'Expired key'],
  ['it does not know', () => 'sk-live-unknown', 'Invalid token'],
]

test.for(keys)(
  'with a key that %s every command exits 4 and says which key that was',
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
