import { describe, expect, test } from 'vitest'
import { analytics } from '../../../src/contract/analytics.ts'
import { courses } from '../../../src/contract/courses.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { users } from '../../../src/contract/users.ts'
import { scriptedTransport, testCaller, textOf } from '../harness.ts'

/** A caller of a platform that gives these responses in turn. */
function platform(...answers: readonly (Response | object)[]) {
  const script = scriptedTransport(
    ...answers.map((answer) => (answer instanceof Response ? answer : Response.json(answer))),
  )
  return { ...script, caller: testCaller({ ...script, attempts: 1 }, false).caller }
}

async function rowsOf(operation: Operation, query: object, ...answers: readonly (Response | object)[]) {
  const { caller } = platform(...answers)
  const rows: unknown[] = []
  for await (const { data } of caller.pages<Operation>(operation, { query: { ...query } })) rows.push(...data)
  return rows
}

const sea = { id: '1', title: 'Sea' }

describe('a list is', () => {
  test.for([
    ['a bare array', [sea]],
    ['under data', { data: [sea], meta: { errors: [] } }],
    ['under items', { items: [sea] }],
    ['under results', { Results: [sea] }],
    ['under the name of the resource', { courses: [sea], warnings: [] }],
  ] as const)('%s', async ([, body]) => {
    expect(await rowsOf(courses.list, {}, body)).toEqual([sea])
  })

  test.for([{ list: [sea] }, { data: [sea], items: [] }, { data: { courses: [sea] } }, {}, 'none', 7])(
    'not found in %j, which says where a file would name it',
    async (body) => {
      await expect(rowsOf(courses.list, {}, Response.json(body))).rejects.toMatchObject({
        code: 'not_described',
        line: 'lists: { items: /… }',
        message: expect.stringMatching(/^academy\.example sent no list for courses\.list: expected /),
      })
    },
  )
})

describe('a record is', () => {
  test.for([
    ['the object', sea],
    ['under data', { success: true, data: sea }],
    ['under its name', { course: sea }],
  ] as const)('%s', async ([, body]) => {
    const { caller } = platform(body)
    expect((await caller.call(courses.get, { params: { courseId: '1' } })).data).toEqual(sea)
  })

  test.for([{}, { message: 'Session expired' }, { title: 'Sea' }, []])(
    'not %j, without an id',
    async (body) => {
      const { caller } = platform(Response.json(body))
      await expect(caller.call(courses.get, { params: { courseId: '1' } })).rejects.toMatchObject({
        line: 'records: { course: { id: /… } }',
      })
    },
  )

  test.for([{ code: 40_101, msg: 'token invalid' }, {}, [], 0, 'Failed', { id: null }])(
    'no signed-in user in %j',
    async (body) => {
      const { caller } = platform(Response.json(body))
      await expect(caller.call(users.profile)).rejects.toThrow(/sent no user id or email/)
    },
  )
})

test('fields are those with the same letters, and others stay as they came', async () => {
  const theirs = {
    _id: 12_345_678_901,
    External_ID: 'A',
    'created-at': '2026-01-02',
    profile: { FirstName: 'Ada', Nick: 'A' },
    homeroom: { id: 4 },
  }
  expect(await rowsOf(users.list, {}, [theirs])).toEqual([
    {
      id: '12345678901',
      externalId: 'A',
      createdAt: '2026-01-02T00:00:00.000Z',
      profile: { firstName: 'Ada', Nick: 'A' },
      homeroom: { id: 4 },
    },
  ])
})

test('the id of a kind is the id, and no other field is', async () => {
  expect(await rowsOf(courses.list, {}, [{ course_id: 5, owner_id: 6 }])).toEqual([{ id: '5', owner_id: 6 }])
  await expect(rowsOf(courses.list, {}, [{ course_key: 5 }])).rejects.toThrow('sent no course id')
})

describe('a time is in UTC', () => {
  test.for([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['', null],
    [null, null],
  ])('%j is %j', async ([createdAt, time]) => {
    expect(await rowsOf(courses.list, {}, [{ ...sea, createdAt }])).toEqual([{ ...sea, createdAt: time }])
  })

  test.for(['03/02/2024', '2026-02-30', 1_706_918_400, 'yesterday'])('%j is an error', async (createdAt) => {
    await expect(rowsOf(courses.list, {}, [{ ...sea, createdAt }])).rejects.toMatchObject({
      message: `academy.example sent course createdAt ${JSON.stringify(createdAt)}, expected an ISO 8601 time`,
      line: 'records: { course: { createdAt: { at: /createdAt, time: unix-seconds } } }',
    })
  })
})

test.for([-1, 140, 'most', true])('completion is a number from 0 to 100, not %j', async (completion) => {
  const row = { learnerId: '1', courseId: '2', completionPercentage: completion }
  await expect(rowsOf(analytics.learners, {}, [row])).rejects.toThrow(
    `sent learner completionPercentage ${JSON.stringify(completion)}, expected a number from 0 to 100`,
  )
})

describe('the next page is', () => {
  const two = [{ id: '2' }]
  const linked = (link: string) => Response.json([sea], { headers: { link } })
  test.for<[what: string, first: Response | object, url: string]>([
    ['nextCursor', { data: [sea], next_cursor: 'c+1' }, '?cursor=c%2B1'],
    ['a Link header', linked('<?page=1>; rel=prev, </v1/courses?page=2>; rel="last next"'), '?page=2'],
    ['next', { data: [sea], next: 'http://academy.example/v1/courses?p=2' }, '?p=2'],
    ['links.next', { data: [sea], links: { next: '/v1/courses?p=2' } }, '?p=2'],
    ['_links.next.href', { data: [sea], _links: { next: { href: '?p=2' } } }, '?p=2'],
  ])('%s', async ([, first, url]) => {
    const { caller, requests } = platform(first, two)
    const pages: unknown[] = []
    for await (const { data } of caller.pages(courses.list)) pages.push(data)
    expect(pages).toEqual([[sea], two])
    expect(requests[1]?.url).toBe(`https://academy.example/v1/courses${url}`)
  })

  test.for(['abc', 2])('not known by %j', async (next) => {
    await expect(rowsOf(courses.list, {}, { data: [sea], next })).rejects.toMatchObject({
      code: 'not_described',
      message: `academy.example sent the next page ${JSON.stringify(next)}, which is no URL (GET /v1/courses)`,
    })
  })

  test('another page: the same one again is an error', async () => {
    const first = { data: [sea], next: '?p=2' }
    await expect(rowsOf(courses.list, {}, first, { data: [sea], next: '?p=3' })).rejects.toMatchObject({
      code: 'cursor_repeated',
    })
  })

  test.for<[what: string, answer: Response]>([
    ['total', Response.json({ data: [sea], total: 3 })],
    ['total_count', Response.json({ data: [sea], total_count: '3' })],
    ['X-Total-Count', Response.json([sea], { headers: { 'x-total-count': '3' } })],
  ])('missing where %s is above the rows', async ([, answer]) => {
    await expect(rowsOf(courses.list, {}, answer)).rejects.toThrow(
      'academy.example returned 1 of 3 rows, without a next page (GET /v1/courses)',
    )
  })

  test('unknown after as many rows as were asked for, which is an error once the rest is wanted', async () => {
    const { caller } = platform([sea, { id: '2' }])
    const pages = caller.pages(courses.list, { query: { limit: 2 } })
    expect((await pages.next()).value).toMatchObject({ more: true })
    await expect(pages.next()).rejects.toMatchObject({ code: 'incomplete', line: /lists: \{ next: none \}/ })
    expect(await rowsOf(courses.list, { limit: 2 }, [sea, { id: '2' }, { id: '3' }])).toHaveLength(3)
  })
})

describe('rows', () => {
  const at = (lastAccessed: string | null) => ({ learnerId: '1', courseId: '2', lastAccessed })
  const february3 = { start_date: '2024-02-03', end_date: '2024-02-03' }

  test('of a period are those whose time is in it', async () => {
    const inside = [at('2024-02-03'), at('2024-02-03 23:59:59')]
    expect(await rowsOf(analytics.learners, february3, inside)).toHaveLength(2)
    for (const outside of ['2024-02-02 23:30:00', '2024-02-04', '2024-02-04T00:30:00+01:00']) {
      const rows = [...inside, at(outside)]
      const isInside = outside.endsWith('+01:00')
      const read = rowsOf(analytics.learners, february3, rows)
      if (isInside) expect(await read).toHaveLength(3)
      else await expect(read).rejects.toThrow('did not filter: 1 of 3 rows are outside of')
    }
  })

  test.for<[query: object, row: object, error: RegExp | null]>([
    [{ status: 'published' }, { ...sea, status: 'PUBLISHED' }, null],
    [{ status: 'published' }, { ...sea, status: 'draft' }, /1 of 1 rows are outside of status/],
    [{ status: 'published' }, { ...sea, status: 'live' }, /cannot be judged by status/],
    [{ status: 'published' }, sea, /cannot be judged by status, as they do not show status/],
    [{ q: 'se' }, sea, null],
    [{ external_id: 'A' }, { ...sea, externalId: 'B' }, /outside of external_id/],
  ])('are checked against the filter %j: %j', async ([query, row, error]) => {
    const read = rowsOf(courses.list, query, [row])
    if (error) await expect(read).rejects.toMatchObject({ code: 'not_filtered', message: error })
    else expect(await read).toHaveLength(1)
  })

  test('in an order are refused, since nothing shows that they are', async () => {
    await expect(rowsOf(courses.list, { sort: '-title' }, [sea])).rejects.toMatchObject({
      code: 'not_sorted',
    })
  })
})

describe('CSV', () => {
  const csv = (text: string | Uint8Array<ArrayBuffer>, type = 'text/csv') =>
    new Response(text, { headers: { 'content-type': type } })
  async function read(answer: Response, query: object = {}) {
    const { caller } = platform(answer)
    const { body } = await caller.open(
      analytics.learners,
      { query: { ...query, format: 'csv' } },
      { accept: 'text/csv' },
    )
    return textOf(body)
  }

  test('has the columns, times and separator of the API, and others as they came', async () => {
    const text = 'Learner_Id;course_id;Nick;last_accessed\n7;3;"a;b";2026-01-02 03:04\n8;3;;\n'
    expect(await read(csv(text))).toBe(
      'learnerId,courseId,Nick,lastAccessed\r\n7,3,"a;b",2026-01-02T03:04:00.000Z\r\n8,3,,\r\n',
    )
  })

  test('has the guard against formulas but for numbers, and a byte order mark, as asked', async () => {
    const text = 'learnerId;=Nick;Note\n7;=1+1;-2,5\n8;"x;@y";-2+3\n'
    expect(await read(csv(text))).toBe('learnerId,\'=Nick,Note\r\n7,\'=1+1,"-2,5"\r\n8,"x;\'@y",\'-2+3\r\n')
    expect(await read(csv(text), { raw: 'true', bom: 'true' })).toBe(
      '\ufefflearnerId,=Nick,Note\r\n7,=1+1,"-2,5"\r\n8,"x;@y",-2+3\r\n',
    )
  })

  test('is read in the charset that it declares', async () => {
    const latin1 = new Uint8Array(Buffer.from('learnerId,Nick\n7,Zo\xeb\n', 'latin1'))
    expect(await read(csv(latin1, 'text/csv; charset=iso-8859-1'))).toContain('Zoë')
    await expect(read(csv(latin1))).rejects.toThrow('sent CSV that is not utf-8')
  })

  test('is checked like other rows', async () => {
    const text = 'learnerId,lastAccessed\n7,2024-02-02\n'
    await expect(read(csv(text), { start_date: '2024-02-03' })).rejects.toThrow('outside of start_date')
    await expect(read(csv('a,b\n1,2\n'))).rejects.toThrow('sent CSV without learnerId; its columns are a, b')
    await expect(read(csv('learnerId,learner_id\n1,2\n'))).rejects.toThrow('two columns of learnerId')
    await expect(read(csv(''))).rejects.toThrow('sent CSV without a header')
    await expect(read(csv('learnerId,b\n1,2,3\n'))).rejects.toThrow('sent CSV that cannot be read')
    const part = csv('learnerId\n1\n')
    part.headers.set('x-total-count', '2')
    await expect(read(part)).rejects.toThrow('returned 1 of 2 rows')
  })
})
