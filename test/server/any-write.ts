import fc from 'fast-check'
import { sweep } from '../../src/server/database/sweep.ts'
import { ProblemError } from '../../src/server/problem-error.ts'
import { type Caller, day, type TestAcademy } from '../helpers/academy.ts'

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

/** Writes that may change the counters of a learner in a course. */
export const anyWrite = fc.oneof(
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
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('grade'),
      person,
      course,
      percentage: fc.oneof(percentage, fc.constantFrom(100.004, 104.5)),
      itemId: fc.constantFrom('$course', 'essay', 'exam'),
      state: fc.constantFrom('published', 'published', 'hidden', 'cleared'),
    }),
  },
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
      weight: fc.constantFrom(10, 50),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete course'), course, erase: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore course'), course }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
)
export type AnyWrite = typeof anyWrite extends fc.Arbitrary<infer Value> ? Value : never

/** Sends a write; a refused one changes nothing. */
export async function sendWrite(academy: TestAcademy, admin: Caller, one: AnyWrite) {
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
      const refused = (error: unknown) => {
        if (!(error instanceof ProblemError)) throw error
      }
      const { itemId, state, percentage } = one
      const scoreGiven = state === 'cleared' ? null : percentage
      const grade = { learnerId: id ?? 'none', courseId, itemId, scoreGiven, published: state !== 'hidden' }
      await academy.grade(grade).catch(refused)
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
      const { passingScore, completionThreshold, moveOn, weight } = one
      const weights = [
        { name: 'essay', weight },
        { name: 'exam', weight: 40 },
      ]
      const body = {
        title: 'Logic',
        externalId: `c${one.course}`,
        assessmentCriteria: { passingScore, moveOn, weights },
        progressTracking: { completionThreshold },
      }
      const made = await admin.post('/v1/courses', body)
      return made.status === 201 ? made : admin.put(`/v1/courses/${courseId}`, body)
    }
    case 'restore course':
      return admin.post(`/v1/deleted-courses/${courseId}/restore`)
    case 'sweep':
      return sweep(academy.database, academy.clock.now())
    default:
      return admin.delete(`/v1/courses/${courseId}?force=true${one.erase ? '&erase=true' : ''}`)
  }
}

const lenient = { prefer: 'handling=lenient' }

/** All users exist and may be enrolled. */
export const initialWrites: readonly AnyWrite[] = [
  ...[0, 1, 2, 3].map((person) => ({ kind: 'user', person, status: 'active' }) as const),
  ...[0, 1, 2].map((course) => {
    const criteria = { passingScore: 50, completionThreshold: 80, moveOn: 'Completed', weight: 50 } as const
    return { kind: 'course', course, ...criteria } as const
  }),
]
