import { describe, expect, test } from 'vitest'
import { createFilterCheck, isApplied, openReferences } from '../../../src/client/foreign/asked.ts'
import { contract } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'

const { analytics, courses, enrollments, users } = contract

/** Returns the verdict of a query about an item. */
function readProbeResponse(operation: Operation, query: object, item: object): 'in' | 'out' | 'unjudged' {
  const check = createFilterCheck(operation, query)
  if (!check) throw new Error('nothing is filtered')
  const judged = check.judge(item)
  return typeof judged === 'object' ? 'unjudged' : judged ? 'in' : 'out'
}

describe('a choice', () => {
  test.for([
    [{ status: 'DRAFT' }, 'in'],
    [{ status: 'published' }, 'out'],
    [{ status: null }, 'out'],
    [{ title: 'Sea' }, 'unjudged'],
    [{ status: 'Live' }, 'unjudged'],
  ] as const)('of %j is %s', ([item, expected]) => {
    expect(readProbeResponse(courses.list, { status: 'draft,archived' }, item)).toBe(expected)
  })

  test('in the words of a platform is compared with those', () => {
    expect(readProbeResponse(courses.list, { status: 'live' }, { status: 'Live' })).toBe('in')
    expect(readProbeResponse(courses.list, { status: 'live' }, { status: 'paused' })).toBe('out')
  })

  test('knows the other names of a role', () => {
    expect(readProbeResponse(users.list, { role: 'instructor' }, { role: 'Teacher' })).toBe('in')
    expect(readProbeResponse(users.list, { role: 'teacher' }, { role: 'instructor' })).toBe('in')
    expect(readProbeResponse(users.list, { role: 'learner' }, { role: 'teacher' })).toBe('out')
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
    expect(readProbeResponse(users.list, query, item)).toBe(expected)
  })

  test('is looked for in a list', () => {
    expect(readProbeResponse(courses.list, { tag: 'sea' }, { tags: ['land', 'sea'] })).toBe('in')
    expect(readProbeResponse(courses.list, { tag: 'sea' }, { tags: ['land'] })).toBe('out')
  })
})

describe('a time', () => {
  test.for([
    ['2026-02-20T10:00:00Z', 'in'],
    ['2026-02-20T23:30:00-05:00', 'out'],
    ['2026-02-19T23:59:59Z', 'out'],
    // A day, or a time without a zone, may be anywhere on the earth.
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
    ['Feb 20, 2026', 'unjudged'],
    ['20260220T100000Z', 'in'],
    ['Fri, 20 Feb 2026 10:00:00 GMT', 'in'],
    ['Friday, 20-Feb-26 10:00:00 GMT', 'in'],
    ['Fri Feb 20 10:00:00 2026', 'in'],
    ['Mon, 23 Feb 2026 10:00:00 GMT', 'out'],
    ['1771581600', 'in'],
    ['1771795200.5', 'out'],
    ['20/02/2026', 'in'],
    ['02/20/2026 10:00 AM', 'in'],
    ['02/30/2026', 'unjudged'],
    ['2026-02-20T25:00:00Z', 'unjudged'],
    // Neither 3 February nor 2 March, neither 12 February nor 2 December.
    ['03/02/2026', 'out'],
    ['2026/12/02', 'out'],
  ] as const)('%j between two days is %s', ([last_accessed, expected]) => {
    const query = { start_date: '2026-02-20', end_date: '2026-02-20' }
    expect(readProbeResponse(analytics.learners, query, { last_accessed })).toBe(expected)
  })

  test('that is missing is in with learners who have not started', () => {
    const query = { start_date: '2026-02-20', include_not_started: true }
    expect(readProbeResponse(analytics.learners, query, { lastAccessed: null })).toBe('in')
  })
})

describe('a time with numbers for day and month', () => {
  const query = { start_date: '2024-02-01', end_date: '2024-02-29' }
  const judge = (items: readonly string[], item: string) => {
    const check = createFilterCheck(analytics.learners, query)
    for (const last_accessed of items) check?.learn({ last_accessed })
    const verdict = check?.judge({ last_accessed: item })
    return { verdict: typeof verdict === 'object' ? verdict[0] : verdict, isOpen: check?.isOpen() }
  }
  const doubt = (text: string) => ({ why: `with lastAccessed "${text}"`, open: true })

  test.for([
    ['01.02.2024', 'a point'],
    ['3/2/2024', 'a slash'],
    ['02-03-2024 10:00', 'a hyphen and a time'],
    ['2024/02/03', 'the year in front'],
  ] as const)('%s, with %s, cannot be judged where its readings disagree', ([text]) => {
    expect(judge([text], text)).toMatchObject({ verdict: doubt(text), isOpen: true })
  })

  test.for([
    ['01.02.2024', '13.01.2024', true],
    ['01.02.2024', '01.13.2024', false],
    ['02/03/2024', '12/31/2024 5:00 PM', true],
    ['02/03/2024', '31/12/2024', false],
  ] as const)('%s is read as another value, %s, shows', ([text, other, verdict]) => {
    expect(judge([text, other], text)).toEqual({ verdict, isOpen: false })
  })

  test('cannot be judged where others show both orders', () => {
    const others = ['13.01.2024', '01.13.2024', '01.02.2024']
    expect(judge(others, '01.02.2024')).toMatchObject({ verdict: { open: true }, isOpen: false })
  })

  test.for([
    ['02.02.2024', true],
    ['01.12.2025', false],
    ['05.06.2024', false],
  ] as const)('%s is judged where its readings agree: %s', ([text, verdict]) => {
    expect(judge([], text).verdict).toBe(verdict)
  })
})

describe('that a platform filters', () => {
  const items = (...ids: readonly number[]) => ids.map((id) => ({ id, seen: Math.random() }))
  const applied = (pages: Readonly<Record<string, readonly unknown[] | null>>, again = pages) => {
    const asked = new Set<string>()
    return isApplied(courses.list, { q: 'x', limit: 2, updated_since: '2024-01-01' }, 'q', async (query) => {
      const key = 'q' in query ? 'with' : 'without'
      const answer = (asked.has(key) ? again : pages)[key]
      asked.add(key)
      return answer ?? null
    })
  }

  test('is seen where its first page differs without the filter', async () => {
    expect(await applied({ with: items(1, 2), without: items(1, 3) })).toBe(true)
    expect(await applied({ with: items(1), without: items(1, 2) })).toBe(true)
  })

  test('is not seen where it is the same, where the platform refuses, and where its list changes by itself', async () => {
    expect(await applied({ with: items(1, 2), without: items(1, 2) })).toBe(false)
    expect(await applied({ with: items(1, 2), without: null })).toBe(false)
    const changed = { with: items(3, 1), without: items(3, 1) }
    expect(await applied({ with: items(1, 2), without: items(3, 1) }, changed)).toBe(false)
  })

  test('is seen by another period where both dates are required', async () => {
    const query = { start_date: '2024-02-01', end_date: '2024-02-29' }
    const read = async (asked: Readonly<Record<string, unknown>>) =>
      asked['start_date'] === undefined ? null : asked['start_date'] === '1970-01-01' ? [1, 2] : [2]
    expect(await isApplied(analytics.learners, query, 'start_date', read)).toBe(true)
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
    expect(readProbeResponse(analytics.learners, query, item)).toBe(expected)
  })

  test('is open where no field of an item may hold it', () => {
    const query = { course_id: 'ext:BIO', user_id: 'email:ada@x.example' }
    expect(openReferences(enrollments.list, query)).toEqual([{ to: 'courseId', reference: 'ext:BIO' }])
    const check = createFilterCheck(enrollments.list, { course_id: 'ext:BIO' }, new Map([['ext:BIO', '7']]))
    expect([{ course_id: 7 }, { course_id: 8 }].map((item) => check?.judge(item))).toEqual([true, false])
  })
})

test('a query without filters needs no check', () => {
  expect(createFilterCheck(courses.list, { sort: 'title', limit: 5, status: undefined, q: '' })).toBeNull()
})

test('filters are told apart: ignored ones, and those that could not be judged', () => {
  const check = createFilterCheck(courses.list, { status: 'draft', tag: 'sea', difficulty: 'expert' })
  for (const item of [
    { status: 'draft', difficulty: 'expert' },
    { status: 'published', difficulty: 'expert' },
  ])
    check?.judge(item)
  expect(check?.ignored()).toEqual(['status'])
  expect(check?.judge({ status: 'draft', difficulty: 'Master' })).toEqual([
    { parameter: 'tag', why: 'without tags', open: false },
    { parameter: 'difficulty', why: 'with difficulty "Master"', open: false },
  ])
})
