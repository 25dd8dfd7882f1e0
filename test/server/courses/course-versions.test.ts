import { expect } from 'vitest'
import { hour, type Person, start, test } from '../../helpers/academy.ts'

/** Title and level of three versions. */
async function history(admin: Person): Promise<string> {
  const { body } = await admin.post('/v1/courses', {
    title: 'Logic',
    externalId: 'L1',
    modules: [{ title: 'Terms' }],
    assessmentCriteria: { moveOn: 'Passed' },
  })
  const path = `/v1/courses/${body.id}`
  await admin.put(path, { difficulty: 'expert', assessmentCriteria: { passingScore: 50 } })
  await admin.put(path, { title: 'Formal logic', status: 'published', externalId: 'L2', modules: [] })
  return path
}

test('every change is a version; the newest comes first', async ({ admin, clock }) => {
  clock.advance(hour)
  const path = await history(admin)
  const { body } = await admin.get(`${path}/versions`)
  expect(body.data).toEqual([
    expect.objectContaining({ version: 3, modifiedAttributes: ['externalId', 'title', 'modules', 'status'] }),
    expect.objectContaining({ version: 2, modifiedAttributes: ['difficulty', 'assessmentCriteria'] }),
    {
      courseId: path.split('/').at(-1),
      version: 1,
      createdAt: '2026-03-01T13:00:00.000Z',
      userId: admin.id,
      userEmail: admin.email,
      modifiedAttributes: [],
    },
  ])
  const first = await admin.get(`${path}/versions?limit=2`)
  const next = await admin.get(`${path}/versions?limit=2&cursor=${first.body.nextCursor}`)
  expect(next.body.data.map(({ version }: { version: number }) => version)).toEqual([1])
})

test('a version shows the attributes as they were, a comparison what differs', async ({ admin }) => {
  const path = await history(admin)
  const { body } = await admin.get(`${path}/versions/1`)
  expect(body).toMatchObject({
    version: 1,
    createdAt: start,
    attributes: { title: 'Logic', difficulty: 'beginner' },
  })
  expect(body.attributes).not.toHaveProperty('version')
  const { body: diff } = await admin.get(`${path}/versions/1/diff?to=2`)
  expect(diff).toMatchObject({ from: 1, to: 2 })
  expect(diff.changes).toEqual([
    { pointer: '/difficulty', from: 'beginner', to: 'expert' },
    { pointer: '/assessmentCriteria/passingScore', from: 70, to: 50 },
  ])
})

test.for(['0', '4', '-1', '1.0', 'one', '99999999999999999999'])(
  'version %s of three is 404',
  async (version, { admin }) => {
    const path = await history(admin)
    expect((await admin.get(`${path}/versions/${version}`)).status).toBe(404)
    expect((await admin.post(`${path}/versions/${version}/restore`)).status).toBe(404)
  },
)

test('without to it is compared with the newest, also backwards', async ({ admin }) => {
  const path = await history(admin)
  const pointers = async (query: string) =>
    (await admin.get(`${path}/versions/${query}`)).body.changes.map(
      ({ pointer }: { pointer: string }) => pointer,
    )
  expect(await pointers('2/diff')).toEqual(['/externalId', '/title', '/modules', '/status'])
  expect(await pointers('3/diff?to=2')).toEqual(['/externalId', '/title', '/modules', '/status'])
  expect(await pointers('3/diff')).toEqual([])
  expect((await admin.get(`${path}/versions/1/diff?to=9`)).status).toBe(404)
})

test('restoring brings attributes back as a new version, never identity', async ({ admin, clock }) => {
  const path = await history(admin)
  const before = (await admin.get(path)).body
  clock.advance(hour)
  const answer = await admin.post(`${path}/versions/1/restore`)
  expect(answer.status).toBe(201)
  expect(answer.headers.get('location')).toBe(`${path}/versions/4`)
  expect(answer.body).toMatchObject({
    version: 4,
    previousVersion: 3,
    modifiedAttributes: ['title', 'difficulty', 'modules', 'assessmentCriteria'],
    course: {
      id: before.id,
      externalId: 'L2',
      status: 'published',
      title: 'Logic',
      difficulty: 'beginner',
      modules: [{ title: 'Terms', order: 1 }],
      publishedAt: before.publishedAt,
    },
  })
  expect((await admin.get(`${path}/versions/4`)).body.attributes.title).toBe('Logic')
  const [{ id }] = (await admin.get(`${path}/versions/1`)).body.attributes.modules
  const { course: again } = (await admin.post(`${path}/versions/1/restore`)).body
  expect(again.modules[0].id).toBe(id)
})

test('restoring the newest version changes nothing; a stale If-Match restores nothing', async ({ admin }) => {
  const path = await history(admin)
  expect((await admin.post(`${path}/versions/3/restore`)).body).toMatchObject({
    version: 3,
    modifiedAttributes: [],
  })
  const stale = await admin.post(`${path}/versions/1/restore`, undefined, { 'if-match': '"2"' })
  expect(stale.status).toBe(412)
})
