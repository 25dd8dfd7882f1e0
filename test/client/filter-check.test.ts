import { describe, expect, test } from 'vitest'
import { createFilterCheck, openReferences } from '../../src/client/filter-check.ts'
import { contract } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'

const { analytics, courses, enrollments, users } = contract

/** What a query makes of one item: admitted, ruled out, or admitted for want of the field. */
function verdict(operation: Operation, query: object, item: object): 'in' | 'out' | 'unjudged' {
  const check = createFilterCheck(operation, query)
  if (!check) throw new Error('nothing is filtered')
  const admitted = check.admits(item)
  if (check.unjudged().length > 0) return 'unjudged'
  return admitted ? 'in' : 'out'
}

describe('a choice', () => {
  test.for([
    [{ status: 'DRAFT' }, 'in'],
    [{ status: 'published' }, 'out'],
    [{ status: null }, 'out'],
    [{ title: 'Sea' }, 'unjudged'],
    [{ status: 'Live' }, 'unjudged'],
  ] as const)('of %j is %s', ([item, expected]) => {
    expect(verdict(courses.list, { status: 'draft,archived' }, item)).toBe(expected)
  })

  test('in the words of a platform is compared with those', () => {
    expect(verdict(courses.list, { status: 'live' }, { status: 'Live' })).toBe('in')
    expect(verdict(courses.list, { status: 'live' }, { status: 'paused' })).toBe('out')
  })

  test('knows the other names of a role', () => {
    expect(verdict(users.list, { role: 'instructor' }, { role: 'Teacher' })).toBe('in')
    expect(verdict(users.list, { role: 'teacher' }, { role: 'instructor' })).toBe('in')
    expect(verdict(users.list, { role: 'learner' }, { role: 'teacher' })).toBe('out')
  })
})

describe('a text', () => {
  test.for([
    [{ external_id: 'S-1' }, { external_id: 'S-1' }, 'in'],
    [{ external_id: 'S-1' }, { externalId: 's-1' }, 'out'],
    [{ email: 'Ada@x.example' }, { email: 'ada@X.example' }, 'in'],
    [
      { q: 'ada love' },
      { email: 'a@x.example', username: null, first_name: 'Ada', last_name: 'Lovelace', display_name: null },
      'in',
    ],
    [
      { q: 'grace' },
      { email: 'a@x.example', username: null, first_name: 'Ada', last_name: 'Lovelace', display_name: null },
      'out',
    ],
    [{ q: 'grace' }, { email: 'a@x.example' }, 'unjudged'],
  ] as const)('%j of %j is %s', ([query, item, expected]) => {
    expect(verdict(users.list, query, item)).toBe(expected)
  })

  test('is looked for in a list', () => {
    expect(verdict(courses.list, { tag: 'sea' }, { tags: ['land', 'sea'] })).toBe('in')
    expect(verdict(courses.list, { tag: 'sea' }, { tags: ['land'] })).toBe('out')
  })
})

describe('a time', () => {
  test.for([
    ['2026-02-20T10:00:00Z', 'in'],
    ['2026-02-20T23:30:00-05:00', 'out'],
    ['2026-02-19T23:59:59Z', 'out'],
    // A day, and a time without a zone, may be anywhere on the earth.
    ['2026-02-20', 'in'],
    ['2026-02-21', 'in'],
    ['2026-02-22', 'out'],
    ['2026-02-21 13:00:00', 'in'],
    ['2026-02-21 15:00:00', 'out'],
    [1771581600, 'in'],
    [1771581600000, 'in'],
    [1771795200, 'out'],
    [null, 'out'],
    ['', 'out'],
    ['soon', 'unjudged'],
  ] as const)('%j between two days is %s', ([last_accessed, expected]) => {
    const query = { start_date: '2026-02-20', end_date: '2026-02-20' }
    expect(verdict(analytics.learners, query, { last_accessed })).toBe(expected)
  })

  test('that is missing is in with learners who have not started', () => {
    const query = { start_date: '2026-02-20', include_not_started: true }
    expect(verdict(analytics.learners, query, { lastAccessed: null })).toBe('in')
  })
})

describe('a reference', () => {
  test.for([
    [{ learner_id: '7' }, { learner: { id: 7 } }, 'in'],
    [{ learner_id: '7,8' }, { user_id: 8 }, 'in'],
    [{ learner_id: '7,8' }, { user_id: 9 }, 'out'],
    [{ learner_id: 'email:Ada@x.example' }, { email: 'ada@x.example' }, 'in'],
    [{ learner_id: 'ext:S-1' }, { learnerId: 7, external_id: 'S-2' }, 'out'],
    [{ learner_id: 'ext:S-1' }, { learnerId: 7 }, 'unjudged'],
    [{ course_id: 'ext:BIO' }, { courseId: 'crs_1' }, 'unjudged'],
  ] as const)('%j of %j is %s', ([query, item, expected]) => {
    expect(verdict(analytics.learners, query, item)).toBe(expected)
  })

  test('is open where no field of an item may hold it', () => {
    const query = { course_id: 'ext:BIO', user_id: 'email:ada@x.example' }
    expect(openReferences(enrollments.list, query)).toEqual([{ to: 'courseId', reference: 'ext:BIO' }])
    const check = createFilterCheck(enrollments.list, { course_id: 'ext:BIO' }, new Map([['ext:BIO', '7']]))
    expect([{ course_id: 7 }, { course_id: 8 }].map((item) => check?.admits(item))).toEqual([true, false])
  })
})

test('what filters nothing needs no check', () => {
  expect(createFilterCheck(courses.list, { sort: 'title', limit: 5, status: undefined, q: '' })).toBeNull()
})

test('filters are told apart: ignored ones, and those that could not be judged', () => {
  const check = createFilterCheck(courses.list, { status: 'draft', tag: 'sea', difficulty: 'expert' })
  for (const item of [
    { status: 'draft', difficulty: 'expert' },
    { status: 'published', difficulty: 'expert' },
  ])
    check?.admits(item)
  expect(check?.ignored()).toEqual(['status'])
  expect(check?.unjudged()).toEqual([['tag', 'without tags']])
})
