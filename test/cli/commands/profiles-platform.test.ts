import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { parse } from 'yaml'
import { type TestCli, test as withCli } from '../../helpers/cli.ts'
import { type Answer, json, test } from '../../helpers/odd-platform.ts'

const file = `learnctlPlatform: 1
name: Example LMS
auth: { header: X-Api-Key }
records:
  course: { id: /course_key, title: /display_name, status: { at: /state, values: { live: published, hidden: draft } } }
operations:
  courses.list: { path: /api/courses }
  courses.update: { path: '/api/courses/{courseId}', method: PATCH }
  lessons.create: not offered
`
const theirs = '[{"course_key":7,"display_name":"Sea","state":"live"}]'
const ours = '7\tSea\tpublished\n'
const line = 'courses list --columns id,title,status'

function put(cli: Pick<TestCli, 'cwd'>, text: string): void {
  writeFileSync(join(cli.cwd, 'lms.yaml'), text)
}

describe('a platform file', () => {
  test('is kept with the profile, with what it says', async ({ cli, platform }) => {
    put(cli, file)
    expect(await cli.run(`profiles add lms --url ${platform.url} --platform lms.yaml`)).toMatchObject({
      code: 0,
    })
    put(cli, 'learnctlPlatform: 1\nname: Another\n')
    platform.answer(json(200, theirs))
    const env = { LEARNCTL_API_KEY: 'the-key' }
    expect(await cli.run(line, { env })).toEqual({ code: 0, stdout: ours, stderr: '' })
    expect(platform.requests).toEqual(['GET /api/courses'])
    expect(platform.headers[0]).toMatchObject({ 'x-api-key': 'the-key' })
    expect(platform.headers[0]).not.toHaveProperty('authorization')
    const { stdout } = await cli.run('profiles get -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      platform: expect.stringMatching(/^Example LMS \([0-9a-f]{12}\)$/),
    })
  })

  test('is replaced and removed, and the credential stays', async ({ cli, platform }) => {
    put(cli, file)
    await cli.run(`profiles add lms --url ${platform.url}`)
    platform.answer(json(200, '{"id":1,"email":"a@b.example"}'))
    await cli.run('auth login --profile lms --with-key', { stdin: 'the-key' })
    platform.answer(json(200, theirs))
    expect(await cli.run(line)).toMatchObject({ code: 1, stdout: '' })
    expect(await cli.run('profiles describe lms lms.yaml')).toMatchObject({
      code: 0,
      stderr: 'Profile lms is described by Example LMS\n',
    })
    expect(await cli.run(line)).toMatchObject({ code: 0, stdout: ours })
    const doctor = await cli.run('doctor')
    expect(doctor.stdout).toMatch(/Example LMS \([0-9a-f]{12}\); not offered: lessons\.create/)
    await cli.run('auth login --profile lms --with-key', { stdin: 'the-key' })
    expect(await cli.run(line)).toMatchObject({ code: 0, stdout: ours })
    await cli.run('profiles describe lms')
    expect(await cli.run(line)).toMatchObject({ code: 1, stdout: '' })
    expect(readFileSync(join(cli.home, '.config/learnctl/profiles.json'), 'utf8')).not.toContain('platform')
  })

  test('may come from the environment, as in CI', async ({ cli, platform }) => {
    put(cli, file)
    platform.answer(json(200, theirs))
    const env = { LEARNCTL_PLATFORM: 'lms.yaml', LEARNCTL_URL: platform.url, LEARNCTL_API_KEY: 'the-key' }
    expect(await cli.run(line, { env })).toMatchObject({ code: 0, stdout: ours })
    expect(await cli.run('lessons create --course 7 --title x', { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('lessons.create (its platform file says that it is not offered)\n'),
    })
    put(cli, 'learnctlPlatform: 2\n')
    expect(await cli.run(line, { env })).toMatchObject({ code: 2, stdout: '' })
    expect(platform.requests).toEqual(['GET /api/courses'])
  })
})

withCli('every problem of a platform file is told with its line', async ({ cli }) => {
  const problems = async (text: string) => {
    put(cli, text)
    const ran = await cli.run('profiles add lms --url https://lms.example --platform lms.yaml')
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    return ran.stderr.split('\n').slice(1, -2)
  }
  const head = 'learnctlPlatform: 1\nname: Example\n'
  expect(
    await problems(
      'learnctlPlatform: 1\nnam: x\ntimeZone: Berlin\nlists: { items: value, next: { page: 1 } }\n',
    ),
  ).toEqual([
    '  lms.yaml:1: name is required',
    '  lms.yaml:2: nam is not a known field; did you mean name?',
    '  lms.yaml:3: timeZone is not an IANA time zone, such as Europe/Berlin, not "Berlin"',
    '  lms.yaml:4: lists.items must be a JSON Pointer such as /person/mail, not "value"',
    '  lms.yaml:4: lists.next has an unknown form',
  ])
  expect(
    await problems(
      `${head}operations:\n  courses.lst: { path: /c }\n  courses.update: { path: '/c/{id}' }\nrecords:\n  course: { titel: /b }\n  pupil: { id: /a }\n`,
    ),
  ).toEqual([
    '  lms.yaml:4: operations.courses.lst is not an operation; did you mean courses.list?',
    '  lms.yaml:5: operations.courses.update.path must contain {courseId}',
    '  lms.yaml:5: operations.courses.update.path cannot contain {id}',
    '  lms.yaml:7: records.course.titel is not a field of course; did you mean title?',
    '  lms.yaml:8: records.pupil is not a kind of record',
  ])
  expect(await problems(`${head}operations: { courses.list: { path: 'https://evil.test/' } }\n`)).toEqual([
    '  lms.yaml:3: operations.courses.list.path must be a path that begins with /, not "https://evil.test/"',
  ])
  expect(
    await problems(
      `${head}auth: { header: Host, scheme: a b }\nrecords: { course: { title: { at: /t, valeus: { a: b } } } }\noperations: { courses.list: { pth: /c } }\n`,
    ),
  ).toEqual([
    '  lms.yaml:3: auth.header must be the name of a header for credentials, such as X-Api-Key, not "Host"',
    '  lms.yaml:3: auth.scheme must be one word, such as Bearer, not "a b"',
    '  lms.yaml:4: records.course.title.valeus is not a known field; did you mean values?',
    '  lms.yaml:5: operations.courses.list.pth is not a known field; did you mean path?',
  ])
  expect(await problems('')).toEqual(['  lms.yaml:1: must be an object'])
  put(cli, `a: &a [1]\nb: [${'*a, '.repeat(200)}]`)
  expect((await cli.run('profiles add lms --url https://lms.example --platform lms.yaml')).stderr).toBe(
    'error: Cannot read lms.yaml: its aliases expand too far\n',
  )
  put(cli, 'a: [')
  expect((await cli.run('profiles add lms --url https://lms.example --platform lms.yaml')).stderr).toMatch(
    /^error: lms\.yaml:1:5: not YAML: /,
  )
  expect((await cli.run('profiles add x --url https://lms.example --platform no.yaml')).stderr).toMatch(
    /^error: Cannot read no\.yaml: /,
  )
  expect((await cli.run('profiles add x --database a.db --platform lms.yaml')).code).toBe(2)
})

describe('profiles check', () => {
  const answers: Readonly<Record<string, unknown>> = {
    '/v1/courses': { value: [{ course_key: 7, display_name: 'Sea' }], nextLink: 'https://x.example/2' },
    '/v1/users': [{ id: 1, mail: 'zoe@b.example' }],
    '/v1/user/profile': { user: { id: 1, email: 'zoe@b.example' } },
    '/v1/analytics/learners': [{ learner_id: 1, course_id: 7, ratio: 0.5, ts: 1_706_918_400 }],
  }
  const fitting: typeof answers = {
    '/v1/courses': { courses: [{ _id: 7, title: 'Sea' }] },
    '/v1/users': [{ id: 1, email: 'zoe@b.example', role: 'admin' }],
    '/v1/user/profile': { id: 1, email: 'zoe@b.example' },
    '/v1/analytics/learners': [
      { learner_id: 1, course_id: 7, completion_percentage: 50, last_accessed: '2026-01-31T09:30:00Z' },
    ],
  }
  const csv = 'learner_id,course_id,completion_percentage,last_accessed\n1,7,50,2026-01-31T09:30:00Z\n'
  const answering =
    (served: typeof answers): Answer =>
    (response, request) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      const found = served[pathname]
      if (searchParams.get('format') === 'csv' && found !== undefined)
        response.writeHead(200, { 'content-type': 'text/csv' }).end(csv)
      else
        json(found === undefined ? 404 : 200, JSON.stringify(found ?? { error: 'none' }))(response, request)
    }

  test('shows where each field stands, and prints a file to begin with', async ({ platform }) => {
    platform.answer(answering(answers))
    const { code, stdout, stderr } = await platform.run('profiles check')
    expect(code).toBe(1)
    expect(stdout).toContain('courses.list\tid\t/course_key\tnumber\tguess\n')
    expect(stdout).toContain('users.list\temail\t/mail\ttext\tguess\n')
    expect(stdout).toContain('users.profile\temail\t/email\ttext\tyes\n')
    expect(stdout).toContain('analytics.learners\tcompletionPercentage\t/ratio\tratio\tguess\n')
    expect(stdout + stderr).not.toContain('zoe')
    expect(stderr).toContain('note: lessons.list: GET /v1/lessons returned 404\n')
    const { stdout: yaml } = await platform.run('profiles check -o yaml')
    expect(parse(yaml)).toEqual({
      learnctlPlatform: 1,
      name: 'My platform',
      lists: { next: { url: '/nextLink' } },
      operations: { 'courses.list': { items: '/value' } },
      records: {
        course: { id: '/course_key', title: '/display_name' },
        user: { email: '/mail' },
        learner: {
          completionPercentage: { at: '/ratio', of: 1 },
          lastAccessed: { at: '/ts', time: 'unix-seconds' },
        },
      },
    })
    expect(platform.requests.every((request) => request.startsWith('GET '))).toBe(true)
  })

  test('takes the address of the next page before a number of pages', async ({ platform }) => {
    const courses = { courses: [{ id: 7, title: 'Sea' }], next: 'https://x.example/2', pages: 2 }
    platform.answer(answering({ ...answers, '/v1/courses': courses }))
    expect(parse((await platform.run('profiles check -o yaml')).stdout)).not.toHaveProperty('lists')
  })

  test('reads the responses as commands do', async ({ cli, platform }) => {
    platform.answer(answering(fitting))
    put(
      cli,
      `${'learnctlPlatform: 1\nname: X\n'}records: { user: { role: { at: /role, values: { staff: admin } } } }\n`,
    )
    await cli.run(`profiles add lms --url ${platform.url} --platform lms.yaml`)
    const { code, stdout, stderr } = await cli.run('profiles check', { env: { LEARNCTL_API_KEY: 'the-key' } })
    expect(code).toBe(1)
    expect(stdout).toContain('users.list\tJSON\t\t\tmissing\n')
    expect(stderr).toContain('note: users.list as JSON does not fit: records: { user: { role: ')
  })

  test.for([
    ['a page to sign in', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>')],
    ['a refusal', json(403, '{"error":"zoe@b.example lacks a right"}')],
  ] as [string, Answer][])('takes %s for nothing that fits', async ([, answer], { platform }) => {
    platform.answer(answer)
    const { code, stdout, stderr } = await platform.run('profiles check')
    expect(code).toBe(1)
    expect(stdout).toContain('courses.list\tid\t\t\tmissing\n')
    expect(stderr).not.toContain('zoe')
  })

  test('guesses lists of addresses and ratios under the usual name', async ({ platform }) => {
    const [row] = fitting['/v1/analytics/learners'] as object[]
    platform.answer(
      answering({
        ...fitting,
        '/v1/users': { Resources: [{ id: 'a', emails: [{ value: 'zoe@b.example' }] }] },
        '/v1/analytics/learners': [0, 0.4].map((ratio) => ({ ...row, completion_percentage: ratio })),
      }),
    )
    const { stdout } = await platform.run('profiles check -o yaml')
    expect(parse(stdout)).toMatchObject({
      operations: { 'users.list': { items: '/Resources' } },
      records: {
        user: { email: '/emails/0/value' },
        learner: { completionPercentage: { at: '/completion_percentage', of: 1 } },
      },
    })
  })

  withCli('says that a learnctl server needs no file', async ({ remote, academy }) => {
    const { key } = await academy.person('admin')
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
    expect(await remote.run('profiles check', { env })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'school.example is a learnctl server, which needs no platform file\n',
    })
    expect(await remote.run('profiles check -o json', { env })).toMatchObject({ code: 0, stdout: '[]\n' })
  })

  withCli('needs a platform', async ({ local }) => {
    expect(await local.run('profiles check')).toMatchObject({ code: 2, stdout: '' })
  })
})
