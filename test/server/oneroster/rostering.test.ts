import { describe, expect } from 'vitest'
import { minute } from '../../helpers/academy.ts'
import { expectRecords, openClient, readingTest, rostering, test, valuesOf } from './one-roster.ts'

const unordered = (values: unknown[]) => values.map(String).sort()

describe('each list', () => {
  readingTest.for([
    ['/orgs', 'orgs', ['localhost']],
    ['/schools', 'orgs', ['localhost']],
    ['/academicSessions', 'academicSessions', ['T1', 'T2', 'no-term']],
    ['/terms', 'academicSessions', ['T1', 'T2', 'no-term']],
    [
      '/gradingPeriods',
      'academicSessions',
      ['T1:gradingPeriod', 'T2:gradingPeriod', 'no-term:gradingPeriod'],
    ],
    ['/courses', 'courses', ['ART', 'BIO', 'OLD']],
    ['/classes', 'classes', ['ART', 'BIO', 'OLD']],
    ['/users', 'users', ['u1', 'u2', 'u3', 'u4']],
    ['/students', 'users', ['u1', 'u3', 'u4']],
    ['/teachers', 'users', ['u2']],
    [
      '/enrollments',
      'enrollments',
      ['ART:u4:student', 'BIO:u1:student', 'BIO:u2:teacher', 'BIO:u3:student', 'OLD:u1:student'],
    ],
    ['/demographics', 'demographics', []],
    ['/schools/localhost/courses', 'courses', ['ART', 'BIO', 'OLD']],
    ['/schools/localhost/classes', 'classes', ['ART', 'BIO', 'OLD']],
    ['/schools/localhost/students', 'users', ['u1', 'u3', 'u4']],
    ['/schools/localhost/teachers', 'users', ['u2']],
    ['/schools/localhost/terms', 'academicSessions', ['T1', 'T2', 'no-term']],
    ['/schools/localhost/classes/BIO/students', 'users', ['u1', 'u3']],
    ['/schools/localhost/classes/BIO/teachers', 'users', ['u2']],
    [
      '/schools/localhost/classes/BIO/enrollments',
      'enrollments',
      ['BIO:u1:student', 'BIO:u2:teacher', 'BIO:u3:student'],
    ],
    ['/terms/T1/classes', 'classes', ['BIO', 'OLD']],
    ['/terms/no-term/classes', 'classes', ['ART']],
    ['/terms/T1/gradingPeriods', 'academicSessions', ['T1:gradingPeriod']],
    ['/courses/BIO/classes', 'classes', ['BIO']],
    ['/classes/BIO/students', 'users', ['u1', 'u3']],
    ['/classes/BIO/teachers', 'users', ['u2']],
    ['/users/u1/classes', 'classes', ['BIO', 'OLD']],
    ['/students/u1/classes', 'classes', ['BIO', 'OLD']],
    ['/students/u2/classes', 'classes', []],
    ['/teachers/u2/classes', 'classes', ['BIO']],
  ] as const)('%s has its records in both versions', async ([path, plural, ids], { client }) => {
    const answer = await client.get(`${rostering}${path}`)
    expectRecords(answer, plural)
    expect(unordered(valuesOf(answer, plural))).toEqual(ids)
    expect(answer.headers.get('x-total-count')).toBe(String(ids.length))
    const older = await client.get(`/ims/oneroster/v1p1${path}`)
    expect(unordered(valuesOf(older, plural))).toEqual(ids)
  })
})

readingTest(
  'a record is found under the id that lists show, by the reference to it, and no other one is',
  async ({ client }) => {
    for (const [path, plural, singular] of [
      ['/orgs', 'orgs', 'org'],
      ['/academicSessions', 'academicSessions', 'academicSession'],
      ['/gradingPeriods', 'academicSessions', 'academicSession'],
      ['/courses', 'courses', 'course'],
      ['/classes', 'classes', 'class'],
      ['/users', 'users', 'user'],
      ['/enrollments', 'enrollments', 'enrollment'],
    ] as const) {
      const { body } = await client.get(`${rostering}${path}`)
      for (const record of body[plural]) {
        const found = await client.get(`${rostering}${path}/${encodeURIComponent(record.sourcedId)}`)
        expect(found, path).toMatchObject({ status: 200, body: { [singular]: record } })
      }
      expect(await client.get(`${rostering}${path}/none`)).toMatchObject({
        status: 404,
        body: {
          imsx_codeMajor: 'failure',
          imsx_severity: 'error',
          imsx_CodeMinor: {
            imsx_codeMinorField: [
              { imsx_codeMinorFieldName: 'TargetEndSystem', imsx_codeMinorFieldValue: 'unknownobject' },
            ],
          },
        },
      })
    }
    const [first] = (await client.get(`${rostering}/classes`)).body.classes
    for (const { href } of [first.course, first.school, ...first.terms]) {
      expect((await client.get(new URL(href).pathname)).status, href).toBe(200)
    }
  },
)

readingTest('a user has the names, the role and the address of the academy', async ({ client }) => {
  expect((await client.get(`${rostering}/users/u1`)).body.user).toMatchObject({
    ...{ status: 'active', enabledUser: 'true', username: 'ada@b.example', email: 'ada@b.example' },
    ...{ givenName: 'Ada', familyName: 'Lovelace', preferredFirstName: 'Countess', preferredLastName: 'Ada' },
    roles: [{ roleType: 'primary', role: 'student', org: { sourcedId: 'localhost', type: 'org' } }],
  })
  expect((await client.get('/ims/oneroster/v1p1/users/u2')).body.user).toMatchObject({
    ...{ role: 'teacher', orgs: [{ sourcedId: 'localhost' }], givenName: 'Bob', familyName: "O'Neil" },
  })
  expect((await client.get(`${rostering}/users/u3`)).body.user).toMatchObject({
    givenName: '-',
    familyName: '-',
  })
})

test('admins and analysts are people of the school only where they are enrolled', { tags: ['slow'] }, async ({
  admin,
  analyst,
  client,
}) => {
  await admin.post('/v1/enrollments', { courseId: 'ext:ART', userId: analyst.id, role: 'instructor' })
  expect(valuesOf(await client.get(`${rostering}/teachers`), 'users')).toEqual(['u2', analyst.id])
  expect(valuesOf(await client.get(`${rostering}/users`), 'users')).not.toContain(admin.id)
  expect((await client.get(`${rostering}/users/${admin.id}`)).status).toBe(404)
})

describe('what is deleted', () => {
  test('is to be deleted, as long as the academy knows it', { tags: ['slow'] }, async ({
    admin,
    client,
    clock,
  }) => {
    clock.advance(minute)
    const time = clock.now().toISOString()
    await admin.delete('/v1/users/ext:u1')
    await admin.delete('/v1/courses/ext:OLD?force=true')
    const { data } = (await admin.get('/v1/enrollments?course_id=ext:BIO&user_id=ext:u3')).body
    await admin.delete(`/v1/enrollments/${data[0].id}`)
    const gone = async (path: string, plural: string) => {
      const filter = encodeURIComponent(`dateLastModified>='${time}'`)
      const answer = await client.get(`${rostering}${path}?filter=${filter}`)
      expectRecords(answer, plural)
      return answer.body[plural].map(({ sourcedId, status, dateLastModified }: Record<string, string>) => [
        ...[sourcedId, status, dateLastModified],
      ])
    }
    expect(await gone('/users', 'users')).toEqual([['u1', 'tobedeleted', time]])
    expect(await gone('/classes', 'classes')).toEqual([['OLD', 'tobedeleted', time]])
    expect(await gone('/courses', 'courses')).toEqual([['OLD', 'tobedeleted', time]])
    expect(await gone('/enrollments', 'enrollments')).toEqual([
      ['BIO:u3:student', 'tobedeleted', time],
      ['OLD:u1:student', 'tobedeleted', time],
    ])
    expect((await client.get(`${rostering}/classes/OLD`)).body.class).toMatchObject({ status: 'tobedeleted' })
    const filter = encodeURIComponent("status='active'")
    for (const [path, plural, ids] of [
      ['/users', 'users', ['u2', 'u3', 'u4']],
      ['/classes', 'classes', ['ART', 'BIO']],
      ['/enrollments', 'enrollments', ['ART:u4:student', 'BIO:u2:teacher']],
    ] as const) {
      const answer = await client.get(`${rostering}${path}?filter=${filter}`)
      expect(unordered(valuesOf(answer, plural)), path).toEqual(ids)
      expect(answer.headers.get('x-total-count')).toBe(String(ids.length))
    }
    expect(valuesOf(await client.get(`${rostering}/classes/BIO/students`), 'users')).toEqual([])
  })
})

describe('a client', () => {
  test('needs a token, and the scope', async ({ academy, admin, client }) => {
    expect(await academy.bearer(undefined).get(`${rostering}/users`)).toMatchObject({
      status: 401,
      body: {
        imsx_CodeMinor: { imsx_codeMinorField: [{ imsx_codeMinorFieldValue: 'unauthorisedrequest' }] },
      },
    })
    expect((await academy.bearer(`Bearer ${admin.key}`).get(`${rostering}/users`)).status).toBe(401)
    const other = await openClient(academy, ['gradebook.readonly'])
    expect(await other.get(`${rostering}/users`)).toMatchObject({
      status: 403,
      body: { imsx_CodeMinor: { imsx_codeMinorField: [{ imsx_codeMinorFieldValue: 'forbidden' }] } },
    })
    const { data } = (await admin.get('/v1/audit?action=request.refused')).body
    expect(data).toContainEqual(
      expect.objectContaining({
        credential: other.clientId,
        after: { operation: `GET ${rostering}/users`, code: 'insufficient_scope' },
      }),
    )
    expect(academy.logged.some(({ credential }) => credential === client.clientId)).toBe(false)
  })

  readingTest(
    'is refused in the audit log without the person that it asked for',
    async ({ academy, admin }) => {
      const stranger = academy.bearer('Bearer wrong')
      expect((await stranger.get(`${rostering}/users/anna.secret@b.example`)).status).toBe(401)
      const { body, text } = await admin.get('/v1/audit?action=request.refused')
      expect(body.data[0]?.after).toMatchObject({ operation: `GET ${rostering}/users/:sourcedId` })
      expect(text).not.toContain('anna.secret')
    },
  )

  readingTest('is in the log without the external ids of people', async ({ academy, client }) => {
    const logged = async (path: string) => {
      await client.get(path)
      return academy.logged.at(-1)?.path
    }
    expect(await logged(`${rostering}/users/u1`)).toBe(`${rostering}/users/***`)
    expect(await logged(`${rostering}/students/u1/classes`)).toBe(`${rostering}/students/***/classes`)
    expect(await logged(`${rostering}/enrollments/BIO:u1:student`)).toBe(`${rostering}/enrollments/***`)
    expect(await logged(`${rostering}/classes/BIO/students`)).toBe(`${rostering}/classes/BIO/students`)
  })

  readingTest('is in the log with each of its requests, which are counted', async ({ academy, client }) => {
    expect((await client.get(`${rostering}/users?filter=email%3D'ada@b.example'`)).status).toBe(200)
    expect(academy.logged.at(-1)).toMatchObject({ credential: client.clientId, path: `${rostering}/users` })
  })
})
