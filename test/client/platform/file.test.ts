import { describe, expect, test } from 'vitest'
import { analytics } from '../../../src/contract/analytics.ts'
import { courses } from '../../../src/contract/courses.ts'
import { lessons } from '../../../src/contract/lessons.ts'
import { progress } from '../../../src/contract/progress.ts'
import { users } from '../../../src/contract/users.ts'
import { json } from '../../helpers/foreign-platforms/platforms.ts'
import { answeredCaller } from '../../helpers/foreign-platforms/run.ts'

const one = { params: { courseId: '7' } }

describe('a field of a platform file', () => {
  const records = {
    course: {
      id: '/meta/key',
      title: '/names/0',
      status: { at: '/state', values: { live: 'published', hidden: 'draft' } },
      createdAt: { at: '/made', time: 'unix-seconds' as const },
      updatedAt: { at: '/changed', zone: 'America/New_York' },
    },
  }
  const theirs = {
    meta: { key: 7 },
    names: ['Sea'],
    state: 'live',
    made: 1_706_918_400,
    changed: '2026-01-02 03:04',
    rev: 3,
  }

  test('is read from its place, in its unit, zone and words', async () => {
    const { caller } = answeredCaller({ records }, () => json(200, theirs))
    expect((await caller.call(courses.get, one)).data).toEqual({
      ...{ id: '7', title: 'Sea', status: 'published', rev: 3, meta: { key: 7 }, names: ['Sea'] },
      ...{ createdAt: '2024-02-03T00:00:00.000Z', updatedAt: '2026-01-02T08:04:00.000Z' },
    })
  })

  test('is written to its place, in its words', async () => {
    const { caller, seen } = answeredCaller({ records }, () => json(200, theirs))
    await caller.call(courses.update, { ...one, body: { status: 'published', tags: ['a'] } })
    expect(JSON.parse(String(seen[0]?.body))).toEqual({ state: 'live', tags: ['a'] })
    await caller.call(courses.update, { ...one, body: { title: 'Sea' } })
    expect(JSON.parse(String(seen[1]?.body))).toEqual({ names: ['Sea'] })
  })

  test.for(['gone', 'constructor'])(
    'is an error in a word that the file does not have: %s',
    async (state) => {
      const { caller, seen } = answeredCaller({ records }, () => json(200, { ...theirs, state }))
      await expect(caller.call(courses.get, one)).rejects.toMatchObject({
        message: `one.example sent course status "${state}", expected one of live, hidden`,
        line: `records: { course: { status: { at: /state, values: { ${state}: … } } } }`,
      })
      const archived = { ...one, body: { status: 'archived' as const } }
      await expect(caller.call(courses.update, archived)).rejects.toMatchObject({ name: 'RequestError' })
      expect(seen).toHaveLength(1)
    },
  )

  test('may be a ratio', async () => {
    const ratio = { at: '/ratio', of: 1 }
    const file = {
      records: { progress: { completionPercentage: ratio }, learner: { completionPercentage: ratio } },
    }
    const row = { learnerId: 1, courseId: 7, ratio: 0.07 }
    const { caller, seen } = answeredCaller(file, ({ method }) => json(200, method === 'GET' ? [row] : row))
    const { data } = await caller.call(analytics.learners)
    expect(data.data).toEqual([{ learnerId: '1', courseId: '7', completionPercentage: 7 }])
    const body = { courseId: '7', completionPercentage: 7 }
    await caller.call(progress.set, { params: { learnerId: '1' }, body })
    expect(JSON.parse(String(seen[1]?.body))).toEqual({ courseId: '7', ratio: 0.07 })
  })
})

describe('an operation of a platform file', () => {
  test('has its own path, method, parameters and place of the record', async () => {
    const file = {
      operations: {
        'courses.update': { path: '/c/{courseId}/edit', method: 'PATCH' as const, record: '/result' },
        'users.list': { path: '/people', parameters: { role: 'kind' }, query: { view: 'full' } },
      },
      records: { user: { role: { at: '/kind', values: { pupil: 'learner' } } } },
    }
    const { caller, seen } = answeredCaller(file, ({ method }) =>
      json(200, method === 'GET' ? [{ id: 1, kind: 'pupil' }] : { result: { id: 7 } }),
    )
    await caller.call(courses.update, { ...one, body: { title: 'Sea' } })
    await caller.pages(users.list, { query: { role: 'learner' } }).next()
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PATCH https://one.example/c/7/edit',
      'GET https://one.example/people?view=full&kind=pupil',
    ])
  })

  test('that is not offered is not sent', async () => {
    const { caller, seen } = answeredCaller({ operations: { 'lessons.create': 'not offered' } }, () =>
      json(200, {}),
    )
    await expect(caller.call(lessons.create, { body: { courseId: '7', title: 'x' } })).rejects.toThrow(
      'one.example does not support lessons.create (its platform file says that it is not offered)',
    )
    expect(seen).toEqual([])
  })

  test('may be shown to be done by its status alone, but not by a 202', async () => {
    const file = { writes: { shows: 'nothing' as const } }
    const done = answeredCaller(file, () => json(200, { ok: true }))
    expect((await done.caller.call(courses.create, { body: { title: 'Sea' } })).id).toBeNull()
    const later = answeredCaller(file, () => json(202, { ok: true }))
    await expect(later.caller.call(courses.create, { body: { title: 'Sea' } })).rejects.toMatchObject({
      code: 'not_shown',
    })
  })
})

test.for([
  [{ cursor: '/meta/next', parameter: 'after' }, { meta: { next: 'c2' } }, 'after=c2'],
  [{ page: 'p', first: 0, last: '/last' }, { last: 1 }, 'p=1'],
  [{ page: 'p' }, {}, 'p=2'],
  [{ offset: 'skip' }, {}, 'skip=1'],
  [{ url: '/more' }, { more: '?page=2' }, 'page=2'],
] as const)('the next page may be named by %j', async ([next, around, query]) => {
  const file = { lists: { items: '/rows', next, size: { parameter: 'n', maximum: 50 } } }
  const { caller, seen } = answeredCaller(file, (_, nth) =>
    json(200, { ...around, rows: nth > 2 ? [] : [{ id: nth }] }),
  )
  const pages = caller.pages(courses.list, { query: { limit: 100 } })
  await pages.next()
  expect((await pages.next()).value).toMatchObject({ data: [{ id: '2' }] })
  const sent = [...new URL(seen[1]?.url ?? '').searchParams].map(([name, value]) => `${name}=${value}`)
  expect(sent).toContain(query)
  expect(seen[0]?.query.get('n')).toBe('50')
  expect(seen[0]?.query.has('limit')).toBe(false)
})

test.for(['none', { url: '/nexxt' }, { cursor: '/after', parameter: 'a' }] as const)(
  'a total above the rows is an error where the file finds no next page: %j',
  async (next) => {
    const { caller } = answeredCaller({ lists: { items: '/rows', next, total: '/count' } }, () =>
      json(200, { rows: [{ id: 1 }], count: 9, next: '?page=2', pages: 9 }),
    )
    await expect(caller.pages(courses.list).next()).rejects.toMatchObject({ code: 'incomplete' })
  },
)

test('a number of the last page that is not there is an error', async () => {
  const next = { page: 'p', last: '/pagez' }
  const { caller } = answeredCaller({ lists: { items: '/rows', next } }, () =>
    json(200, { rows: [{ id: 1 }] }),
  )
  await expect(caller.pages(courses.list).next()).rejects.toThrow('sent no number of the last page at /pagez')
})

describe('a refusal inside of a 200', () => {
  const refused = {
    when: { at: '/ok', is: false },
    code: '/err/code',
    message: '/err/text',
    status: { LOCKED: 409, AUTH: 401 },
  }
  test.for([
    ['LOCKED', 409],
    ['AUTH', 401],
    ['OTHER', 400],
  ] as const)('has the status of its code: %s', async ([code, status]) => {
    const { caller } = answeredCaller({ refused }, () =>
      json(200, { ok: false, err: { code, text: 'Course is locked' } }),
    )
    await expect(caller.call(courses.update, { ...one, body: {} })).rejects.toMatchObject({
      name: 'ApiError',
      status,
      message: 'Course is locked',
    })
  })

  test('is seen in place of CSV as well', async () => {
    const { caller } = answeredCaller({ refused }, () => json(200, { ok: false, err: { text: 'Closed' } }))
    const asked = caller.open(analytics.learners, { query: { format: 'csv' } }, { accept: 'text/csv' })
    await expect(asked).rejects.toMatchObject({ name: 'ApiError', message: 'Closed' })
  })

  test('may be any other value than the one of success', async () => {
    const file = { refused: { when: { at: '/code', not: 0 } } }
    const { caller } = answeredCaller(file, (_, nth) => json(200, { code: nth - 1, id: 7 }))
    await caller.call(courses.get, one)
    await expect(caller.call(courses.get, one)).rejects.toMatchObject({ name: 'ApiError', status: 400 })
  })
})

test.for([true, false])(
  'a POST is repeated after a 503 if keys are honoured (%s)',
  async (idempotencyKey) => {
    const { caller, seen } = answeredCaller({ idempotencyKey }, (_, nth) =>
      nth === 1 ? json(503, {}) : json(201, { id: 7 }),
    )
    const call = caller.call(courses.create, { body: { title: 'Sea' } })
    if (idempotencyKey) expect((await call).id).toBe('7')
    else await expect(call).rejects.toMatchObject({ name: 'AmbiguousError' })
    expect(seen).toHaveLength(idempotencyKey ? 2 : 1)
  },
)

test.for([
  [{ header: 'X-Api-Key' }, 'x-api-key', 'key'],
  [{ header: 'Authorization', scheme: 'Token' }, 'authorization', 'Token key'],
] as const)('the credential is sent as %j, also with a raw request', async ([auth, header, value]) => {
  const { caller, seen } = answeredCaller({ auth }, () => json(200, [{ id: 1 }]))
  await caller.pages(courses.list).next()
  await caller.send({ method: 'GET', path: '/anything' })
  for (const { headers } of seen) expect(headers[header]).toBe(value)
})
