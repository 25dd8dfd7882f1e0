import { describe, expect, onTestFinished } from 'vitest'
import type { HttpRequest, Transport } from '../../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import { startSeedServer } from '../../../helpers/seed-server.ts'

const course = '{externalId: C, title: C}'
const withLesson = '{externalId: C, title: C, lessons: [{title: L}]}'
const courseFile = 'externalId: C\ntitle: C\nlessons: [{title: L}]\n'

/** Tasks beyond the eight operations, each with the line that reports it. */
const refused: Record<string, [line: string, stdin: string, told: string]> = {
  'importing users that may be there': ['users import -', 'email\na@b.example\n', 'cannot look up users'],
  'skipping users that are there': [
    'users import - --on-exists skip',
    'email\na@b.example\n',
    'cannot look up users',
  ],
  'importing lessons that may be there': [
    'lessons import -',
    'courseId,title,externalId\n1,L,L\n',
    'cannot look up lessons',
  ],
  ...Object.fromEntries(
    ['update', 'skip', 'fail'].flatMap((mode) => [
      [
        `importing enrolments (${mode})`,
        [
          `enrollments import - --on-exists ${mode}`,
          'courseId,userId\n1,2\n',
          'does not support enrollments.list',
        ],
      ],
      [
        `importing grades (${mode})`,
        [
          `grades import - --on-exists ${mode}`,
          'courseId,learnerId,scoreGiven\n1,2,9\n',
          'does not support grades.list',
        ],
      ],
    ]),
  ),
  'skipping progress that is there': [
    'progress import - --on-exists skip',
    'courseId,learnerId,completionPercentage\n1,2,9\n',
    'does not support progress.list',
  ],
  'refusing progress that is there': [
    'progress import - --on-exists fail',
    'courseId,learnerId,completionPercentage\n1,2,9\n',
    'does not support progress.list',
  ],
  'telling which progress is new': [
    'progress import - --dry-run',
    'courseId,learnerId,completionPercentage\n1,2,9\n',
    'cannot show progress records, so it cannot be told which rows are new\n  It does not support GET /v1/learners/{learnerId}/progress; nothing was sent\n',
  ],
  'users of an academy': [
    'apply - --yes',
    `learnctl: 1\nusers: [{email: a@b.example}]\ncourses: [${course}]\n`,
    'does not support users.',
  ],
  'lessons of an academy': [
    'apply - --yes',
    `learnctl: 1\ncourses: [${withLesson}]\n`,
    'does not support lessons.list',
  ],
  'comparing lessons': ['diff -', `learnctl: 1\ncourses: [${withLesson}]\n`, 'does not support lessons.list'],
  'enrolments of an academy': [
    'apply - --yes',
    `learnctl: 1\ncourses: [${course}]\nenrollments: [{courseId: C, userId: '1'}]\n`,
    'does not support users.get',
  ],
  'progress of an academy': [
    'apply - --yes',
    `learnctl: 1\ncourses: [${course}]\nprogress: [{courseId: C, learnerId: '1', completionPercentage: 5}]\n`,
    'does not support users.get',
  ],
  pruning: ['apply - --label ci --prune --yes', `learnctl: 1\ncourses: [${course}]\n`, 'Cannot prune'],
  'lessons of a course file': [
    'courses apply -f - --yes',
    courseFile,
    'does not list lessons; nothing was sent',
  ],
  'copying a course': ['courses copy 1', '', 'does not support lessons.list'],
  'dumping an academy': ['dump', '', 'does not support users.list'],
  'creating a user unless there': [
    'users create --email a@b.example --if-not-exists',
    '',
    'does not support users.list',
  ],
  'creating or changing a user': [
    'users create --email a@b.example --upsert',
    '',
    'does not support users.list',
  ],
  'creating a lesson unless there': [
    'lessons create --course 1 --title L --external-id L --if-not-exists',
    '',
    'does not support lessons.list',
  ],
  'creating or changing a lesson': [
    'lessons create --course 1 --title L --external-id L --upsert',
    '',
    'does not support lessons.list',
  ],
  'enrolling unless enrolled': [
    'enrollments create --course 1 --user 2 --if-not-exists',
    '',
    'does not support enrollments.list',
  ],
  'enrolling or changing the enrolment': [
    'enrollments create --course 1 --user 2 --upsert',
    '',
    'does not support enrollments.list',
  ],
}

describe('tasks beyond the eight operations are reported before anything is sent', async () => {
  const server = await startSeedServer()
  await fetch(`${server.url}/v1/courses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}` },
    body: JSON.stringify({ title: 'Go', externalId: 'Go' }),
  })
  test.afterAll(() => server.close())

  test.for(Object.entries(refused))('%s', async ([, [line, stdin, told]], { cli }) => {
    const before = server.requests.length
    const env = { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.key }
    const ran = await cli.run(line, { stdin, env })
    expect(ran.code, ran.stderr).toBe(1)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toContain(told)
    expect(server.requests.slice(before).filter(({ method }) => method !== 'GET')).toEqual([])
  })
})

test('courses alone can be applied to it, and applied again', async ({ cli }) => {
  const server = await startSeedServer()
  onTestFinished(() => server.close())
  const options = {
    env: { LEARNCTL_URL: server.url, LEARNCTL_API_KEY: server.key },
    stdin: `learnctl: 1\ncourses: [${course}]\n`,
  }
  expect((await cli.run('apply - --yes', options)).stderr).toContain('Applied: 1 created')
  expect((await cli.run('apply - --yes', options)).stderr).toContain('No changes; 1 as declared')
})

describe('a platform without an OpenAPI document that does not change lessons and users', () => {
  const page = {
    status: 404,
    headers: { 'content-type': 'text/html' },
    body: '<!doctype html><h1>Not found</h1>',
  }
  /** Response instead of the academy's; `allow` is the response to OPTIONS on a lesson or a user. */
  const lacking =
    (transport: Transport, sent: string[], allow: string | null): Transport =>
    async (request: HttpRequest) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/v1/openapi.json' || pathname.endsWith('/batch')) return page
      if (!['GET', 'OPTIONS'].includes(request.method)) sent.push(`${request.method} ${pathname}`)
      if (!/^\/v1\/(lessons|users)\/./.test(pathname) || request.method === 'GET') return transport(request)
      if (request.method !== 'OPTIONS' || allow === null) return page
      return { status: 204, headers: { allow }, body: null }
    }

  const file = (title: string) => `externalId: C\ntitle: C\nlessons: [{externalId: L, title: ${title}}]\n`
  const academyOf = (title: string) =>
    `learnctl: 1\ncourses: [{externalId: C, title: C, lessons: [{externalId: L, title: ${title}}]}]\n`
  const users = (name: string) => `email,externalId,firstName\na@b.example,A,${name}\n`
  const refusals = [
    [
      'courses apply -f - --yes',
      file('Ebb'),
      'It cannot update lessons: PUT /v1/lessons/{lessonId} is not supported',
    ],
    [
      'apply - --yes',
      academyOf('Ebb'),
      'It cannot update lessons: PUT /v1/lessons/{lessonId} is not supported',
    ],
    ['users import -', users('Ada'), 'cannot change users'],
  ] as const

  test.for([
    ['says so where it tells what it allows', 'GET, HEAD'],
    ['is told not to say, where it does not', null],
  ] as const)('%s', async ([, allow], { academy }) => {
    const { key } = await academy.person('admin')
    const sent: string[] = []
    const cli = testCli({ transport: lacking(transportTo(academy), sent, allow) })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const made = [
      await cli.run('courses apply -f - --yes', { env, stdin: file('Tides') }),
      await cli.run('users import - --on-exists skip', { env, stdin: users('Ada') }),
    ]
    for (const { code, stderr } of made) {
      expect(code, stderr).toBe(0)
      expect(stderr).not.toContain('does not say whether')
    }
    const another = await cli.run('users import -', { env, stdin: 'email,externalId\nb@b.example,B\n' })
    if (allow === null) {
      expect(another).toMatchObject({
        code: 0,
        stderr: 'Imported 1 row of 1 from standard input: 1 created\n',
      })
    }
    for (const [line, stdin, told] of refusals) {
      sent.length = 0
      const ran = await cli.run(line, { env, stdin })
      expect(ran.code, line).not.toBe(0)
      if (allow !== null) {
        expect(ran.stderr).toContain(told)
        const dry = await cli.run(line.replace(' --yes', '').concat(' --dry-run'), { env, stdin })
        expect(dry).toMatchObject({ code: 1, stdout: '', stderr: ran.stderr })
        expect(sent).toEqual([])
      } else {
        expect(ran.stderr).toMatch(
          /^(~.*\n)*note: school\.example does not say whether it supports PUT \/v1\/\w+\/\{\w+\}; without that, some changes will fail$/m,
        )
      }
    }
  })
})

describe('a platform that finds courses by their ids alone', () => {
  const files = `learnctl: 1\ncourses: [{externalId: C, title: C, lessons: [{externalId: L, title: L}]}]\n`

  test.for([
    ['says so before anything is sent, where a course shows it', 'C'],
    ['is told not to say, where no course has an external id', null],
  ] as const)('%s', async ([, externalId], { academy }) => {
    const { key, post } = await academy.person('admin')
    await post('/v1/courses', { title: 'C', ...(externalId !== null && { externalId }) })
    const transport = transportTo(academy)
    const sent: string[] = []
    const cli = testCli({
      transport: async (request) => {
        const { pathname } = new URL(request.url)
        if (request.method !== 'GET') sent.push(`${request.method} ${pathname}`)
        const unknown = /openapi|\/ext%3A/.test(pathname) || String(request.body ?? '').includes('ext:')
        return unknown
          ? transport({ ...request, url: request.url.replace(pathname, '/v1/courses/0') })
          : transport(request)
      },
    })
    onTestFinished(() => cli.remove())
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    const { code, stderr } = await cli.run('apply - --yes', { env, stdin: files })
    expect(code).not.toBe(0)
    if (externalId === null) {
      expect(stderr).toContain(
        'note: school.example does not say whether it supports references such as ext:C; without that, some changes will fail',
      )
    } else {
      expect(stderr).toContain(
        'error: school.example cannot apply these files\n  It does not find courses by their external ids, such as ext:C\n  Nothing was sent\n',
      )
      expect(sent.filter((line) => !line.startsWith('OPTIONS'))).toEqual([])
    }
  })
})
