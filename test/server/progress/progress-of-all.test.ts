import { expect } from 'vitest'
import { type Person, second, test } from '../../helpers/academy.ts'
import { readPages } from '../../helpers/pages.ts'

const day = (n: number) => `2026-02-${String(n).padStart(2, '0')}T09:00:00.000Z`

const whole = readPages<Record<string, unknown>>

/** Makes two courses with five learners in both, with 0 to 4 steps in the first and one in the second. */
async function fill(admin: Person): Promise<string[]> {
  for (const externalId of ['A', 'B'])
    await admin.post('/v1/courses', { title: externalId, externalId, status: 'published' })
  const users = Array.from({ length: 5 }, (_, n) => ({ email: `u${n}@school.example`, externalId: `S-${n}` }))
  const { body } = await admin.post('/v1/users/batch', { items: users })
  const items = ['A', 'B'].flatMap((course) =>
    users.map(({ externalId }) => ({ courseId: `ext:${course}`, userId: `ext:${externalId}` })),
  )
  await admin.post('/v1/enrollments/batch', { items })
  for (const n of [4, 3, 2, 1]) {
    for (let step = 1; step <= n; step += 1) {
      await admin.put(`/v1/learners/ext:S-${n}/progress`, {
        courseId: 'ext:A',
        completionPercentage: step * 10,
        lastAccessed: day(step),
      })
    }
  }
  for (const n of [3, 0]) {
    await admin.put(`/v1/learners/ext:S-${n}/progress`, {
      courseId: 'ext:B',
      completionPercentage: 5,
      lastAccessed: day(9),
    })
  }
  return body.results.map(({ id }: { id: string }) => id)
}

const brief = ({
  userExternalId,
  courseExternalId,
  version,
  completionPercentage,
}: Record<string, unknown>) => `${userExternalId} ${courseExternalId} ${version} ${completionPercentage}`

test('progress of all is in the order of enrolments, on any page', { tags: ['slow'] }, async ({ admin }) => {
  await fill(admin)
  const all = ['S-1 A 1 10', 'S-2 A 2 20', 'S-3 A 3 30', 'S-4 A 4 40', 'S-0 B 1 5', 'S-3 B 1 5']
  for (const limit of [1, 2, 5, 100]) {
    expect((await whole(admin, '/v1/progress', limit)).map(brief)).toEqual(all)
  }
  const [one] = await whole(admin, '/v1/progress', 1)
  expect(one).toEqual((await admin.get('/v1/learners/ext:S-1/progress')).body.data[0])
  const ofCourse = await whole(admin, '/v1/progress?course_id=ext:B', 1)
  expect(ofCourse.map(brief)).toEqual(['S-0 B 1 5', 'S-3 B 1 5'])
  const ofBoth = await whole(admin, '/v1/progress?course_id=ext:A&learner_id=email:u3@school.example', 1)
  expect(ofBoth.map(brief)).toEqual(['S-3 A 3 30'])
  expect((await admin.get('/v1/progress?include_total=true&limit=1')).body).toMatchObject({ total: 6 })
})

test('a period has what was recorded in it, page by page', { tags: ['slow'] }, async ({ admin, clock }) => {
  await fill(admin)
  clock.advance(second)
  const since = clock.now().toISOString()
  await admin.put('/v1/learners/ext:S-4/progress', { courseId: 'ext:A', completionPercentage: 90 })
  const items = await whole(admin, `/v1/progress?updated_since=${since}`, 100)
  expect(items.map(brief)).toEqual(['S-4 A 5 90'])
  clock.advance(second)
  const until = clock.now().toISOString()
  await admin.put('/v1/learners/ext:S-4/progress', { courseId: 'ext:A', completionPercentage: 95 })
  await admin.put('/v1/learners/ext:S-2/progress', { courseId: 'ext:A', completionPercentage: 80 })
  const steps = ['S-2 A 3 80', 'S-4 A 5 90', 'S-4 A 6 95']
  for (const limit of [1, 2, 100]) {
    const during = async (period: string) =>
      (await whole(admin, `/v1/progress/history?${period}`, limit)).map(brief)
    expect(await during(`since=${since}`)).toEqual(steps)
    expect(await during(`since=${since}&until=${until}`)).toEqual(['S-4 A 5 90'])
    expect(await during(`until=${since}`)).toHaveLength(12)
  }
})

test('the history of all has every step once, in order of time within one', async ({ admin }) => {
  await fill(admin)
  const steps = (n: number) => Array.from({ length: n }, (_, step) => `S-${n} A ${step + 1} ${step + 1}0`)
  const all = [...[1, 2, 3, 4].flatMap(steps), 'S-0 B 1 5', 'S-3 B 1 5']
  for (const limit of [1, 2, 3, 4, 5, 100]) {
    expect((await whole(admin, '/v1/progress/history', limit)).map(brief), `${limit}`).toEqual(all)
  }
  const one = await whole(admin, '/v1/progress/history?learner_id=ext:S-3', 2)
  expect(one.map(brief)).toEqual([...steps(3), 'S-3 B 1 5'])
  const ofLearner = await admin.get('/v1/learners/ext:S-3/progress/history?course_id=ext:A')
  expect(ofLearner.body.data).toEqual(one.slice(0, 3).toReversed())
})

test('steps that are recorded between two pages are neither lost nor doubled', async ({ admin }) => {
  await fill(admin)
  const first = (await admin.get('/v1/progress/history?limit=7')).body
  expect(first.data.map(brief).at(-1)).toBe('S-4 A 1 10')
  await admin.put('/v1/learners/ext:S-4/progress', { courseId: 'ext:A', completionPercentage: 90 })
  const rest = (await admin.get(`/v1/progress/history?cursor=${first.nextCursor}`)).body
  expect(rest.data.map(brief)).toEqual([
    'S-4 A 2 20',
    'S-4 A 3 30',
    'S-4 A 4 40',
    'S-4 A 5 90',
    'S-0 B 1 5',
    'S-3 B 1 5',
  ])
})

test('progress of deleted enrolments is left out; learners get theirs', async ({ admin, learner }) => {
  await fill(admin)
  const { data } = (await admin.get('/v1/enrollments?course_id=ext:B&user_id=ext:S-3')).body
  await admin.delete(`/v1/enrollments/${data[0].id}`)
  for (const path of ['/v1/progress', '/v1/progress/history']) {
    const items = await whole(admin, path, 100)
    expect(items.map(brief)).toContain('S-0 B 1 5')
    expect(items.map(brief)).not.toContain('S-3 B 1 5')
    expect(await whole(learner, path, 100)).toEqual([])
    expect((await learner.get(`${path}?learner_id=ext:S-3`)).status).toBe(404)
  }
  await admin.post('/v1/enrollments', { courseId: 'ext:A', userId: learner.id })
  await learner.put(`/v1/learners/${learner.id}/progress`, { courseId: 'ext:A', completionPercentage: 10 })
  expect(await whole(learner, '/v1/progress', 100)).toMatchObject([{ learnerId: learner.id }])
  expect(await whole(learner, '/v1/progress/history', 100)).toMatchObject([{ learnerId: learner.id }])
})
