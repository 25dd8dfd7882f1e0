import { describe, expect } from 'vitest'
import type { HttpResponse } from '../../src/contract/http.ts'
import { expressPlatform } from '../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../helpers/foreign-platforms/platform.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

/** A platform that gives this response to every write. */
function answering(answer: HttpResponse): ForeignPlatform {
  const platform = expressPlatform()
  platform.intercept(({ method }) => (method === 'GET' ? undefined : answer))
  return platform
}

const text = (body: string, type = 'text/html'): HttpResponse => ({
  status: 200,
  headers: { 'content-type': type },
  body,
})
const page = text('<html><title>404</title>Page not found</html>')

const noRecord = 'note: The response does not contain the record\n'

describe('a write that is answered with what cannot be read', () => {
  test.for([
    ['courses delete 7 --yes', 'DELETE /v1/courses/7', 'courses list'],
    ['users delete 7 --erase --yes', 'DELETE /v1/users/7', 'users list'],
    ['courses create --title Sea', 'POST /v1/courses', 'courses list'],
    ['progress set 7 --course 3 --completion 5', 'PUT /v1/learners/7/progress', 'analytics export'],
  ])('is not said to be done: %s', async ([line = '', request, check], { run }) => {
    const { code, stdout, stderr } = await run(answering(page), line)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(`The response from express.example to ${request} is a web page, not JSON`)
    expect(stderr).toContain(`  It may have succeeded\n  hint: Check before you retry: learnctl ${check}\n`)
  })

  test.for(['users create --email a@b.example', 'lessons create --course c-7 --title Tides'])(
    'is to be looked for on the platform where that may have no list: %s',
    async (line, { run }) => {
      const { code, stderr } = await run(answering(page), line)
      expect(code).toBe(1)
      expect(stderr).toMatch(/ {2}It may have succeeded\n {2}hint: Check on the platform before you retry\n$/)
    },
  )

  test.for([301, 302, 303])('may be done where it is led elsewhere: %d', async (status, { run }) => {
    const led = answering({ status, headers: { location: '/signin' }, body: null })
    for (const line of ['courses create --title Sea', 'courses update 7 --title Sea']) {
      const { code, stdout, stderr } = await run(led, line)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(
        /^error: express\.example returned 30\d to https:.*\/signin; redirects are not followed/,
      )
      expect(stderr).toMatch(
        / {2}It may have succeeded\n {2}hint: Check before you retry: learnctl courses list\n$/,
      )
    }
  })

  test.for([307, 308])('is not done where it has to be sent elsewhere: %d', async (status, { run }) => {
    const led = answering({ status, headers: { location: '/v2/courses' }, body: null })
    const { code, stderr } = await run(led, 'courses create --title Sea')
    expect(code).toBe(1)
    expect(stderr).not.toContain('It may have succeeded')
  })

  test('is done where the platform says so in a word', async ({ run }) => {
    const deleted = await run(answering(text('OK\n')), 'courses delete 7 --yes')
    expect(deleted).toMatchObject({ code: 0, stderr: 'Deleted course 7\n' })
    const set = await run(answering(text('Saved.')), 'progress set 7 --course 3 --completion 5')
    expect(set).toMatchObject({ code: 0, stderr: `Set progress of learner 7 in course 3 to 5%\n${noRecord}` })
  })
})

test.for([
  ['courses delete 7 --yes', { acknowledged: true, deletedCount: 0 }],
  ['courses update 7 --title Sea', { acknowledged: true, matchedCount: 0, modifiedCount: 0 }],
  ['courses update 7 --title Sea', { success: true, data: { affected_rows: 0 } }],
  ['progress set 7 --course 3 --completion 5', false],
] as const)('a write that the platform says changed nothing fails: %s %j', async ([line, body], { run }) => {
  const { code, stdout, stderr } = await run(answering(json(200, body)), line)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^error: The response from express\.example to .* says that nothing changed\n$/)
})

test('a write that found everything as it should be has succeeded', async ({ run }) => {
  const platform = answering(json(200, { acknowledged: true, matchedCount: 1, modifiedCount: 0 }))
  expect(await run(platform, 'courses update 7 --title Sea')).toMatchObject({ code: 0 })
})

describe('a write after which the platform shows something else', () => {
  const algebra = { _id: 'c-7', title: 'Algebra', difficulty: 'beginner', status: 'draft', tags: ['maths'] }

  test('is an error whatever its requests are called, unless the platform confirms to be strict', async ({
    run,
  }) => {
    const answer = json(200, algebra)
    const named = { ...answer, headers: { ...answer.headers, 'x-request-id': 'req_1' } }
    const strict = { ...answer, headers: { ...answer.headers, 'preference-applied': 'handling=strict' } }
    const platform = answering(named)
    expect((await run(platform, 'courses update c-7 --title Sea')).code).toBe(1)
    expect(platform.requests.at(-1)?.headers['prefer']).toBe('handling=strict')
    expect((await run(answering(strict), 'courses update c-7 --title Sea')).code).toBe(0)
  })

  test.for([
    ['courses update c-7 --title Sea', '--title', '--title is "Algebra", not "Sea"'],
    ['courses update c-7 --tags maths,sea', '--tags', '--tags is ["maths"], not ["maths","sea"]'],
    ['courses publish c-7', 'status', 'status is "draft", not "published"'],
    [
      'courses create --title Sea --difficulty expert',
      '--title, --difficulty',
      '--title is "Algebra", not "Sea"',
    ],
  ])('fails, and names it by its id: %s', async ([line = '', names, why], { run }) => {
    for (const body of [algebra, { data: algebra }, { message: 'ok', version: 4, course: algebra }]) {
      const { code, stdout, stderr } = await run(answering(json(200, body)), line)
      expect({ code, stdout }).toEqual({ code: 1, stdout: 'c-7\n' })
      expect(stderr.startsWith(`error: express.example did not set ${names}\n  ${why}\n`)).toBe(true)
    }
  })

  test('fails after the record that came', async ({ run }) => {
    const ran = await run(answering(json(200, algebra)), 'courses update c-7 --title Sea -o json')
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.stdout)).toEqual(algebra)
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'not_set' } })
  })

  test('says what is not shown', async ({ run }) => {
    const ran = await run(answering(json(200, algebra)), 'courses update c-7 --title Algebra --language en')
    expect(ran).toMatchObject({
      code: 0,
      stderr:
        'Updated course Algebra (c-7)\nnote: Cannot check --language: express.example does not show language\n',
    })
  })

  test.for([
    ['courses update 7 --title "Sea & sky"', { id: 7, title: ' <p>SEA &amp; sky</p>' }],
    ['courses update 7 --passing-score 60', { id: 7, passing_score: '60.00' }],
    ['courses update 7 --tags a,b', { id: 7, tags: ['B', 'a'] }],
    ['courses update 7 --adaptive-difficulty', { id: 7, adaptive_difficulty: { enabled: 1 } }],
    ['courses publish 7', { status: 'success', message: 'Course updated' }],
    ['courses publish 7', { id: 7, status: 'success' }],
    ['courses publish 7', { id: 7, status: 2 }],
    [
      'progress set 7 --course 3 --completion 40',
      { course: { id: 3 }, completion_percentage: 40, last_accessed: null },
    ],
    [
      'progress set 7 --course 3 --completion 40 --last-accessed 2026-03-01T12:00:00Z',
      { courseId: 3, completionPercentage: '40', lastAccessed: '2026-03-01 14:00:00' },
    ],
  ] as const)('has succeeded where it is the same in another form: %s %j', async ([line, body], { run }) => {
    expect(await run(answering(json(200, body)), line)).toMatchObject({ code: 0 })
  })
})

test('an id that stands beside the record is told', async ({ run }) => {
  const inserted = answering(json(200, { acknowledged: true, insertedId: '65f0c0ff' }))
  expect(await run(inserted, 'courses create --title Sea')).toMatchObject({ code: 0, stdout: '65f0c0ff\n' })
  const located = answering({ status: 201, headers: { location: '/v1/courses/1001' }, body: null })
  expect(await run(located, 'courses create --title Sea -o json')).toEqual({
    code: 0,
    stdout: 'null\n',
    stderr: 'note: The response does not contain the record; its id is 1001\n',
  })
})

describe('a write that the response does not confirm', () => {
  const [course, learner] = ['65f0a1b2c3d4e5f6c0000002', '65f0a1b2c3d4e5f6a5000002']

  /** A platform that does what it is sent, and says it in these words. */
  function saying(body: unknown, status = 200, isDone = true): ForeignPlatform {
    const platform = expressPlatform()
    platform.intercept(({ method }, usual) => {
      if (method === 'GET') return undefined
      if (isDone) usual()
      return json(status, body)
    })
    return platform
  }

  test.for([
    [`courses update ${course} --title Sea`, `Updated course Sea (${course})\n`],
    [`courses publish ${course}`, `Published course Algebra (${course})\n`],
    ['courses create --title Sea --external-id sea', 'Created course Sea (sea)\n'],
    [
      `progress set ${learner} --course ${course} --completion 55`,
      `Set progress of learner ${learner} in course Algebra to 55%\n`,
    ],
  ])('has succeeded if the record shows what was sent: %s', async ([line = '', told], { run }) => {
    for (const platform of [saying({ auftrag: 17 }, 202), saying({ meldung: 'Gespeichert' }), saying({})]) {
      const { code, stderr } = await run(platform, line)
      expect({ code, stderr: stderr.replace(/, version \d/, '') }).toEqual({ code: 0, stderr: told })
    }
  })

  test('prints the record as the platform shows it', async ({ run }) => {
    const { code, stdout } = await run(saying({}), `courses update ${course} --title Sea -o json`)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ _id: course, title: 'Sea', __v: 1 })
  })

  test.for([
    ['shows other values', `courses update ${course} --title Sea`, {}, false],
    ['cannot be told from others of its title', 'courses create --title Sea', {}, true],
    ['has no published read', `lessons create --course ${course} --title Tides`, {}, true],
    ['was refused in words', `courses update ${course} --title Algebra`, { msg: 'title exists' }, true],
  ] as const)('may have failed if the record %s', async ([, line, body, isDone], { run }) => {
    const platform = saying(body, 200, isDone)
    const { code, stderr } = await run(platform, line)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: express\.example did not confirm /)
    expect(stderr).toContain('  It may have succeeded\n')
    expect(platform.requests.filter(({ method }) => method !== 'GET')).toHaveLength(1)
  })

  test('may have failed if the platform cannot be read', async ({ run }) => {
    const platform = expressPlatform()
    platform.intercept(({ method }) => (method === 'GET' ? json(500, { error: 'boom' }) : json(200, {})))
    const ran = await run(platform, `courses update ${course} --title Sea`)
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('did not confirm PUT /v1/courses/'),
    })
  })
})
