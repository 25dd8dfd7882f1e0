import fc from 'fast-check'
import sql from 'sql-template-tag'
import { describe, expect } from 'vitest'
import { storeRowChanges, sweepRowChanges } from '../../../src/server/changes/row-changes.ts'
import { day, test as standard } from '../../helpers/academy.ts'
import { randomRuns } from '../../helpers/random.ts'
import { runAtOnce, sharedEngines, testOn } from '../../helpers/three-servers.ts'
import { anyWrite, initialWrites, sendWrite } from '../any-write.ts'
import { createReplica, expectedRows, settle } from './data-set.ts'

for (const engine of sharedEngines) {
  const test = testOn(engine)

  describe.skipIf(engine.isMissing)(`three servers on ${engine.name}`, () => {
    test('a copy that follows the feed equals the tables after any concurrent writes', {
      tags: ['slow'],
    }, async ({ admin, servers }) => {
      for (const one of initialWrites) await sendWrite(servers[0], admin, one)
      const replica = createReplica(admin)
      await replica.fill()
      await fc.assert(
        fc.asyncProperty(fc.array(anyWrite, { minLength: 15, maxLength: 25 }), async (writes) => {
          await runAtOnce(servers, writes.length, async (server, index) => {
            const write = writes[index]
            if (index % 5 === 4) await replica.follow()
            return write && sendWrite(server, server.bearer(`Bearer ${admin.key}`), write)
          })
          await settle(servers[0].database)
          await replica.follow()
          expect(replica.current()).toEqual(await expectedRows(servers[0].database))
        }),
        { numRuns: randomRuns(1, 8), endOnFailure: true },
      )
      await settle(servers[0].database)
      const again = createReplica(admin)
      await again.fill()
      expect(again.current()).toEqual(replica.current())
      expect(await replica.follow()).toEqual([])
    })

    test.skipIf(engine.name === 'SQLite')(
      'a transaction that commits late is not passed by those that begin after it',
      async ({ admin, clock, servers }) => {
        const replica = createReplica(admin)
        await replica.fill()
        const late = await servers[1].person('learner')
        await replica.follow()
        const [hasWritten, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const writing = servers[0].database.write(async (database) => {
          await database.run(sql`update users set external_id = 'late' where id = ${late.id}`)
          const change = { kind: 'user', id: late.id, userId: null, courseId: null } as const
          storeRowChanges({ database, now: clock.now().toISOString() }, [change])
          await database.one(sql`select 1 as one`)
          hasWritten.resolve()
          await mayCommit.promise
        })
        await hasWritten.promise
        const { body: early } = await admin.post('/v1/courses', { title: 'Early' })
        const before = await replica.follow()
        mayCommit.resolve()
        await writing
        await settle(servers[0].database)
        const after = await replica.follow()
        const seen = [...before, ...after].map(({ key }) => key['id'])
        expect(seen).toContain(late.id)
        expect(seen).toContain(early.id)
        expect(replica.current()).toEqual(await expectedRows(servers[0].database))
      },
    )
  })
}

standard('a removed row, a deleted user and an erased one are told apart', async ({ admin, academy }) => {
  const replica = createReplica(admin)
  const [deleted, erased] = [await academy.person('learner'), await academy.person('learner')]
  const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
  const item = { courseId: course.id, userId: deleted.id }
  const { body: enrollment } = await admin.post('/v1/enrollments', item)
  await settle(academy.database)
  await replica.fill()
  await admin.delete(`/v1/enrollments/${enrollment.id}`)
  await admin.delete(`/v1/users/${deleted.id}`)
  await admin.delete(`/v1/users/${erased.id}?erase=true`)
  await settle(academy.database)
  const changed = await replica.follow()
  const gone = (table: string, id: string, state: string) => ({ table, key: { id }, state, record: null })
  expect(changed).toHaveLength(3)
  expect(changed).toEqual(
    expect.arrayContaining([
      gone('enrollments', enrollment.id, 'removed'),
      gone('users', deleted.id, 'removed'),
      gone('users', erased.id, 'erased'),
    ]),
  )
})

standard(
  'rows that were in the trash when all were read come back with their course',
  async ({ admin, learner, academy }) => {
    const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
    await admin.post('/v1/lessons', { courseId: course.id, title: 'Sets' })
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage: 20 })
    await academy.grade({ learnerId: learner.id, courseId: course.id, scoreGiven: 5 })
    await admin.delete(`/v1/courses/${course.id}?force=true`)
    await settle(academy.database)
    const replica = createReplica(admin)
    await replica.fill()
    await admin.post(`/v1/deleted-courses/${course.id}/restore`)
    await settle(academy.database)
    await replica.follow()
    expect(replica.current()).toEqual(await expectedRows(academy.database))
    expect(replica.current().grades).toHaveLength(1)
  },
)

standard(
  'a page has each changed row once, however often it changed',
  async ({ admin, learner, academy }) => {
    const { body: course } = await admin.post('/v1/courses', { title: 'Logic', status: 'published' })
    await settle(academy.database)
    const { body } = await admin.get('/v1/analytics/changes')
    expect(body).toEqual({ data: [], nextCursor: null, until: expect.any(String) })
    for (const title of ['Sets', 'Logic', 'Sets']) await admin.put(`/v1/courses/${course.id}`, { title })
    await admin.put(`/v1/learners/${learner.id}/progress`, { courseId: course.id, completionPercentage: 20 })
    await settle(academy.database)
    const { body: changed } = await admin.get(`/v1/analytics/changes?after=${body.until}`)
    expect(changed.data.map(({ table }: { table: string }) => table).sort()).toEqual([
      'courses',
      'enrollments',
      'progress',
    ])
    const { body: some } = await admin.get(`/v1/analytics/changes?after=${body.until}&table=courses`)
    expect(some.data).toEqual([expect.objectContaining({ table: 'courses', state: 'current' })])
    expect(some.until).toBe(changed.until)
  },
)

standard('instructors and learners do not read the feed', async ({ instructor, learner, analyst }) => {
  for (const person of [instructor, learner]) {
    expect((await person.get('/v1/analytics/changes')).status).toBe(403)
    expect((await person.get('/v1/analytics/rows?table=users')).status).toBe(403)
  }
  expect((await analyst.get('/v1/analytics/changes')).status).toBe(200)
})

standard('a place that the feed does not reach back to is refused', async ({ admin, academy, clock }) => {
  await settle(academy.database)
  const { body: start } = await admin.get('/v1/analytics/changes')
  await admin.post('/v1/courses', { title: 'Logic' })
  await settle(academy.database)
  const { body: first } = await admin.get('/v1/analytics/changes')
  const since = async (place: string) => (await admin.get(`/v1/analytics/changes?after=${place}`)).body
  expect((await since(start.until)).data).toHaveLength(1)
  clock.advance(181 * day)
  await sweepRowChanges(academy.database, clock.now())
  // The newest change stays, so that the place of now is never lost.
  expect((await since(start.until)).code).toBe('changes_gone')
  expect((await since(first.until)).data).toEqual([])
  await admin.post('/v1/courses', { title: 'Sets' })
  await settle(academy.database)
  const { body: second } = await admin.get('/v1/analytics/changes')
  await academy.database.run(sql`delete from row_changes where commit_order > 0`)
  expect((await since(second.until)).code).toBe('changes_gone')
  expect((await since('nonsense')).code).toBe('invalid_cursor')
})
