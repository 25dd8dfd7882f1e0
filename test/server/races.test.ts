import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import type { TestAcademy } from '../helpers/academy.ts'
import {
  countOutcomes,
  openThreeServers,
  runAtOnce,
  runAtOnceBy,
  sharedEngines,
  testOn,
} from '../helpers/three-servers.ts'

/** Expects that deleted records left no rows. */
async function expectWhole({ database }: TestAcademy): Promise<void> {
  const orphans = await database.one(sql`
    select (select count(*) from enrollments where course_id not in (select id from courses)
        or user_id not in (select id from users)) as enrollments,
      (select count(*) from progress where course_id not in (select id from courses)
        or user_id not in (select id from users)) as progress`)
  expect(orphans).toEqual({ enrollments: 0, progress: 0 })
}

for (const engine of sharedEngines) {
  const test = testOn(engine)
  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('the same e-mail address twenty times at once makes one user', async ({ admin, servers }) => {
      const answers = await runAtOnceBy(servers, admin, 20, (server, index) =>
        server.post('/v1/users', { email: index % 2 ? 'Same@school.example' : 'same@school.example' }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 1, duplicate: 19 })
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      expect((await admin.get('/v1/users?email=same@school.example')).body.data).toHaveLength(1)
    })

    test('of several users who want one username or id one gets it', async ({ admin, servers }) => {
      const users = await runAtOnceBy(servers, admin, 12, (server, index) =>
        server.post('/v1/users', {
          email: `other-${index}@school.example`,
          ...(index < 6 ? { username: 'ann' } : { externalId: 'SIS-1' }),
        }),
      )
      expect(countOutcomes(users)).toEqual({ 201: 2, duplicate: 10 })
      const courses = await runAtOnceBy(servers, admin, 6, (server) =>
        server.post('/v1/courses', { title: 'Logic', externalId: 'LOG' }),
      )
      expect(countOutcomes(courses)).toEqual({ 201: 1, duplicate: 5 })
    })

    test('one of twenty changes to one version of a course at once is made', async ({ admin, servers }) => {
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
      const answers = await runAtOnceBy(servers, admin, 20, (server, index) =>
        server.put(`/v1/courses/${course.id}`, { title: `Logic ${index}` }, { 'if-match': '"1"' }),
      )
      expect(countOutcomes(answers)).toEqual({ 200: 1, precondition_failed: 19 })
      const made = answers.findIndex(({ status }) => status === 200)
      const now = await admin.get(`/v1/courses/${course.id}`)
      expect(now.body).toMatchObject({ title: `Logic ${made}`, version: 2 })
      expect((await admin.get(`/v1/courses/${course.id}/versions`)).body.data).toHaveLength(2)
    })

    test('twenty enrolments of one learner in one course at once are one', async ({ admin, servers }) => {
      const { id: userId } = await servers[0].person('learner')
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
      const answers = await runAtOnceBy(servers, admin, 20, (server) =>
        server.post('/v1/enrollments', { userId, courseId: course.id }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 1, duplicate: 19 })
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      await expectWhole(servers[0])
    })

    test('progress from several servers never goes back, with each step', async ({ admin, servers }) => {
      const { id: userId } = await servers[0].person('learner')
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
      await admin.post('/v1/enrollments', { userId, courseId: course.id })
      const answers = await runAtOnceBy(servers, admin, 12, (server, index) =>
        server.put(`/v1/learners/${userId}/progress`, {
          courseId: course.id,
          completionPercentage: index * 5,
          lastAccessed: `2026-02-01T12:00:${10 + index}Z`,
        }),
      )
      const { 200: kept = 0, 201: first = 0, ...refused } = countOutcomes(answers)
      expect(Object.keys(refused).filter((code) => code !== 'stale_progress')).toEqual([])
      const { body } = await admin.get(`/v1/learners/${userId}/progress?course_id=${course.id}`)
      expect(body.data).toMatchObject([{ completionPercentage: 55, version: kept + first }])
      await expectWhole(servers[0])
    })

    test('a course deleted while learners enrol leaves nothing of them', async ({ admin, servers }) => {
      const learners = await Promise.all(Array.from({ length: 6 }, () => servers[0].person('learner')))
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
      const answers = await runAtOnceBy(servers, admin, 13, (server, index) => {
        const { id = '' } = learners[index % 6] ?? {}
        const place = { courseId: course.id }
        if (index === 7) return server.delete(`/v1/courses/${course.id}?force=true`)
        if (index < 6) return server.post('/v1/enrollments', { ...place, userId: id })
        return server.put(`/v1/learners/${id}/progress`, { ...place, completionPercentage: 50 })
      })
      expect(answers[7]?.status).toBe(204)
      // Recording progress enrols the learner.
      const allowed = ['200', '201', '204', 'not_found', 'duplicate']
      expect(allowed).toEqual(expect.arrayContaining(Object.keys(countOutcomes(answers))))
      await expectWhole(servers[0])
    })

    test('lessons added to one course at once have places of their own', async ({ admin, servers }) => {
      const { body: course } = await admin.post('/v1/courses', { title: 'Logic' })
      const answers = await runAtOnceBy(servers, admin, 9, (server, index) =>
        server.post('/v1/lessons', { courseId: course.id, title: `Lesson ${index}` }),
      )
      expect(countOutcomes(answers)).toEqual({ 201: 9 })
      const { data } = (await admin.get(`/v1/lessons?course_id=${course.id}`)).body
      expect(data.map(({ order }: { order: number }) => order)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    test('one of three admins who leave at once stays', async () => {
      const { servers, close } = await openThreeServers(engine)
      const [{ database, person }] = servers
      const owner = await database.one<{ id: string }>(sql`select id from users where role = 'admin'`)
      const admins = [await person('admin'), await person('admin'), await person('admin')] as const
      await admins[0].delete(`/v1/users/${owner?.id}`)
      const answers = await runAtOnce(servers, 3, (server, index) => {
        const { id, key } = admins[index] ?? admins[0]
        return server.bearer(`Bearer ${key}`).put(`/v1/users/${id}`, { role: 'learner' })
      })
      expect(countOutcomes(answers)).toEqual({ 200: 2, last_admin: 1 })
      const left = await database.all(sql`select id from users where role = 'admin' and status = 'active'`)
      expect(left).toHaveLength(1)
      await close()
    })
  })
}
