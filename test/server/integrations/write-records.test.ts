import { describe, expect, onTestFinished } from 'vitest'
import { type Person, test } from '../../helpers/academy.ts'
import { googleClient, openFakeClassroom, type ServedClassroom } from '../../helpers/fake-classroom.ts'

const path = '/v1/integrations/classroom/records'

async function classroom(admin: Person): Promise<ServedClassroom> {
  const fake = await openFakeClassroom()
  onTestFinished(() => fake.close())
  const { id: clientId, secret: clientSecret, refreshToken } = googleClient
  const body = { baseUrl: fake.url, tokenUrl: fake.tokenUrl, clientId, clientSecret, refreshToken }
  expect((await admin.put('/v1/integrations/classroom', body)).status).toBe(200)
  return fake
}

const outcomes = async (admin: Person, ...records: object[]) => {
  const { status, body, text } = await admin.post(path, { records })
  expect(status, text).toBe(200)
  return body.results.map(({ outcome, detail }: { outcome: string; detail: string | null }) =>
    detail === null ? outcome : `${outcome}: ${detail}`,
  )
}

const biology = { part: 'courses', externalId: 'BIO-101', title: 'Biology', status: 'published' }
const enrol = (courseId: string, email: string, role = 'learner') => ({
  part: 'enrollments',
  courseId,
  email,
  role,
})

describe('records of Google Classroom', () => {
  test('are written once, however often they are sent', async ({ admin }) => {
    const fake = await classroom(admin)
    const ada = fake.addUser('ada@school.example')
    fake.addUser('gus@elsewhere.example')
    expect(await outcomes(admin, biology)).toEqual(['created'])
    expect(await outcomes(admin, biology)).toEqual(['unchanged'])
    const [course] = fake.courses
    expect(fake.courses).toHaveLength(1)
    expect(course).toMatchObject({
      aliases: ['d:BIO-101'],
      fields: { name: 'Biology', courseState: 'ACTIVE' },
    })
    const id = course?.id ?? ''
    const people = [
      enrol(id, 'ada@school.example'),
      enrol(id, 'gus@elsewhere.example', 'instructor'),
      enrol(id, 'nobody@elsewhere.example'),
    ]
    const none = 'refused: no Google account with this address'
    expect(await outcomes(admin, ...people)).toEqual(['created', 'invited', none])
    expect(await outcomes(admin, ...people)).toEqual(['unchanged', 'invited', none])
    expect(course?.students).toEqual([ada.id])
    expect(fake.invitations).toMatchObject([{ courseId: id, role: 'TEACHER' }])
    const quiz = { part: 'items', courseId: id, label: 'Quiz', scoreMaximum: 20 }
    expect(await outcomes(admin, quiz)).toEqual(['created'])
    expect(await outcomes(admin, quiz)).toEqual(['unchanged'])
    expect(course?.work).toMatchObject([{ title: 'Quiz', maxPoints: 20, associatedWithDeveloper: true }])
    expect(await outcomes(admin, { part: 'courses', id, title: 'Biology I', description: 'Cells' })).toEqual([
      'updated',
    ])
    expect(course?.fields).toMatchObject({ name: 'Biology I', description: 'Cells', courseState: 'ACTIVE' })
  })

  test('are not written twice after a response that was lost', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.fail('POST', /courses$/, 'lost')
    expect(await outcomes(admin, biology)).toEqual(['waiting: it failed (HTTP 500)'])
    expect(await outcomes(admin, biology)).toEqual(['unchanged'])
    const id = fake.courses[0]?.id ?? ''
    const quiz = { part: 'items', courseId: id, label: 'Quiz', scoreMaximum: 20 }
    fake.fail('POST', /courseWork$/, 'broken')
    expect(await outcomes(admin, quiz)).toEqual([
      expect.stringMatching(/^waiting: .*broke off the connection/),
    ])
    expect(await outcomes(admin, quiz)).toEqual(['unchanged'])
    expect([fake.courses.length, fake.courses[0]?.work.length]).toEqual([1, 1])
  })

  test('are graded, and returned once the learner has turned the work in', { tags: ['slow'] }, async ({
    admin,
  }) => {
    const fake = await classroom(admin)
    const [ada, bob] = ['ada', 'bob'].map((name) => fake.addUser(`${name}@school.example`))
    const course = fake.addCourse('Biology')
    course.students.push(ada?.id ?? '', bob?.id ?? '')
    const quiz = fake.addWork(course, 'Quiz', 20, true)
    const [own, other] = [
      fake.submission(course, quiz, 'ada@school.example'),
      fake.submission(course, quiz, 'bob@school.example'),
    ]
    own.state = 'TURNED_IN'
    const grade = { part: 'grades', courseId: course.id, itemId: quiz.id, scoreGiven: 17 }
    expect(
      await outcomes(
        admin,
        { ...grade, id: own.id, returned: true },
        { ...grade, id: other.id, returned: true },
      ),
    ).toEqual(['updated', 'updated: not returned: the learner has not turned it in'])
    expect(own).toMatchObject({ state: 'RETURNED', assignedGrade: 17, draftGrade: 17 })
    expect(await outcomes(admin, { ...grade, id: own.id, returned: true })).toEqual(['updated'])
    expect(await outcomes(admin, { ...grade, id: other.id, scoreGiven: 9, published: false })).toEqual([
      'updated',
    ])
    expect(other).toMatchObject({ assignedGrade: 17, draftGrade: 9 })
    expect(await outcomes(admin, { ...grade, id: other.id, scoreGiven: null })).toEqual(['updated'])
    expect(other).toEqual({ id: other.id, userId: bob?.id, state: 'NEW' })
    const foreign = fake.addWork(course, 'Essay', 10)
    const essay = fake.submission(course, foreign, 'ada@school.example')
    expect(await outcomes(admin, { ...grade, itemId: foreign.id, id: essay.id })).toEqual([
      'refused: another Google Cloud project made the course work: its grades cannot be written',
    ])
  })

  test('wait where Google asks to, and those after them', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.fail('POST', /courses$/, 429, { skip: 1 })
    const { body } = await admin.post(path, {
      records: [biology, { ...biology, externalId: 'CHE' }, { ...biology, externalId: 'PHY' }],
    })
    expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'created',
      'waiting',
      'waiting',
    ])
    expect(body.retryAfter).toBe(1)
    expect(fake.courses).toHaveLength(1)
  })

  test('have an alias of the project if the account has no domain', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.hasDomain = false
    expect(await outcomes(admin, biology)).toEqual(['created'])
    expect(fake.courses[0]?.aliases).toEqual(['p:BIO-101'])
    expect(await outcomes(admin, biology)).toEqual(['unchanged'])
  })

  test('are counted in the audit log, without names and addresses', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.addUser('ada@school.example')
    const course = fake.addCourse('Biology')
    await outcomes(admin, enrol(course.id, 'ada@school.example'))
    const { body, text } = await admin.get('/v1/audit?action=integration.written')
    expect(body.data).toMatchObject([{ action: 'integration.written', subjectId: 'classroom' }])
    const entry = await admin.get(`/v1/audit/${body.data[0].id}`)
    expect(JSON.stringify(entry.body)).toContain('{"enrollments created":1}')
    expect(text + entry.text).not.toContain('ada@')
  })

  test('that were written before the sign-in ended are in the audit log, too', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.fail('POST', /courses$/, 401, { skip: 1, times: 2 })
    const answer = await outcomes(admin, biology, { ...biology, externalId: 'CHE' })
    expect(answer).toEqual(['created', 'waiting: not begun'])
    const { data } = (await admin.get('/v1/audit?action=integration.written')).body
    expect(data).toHaveLength(1)
  })

  test('in other places than those of their ids are not written', async ({ admin }) => {
    const fake = await classroom(admin)
    const asked = fake.requests.length
    for (const record of [
      { part: 'courses', id: '..', title: 'x' },
      { part: 'items', id: '1', courseId: '..', label: 'x', scoreMaximum: 1 },
    ]) {
      expect((await admin.post(path, { records: [record] })).status).toBe(422)
    }
    expect(fake.requests).toHaveLength(asked)
  })

  test('are refused without a sign-in, without a scope, and for other systems', async ({ admin }) => {
    const fake = await classroom(admin)
    fake.scopes = ['classroom.courses.readonly']
    expect(await outcomes(admin, biology)).toEqual(['refused: the sign-in lacks the scope classroom.courses'])
    fake.refusesGrants = 'invalid_grant'
    fake.revokeTokens()
    expect(await admin.post(path, { records: [biology] })).toMatchObject({
      status: 409,
      body: {
        code: 'other_system_refused',
        reason: 'token',
        detail: expect.stringContaining('learnctl integrations sign-in classroom'),
      },
    })
    await admin.put('/v1/integrations/moodle', {})
    expect((await admin.post('/v1/integrations/moodle/records', { records: [biology] })).body.detail).toBe(
      'Records can be written to Google Classroom, not to moodle.',
    )
    expect(await admin.post(path, { records: [{ part: 'users' }] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/records/0/part' }] },
    })
  })
})
