import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { differingCounters } from '../../../src/server/counters/counter-check.ts'
import { foldChanges } from '../../../src/server/counters/fold.ts'
import { rebuildCounters } from '../../../src/server/counters/recount.ts'
import { courseKinds } from '../../../src/server/counters/tally.ts'
import { type Clock, day, onPostgres, type TestAcademy, test } from '../../helpers/academy.ts'
import { keptCount, plainCount } from './plain-count.ts'

const time = (daysAgo: number) => new Date(Date.parse('2026-03-01T12:00:00Z') - daysAgo * day).toISOString()

const [person, course] = [fc.nat(3), fc.nat(2)]
const percentage = fc.constantFrom(0, 9.99, 12.5, 20, 33.333333, 49.99, 50, 80, 100)
const daysAgo = fc.constantFrom(0, 0.6, 1, 13, 14, 15, 40)
const enrolling = {
  person,
  course,
  daysAgo,
  status: fc.constantFrom('active', 'inactive', 'completed', 'deleted'),
}

/** Everything that may change how a learner stands in a course. */
const write = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('progress'), person, course, percentage, daysAgo }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('progress batch'), person, course, percentage, daysAgo }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('enrol'),
      ...enrolling,
      role: fc.constantFrom('learner', 'instructor'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('enrolment'), ...enrolling }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('no enrolment'), person, course }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('grade'), person, course, percentage }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('user'),
      person,
      status: fc.constantFrom('active', 'suspended'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete user'), person, erase: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('course'),
      course,
      passingScore: percentage,
      completionThreshold: fc.constantFrom(20, 80, 100),
      moveOn: fc.constantFrom('Completed', 'Passed', 'NotApplicable'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete course'), course }) },
)
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never

/** Sends it, whatever comes of it: what is refused changes nothing. */
async function send(academy: TestAcademy, admin: Awaited<ReturnType<TestAcademy['person']>>, one: Write) {
  const [userId, courseId] = [
    'person' in one ? `ext:p${one.person}` : '',
    'course' in one ? `ext:c${one.course}` : '',
  ]
  const enrolled = async () =>
    (
      await admin.get(
        `/v1/enrollments?user_id=${userId}&course_id=${courseId}&status=active,inactive,completed`,
      )
    ).body.data?.[0]?.id
  switch (one.kind) {
    case 'progress':
    case 'progress batch': {
      const body = { courseId, completionPercentage: one.percentage, lastAccessed: time(one.daysAgo) }
      if (one.kind === 'progress') return admin.put(`/v1/learners/${userId}/progress`, body, lenient)
      const item = { ...body, learnerId: userId }
      return admin.post('/v1/progress/batch', { items: [item, { ...item, completionPercentage: 999 }, item] })
    }
    case 'enrol': {
      const { status, role } = one
      const item = { courseId, userId, role, status, enrolledAt: time(one.daysAgo) }
      return admin.post('/v1/enrollments/batch', { items: [item, item], onExists: 'update' })
    }
    case 'enrolment':
      return admin.put(`/v1/enrollments/${await enrolled()}`, {
        status: one.status,
        enrolledAt: time(one.daysAgo),
      })
    case 'no enrolment':
      return admin.delete(`/v1/enrollments/${await enrolled()}`)
    case 'grade': {
      const { id } = (await admin.get(`/v1/users/${userId}`)).body
      if (id && (await admin.get(`/v1/courses/${courseId}`)).status === 200) {
        await academy.grade({ learnerId: id, courseId, scoreGiven: one.percentage })
      }
      return
    }
    case 'user':
      return admin.post('/v1/users/batch', {
        items: [{ externalId: `p${one.person}`, email: `p${one.person}@b.example`, status: one.status }],
        onExists: 'update',
      })
    case 'delete user':
      return admin.delete(`/v1/users/${userId}${one.erase ? '?erase=true' : ''}`)
    case 'course': {
      const { passingScore, completionThreshold, moveOn } = one
      const body = {
        title: 'Logic',
        externalId: `c${one.course}`,
        assessmentCriteria: { passingScore, moveOn },
        progressTracking: { completionThreshold },
      }
      const made = await admin.post('/v1/courses', body)
      return made.status === 201 ? made : admin.put(`/v1/courses/${courseId}`, body)
    }
    default:
      return admin.delete(`/v1/courses/${courseId}?force=true`)
  }
}

const lenient = { prefer: 'handling=lenient' }

/** Everybody is there, and may be enrolled. */
const beginning: readonly Write[] = [
  ...[0, 1, 2, 3].map((person) => ({ kind: 'user', person, status: 'active' }) as const),
  ...[0, 1, 2].map((course) => {
    return { kind: 'course', course, passingScore: 50, completionThreshold: 80, moveOn: 'Completed' } as const
  }),
]

/** The first day that the counters keep apart from those before. */
const firstDay = (clock: Clock) => new Date(clock.now().getTime() - 21 * day).toISOString().slice(0, 10)

for (const [engine, name] of [
  ['one writer', 'sqlite'],
  ['many writers', 'postgres'],
] as const) {
  test.skipIf(onPostgres && name === 'sqlite')(
    `on an engine with ${engine} the counters say after any writes what counting everything says`,
    async ({ academy, admin, clock }) => {
      const { database } = academy
      const usual = database.dialect.name
      // Its transactions have the same one, and so have other academies.
      Object.assign(database.dialect, { name })
      onTestFinished(() => void Object.assign(database.dialect, { name: usual }))
      const kinds = new Set<string>()
      const pending = async () =>
        Number((await database.one(sql`select count(*) as pending from counter_changes`))?.['pending'])
      let deferred = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(write, { minLength: 5, maxLength: 25 }),
          fc.boolean(),
          async (writes, folds) => {
            for (const one of [...beginning, ...writes]) await send(academy, admin, one)
            const plain = await plainCount(database, firstDay(clock))
            expect(await keptCount(database, firstDay(clock))).toEqual(plain)
            for (const [kind] of plain) kinds.add(kind)
            deferred += await pending()
            const now = clock.now().toISOString()
            const fold = () =>
              database.write((transaction) => foldChanges({ database: transaction, now }, 20))
            while (folds && (await fold()));
            expect(await keptCount(database, firstDay(clock))).toEqual(plain)
            clock.advance(day)
          },
        ),
        { numRuns: 15 },
      )
      expect(deferred > 0).toBe(name === 'postgres')
      // Most of what can be counted has been.
      expect(kinds.size).toBeGreaterThan(0.7 * courseKinds.length)
      const now = clock.now().toISOString()
      expect(await differingCounters({ database, now })).toBe(0)
      expect(await differingCounters({ database, now }, 1)).toBe(0)
      const kept = await keptCount(database, firstDay(clock))
      await database.write((transaction) => rebuildCounters({ database: transaction, now }))
      expect(await keptCount(database, firstDay(clock))).toEqual(kept)
      expect(await pending()).toBe(0)
      await database.run(sql`update counters set learners = learners + 1 where kind = 'none at'`)
      const wrong = kept.filter(([kind]) => kind === 'none at').length
      expect(await differingCounters({ database, now })).toBe(wrong)
      expect(await differingCounters({ database, now }, 1)).toBe(wrong)
    },
  )
}
