import { describe, expect } from 'vitest'
import { parseFilter } from '../../../src/server/oneroster/query.ts'
import type { Caller, Person } from '../../helpers/academy.ts'
import { readingTest, rostering, test, valuesOf } from './one-roster.ts'

/** Adds learners m00, m01 and so on. */
async function addMany(admin: Person, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => {
    const name = `m${String(index).padStart(2, '0')}`
    return { externalId: name, email: `${name}@many.example`, profile: { firstName: name, lastName: 'Many' } }
  })
  const answer = await admin.post('/v1/users/batch', { items })
  expect(answer.status, answer.text).toBe(200)
}

async function idsBy(client: Caller, filter: string, path = '/users', plural = 'users') {
  const answer = await client.get(`${rostering}${path}?filter=${encodeURIComponent(filter)}`)
  expect(answer.status, answer.text).toBe(200)
  return valuesOf(answer, plural).map(String).sort()
}

describe('a filter', () => {
  readingTest.for([
    ["email='ada@b.example'", ['u1']],
    ["email='ADA@b.example'", ['u1']],
    ["sourcedId='u3'", ['u3']],
    ["sourcedId='U3'", []],
    ["username='bob@b.example'", ['u2']],
    ["familyName='O''Neil'", ['u2']],
    ["givenName~'D'", ['u1', 'u4']],
    ["givenName='Ada' OR givenName='Dee'", ['u1', 'u4']],
    ["givenName!='Ada' AND status='active'", ['u2', 'u3', 'u4']],
    ["givenName='Ada' AND status='active' OR sourcedId='u2'", ['u1', 'u2']],
    ["roles.role='teacher'", ['u2']],
    ["dateLastModified>'2020-01-01'", ['u1', 'u2', 'u3', 'u4']],
    ["dateLastModified<'2020-01-01T00:00:00Z'", []],
    ["dateLastModified>'2099-01-01T00:00:00.000+01:00'", []],
    ["status='tobedeleted'", []],
  ] as const)('%s', async ([filter, ids], { client }) => {
    expect(await idsBy(client, filter)).toEqual(ids)
  })

  readingTest('selects by references, and by ids of other lists', async ({ client }) => {
    const enrolled = (filter: string) => idsBy(client, filter, '/enrollments', 'enrollments')
    expect(await enrolled("class.sourcedId='BIO' AND role='student'")).toEqual([
      'BIO:u1:student',
      'BIO:u3:student',
    ])
    expect(await enrolled("user.sourcedId='u1'")).toEqual(['BIO:u1:student', 'OLD:u1:student'])
    expect(await enrolled("sourcedId='BIO:u2:teacher'")).toEqual(['BIO:u2:teacher'])
    expect(await idsBy(client, "terms.sourcedId='T1'", '/classes', 'classes')).toEqual(['BIO', 'OLD'])
    expect(await idsBy(client, "title~'art'", '/courses', 'courses')).toEqual(['ART'])
  })

  readingTest.for([
    ["colour='red'", 'invalid_filter_field'],
    ['email', 'invalid_filter_field'],
    ["email='a' AND", 'invalid_filter_field'],
    ["email='a' XOR email='b'", 'invalid_filter_field'],
    ['email=a', 'invalid_filter_field'],
    ["email='a", 'invalid_filter_field'],
    ["email='\0'", 'invalid_filter_field'],
    ["__proto__='a'", 'invalid_filter_field'],
    ["a.b.c='a'", 'invalid_filter_field'],
    [Array.from({ length: 21 }, () => "email='a'").join(' OR '), 'invalid_filter_field'],
  ] as const)('is refused: %s', async ([filter, code], { client }) => {
    const answer = await client.get(`${rostering}/users?filter=${encodeURIComponent(filter)}`)
    expect(answer).toMatchObject({
      status: 400,
      body: { imsx_CodeMinor: { imsx_codeMinorField: [{ imsx_codeMinorFieldValue: code }] } },
    })
  })

  readingTest('binds AND closer than OR', () => {
    expect(parseFilter("a='1' AND b!='2' OR c~'3'")).toEqual([
      [
        { field: 'a', predicate: '=', value: '1' },
        { field: 'b', predicate: '!=', value: '2' },
      ],
      [{ field: 'c', predicate: '~', value: '3' }],
    ])
  })
})

describe('a page', () => {
  test('begins at the offset, and leads to the others', async ({ admin, client }) => {
    await addMany(admin, 20)
    const seen: unknown[] = []
    let next = `${rostering}/users?limit=7`
    for (let count = 0; count < 10 && next !== ''; count += 1) {
      const answer = await client.get(next)
      expect(answer.headers.get('x-total-count')).toBe('24')
      seen.push(...valuesOf(answer, 'users'))
      const link = answer.headers.get('link') ?? ''
      expect(link).toContain('limit=7&offset=21>; rel="last"')
      const [, url = ''] = /<([^>]*)>; rel="next"/.exec(link) ?? []
      next = url === '' ? '' : url.slice('http://localhost'.length)
    }
    expect(seen).toHaveLength(24)
    expect(new Set(seen).size).toBe(24)
    const page = (query: string) => client.get(`${rostering}/users?${query}`)
    expect(valuesOf(await page('offset=3&limit=4'), 'users')).toEqual(seen.slice(3, 7))
    expect(valuesOf(await page('offset=20'), 'users')).toEqual(seen.slice(20))
    expect(valuesOf(await page('offset=10000000&limit=5000'), 'users')).toEqual([])
    expect(valuesOf(await page('limit=10000'), 'users')).toEqual(seen)
  })

  test('with an offset counts only what the filter leaves', async ({ admin, client }) => {
    await addMany(admin, 12)
    const filter = `filter=${encodeURIComponent("familyName='many'")}`
    const all = valuesOf(await client.get(`${rostering}/users?${filter}`), 'users')
    expect(all).toHaveLength(12)
    const pages: unknown[] = []
    for (const offset of [0, 5, 10]) {
      pages.push(
        ...valuesOf(await client.get(`${rostering}/users?${filter}&limit=5&offset=${offset}`), 'users'),
      )
    }
    expect(pages).toEqual(all)
    expect(valuesOf(await client.get(`${rostering}/users?${filter}&limit=5&offset=7`), 'users')).toEqual(
      all.slice(7, 12),
    )
  })

  test('goes from one table into the next', async ({ admin, client }) => {
    await admin.delete('/v1/courses/ext:OLD?force=true')
    for (const [path, plural] of [
      ['/classes', 'classes'],
      ['/enrollments', 'enrollments'],
      ['/academicSessions', 'academicSessions'],
    ] as const) {
      const all = valuesOf(await client.get(`${rostering}${path}`), plural)
      const each: unknown[] = []
      for (const offset of all.keys()) {
        each.push(...valuesOf(await client.get(`${rostering}${path}?limit=1&offset=${offset}`), plural))
      }
      expect(each, path).toEqual(all)
    }
  })

  test('goes on after its last record, though records come and go in between', async ({ admin, client }) => {
    await addMany(admin, 6)
    const first = valuesOf(await client.get(`${rostering}/students?limit=4`), 'users')
    await admin.delete(`/v1/users/ext:${first[0]}`)
    const second = valuesOf(await client.get(`${rostering}/students?limit=100&offset=4`), 'users')
    expect(second).toEqual(expect.arrayContaining(['m05']))
    expect(first.filter((id) => second.includes(id)).length).toBeLessThanOrEqual(1)
  })

  readingTest.for([
    'limit=0',
    'limit=-1',
    'limit=10001',
    'limit=x',
    'offset=-1',
    'offset=1e3',
    'sort=colour',
    'orderBy=up&sort=email',
    'fields=colour',
  ])('is refused: %s', async (query, { client }) => {
    expect(await client.get(`${rostering}/users?${query}`)).toMatchObject({
      status: 400,
      body: {
        imsx_CodeMinor: { imsx_codeMinorField: [{ imsx_codeMinorFieldValue: 'invalid_selection_field' }] },
      },
    })
  })
})

readingTest('lists are sorted by any field, also one without an index', async ({ client }) => {
  const sorted = async (query: string, path = '/users', plural = 'users') =>
    valuesOf(await client.get(`${rostering}${path}?${query}`), plural)
  expect(await sorted('sort=email')).toEqual(['u1', 'u2', 'u3', 'u4'])
  expect(await sorted('sort=email&orderBy=desc')).toEqual(['u4', 'u3', 'u2', 'u1'])
  expect(await sorted('sort=email&orderBy=desc&limit=2&offset=1')).toEqual(['u3', 'u2'])
  expect(await sorted('sort=givenName')).toEqual(['u3', 'u1', 'u2', 'u4'])
  expect(await sorted('sort=title&orderBy=desc', '/classes', 'classes')).toEqual(['OLD', 'BIO', 'ART'])
  expect(await sorted("sort=title&filter=status='active'", '/classes', 'classes')).toEqual([
    'ART',
    'BIO',
    'OLD',
  ])
  expect(await sorted('sort=startDate', '/academicSessions', 'academicSessions')).toEqual([
    'T2',
    'no-term',
    'T1',
  ])
  expect(await sorted('sort=dateLastModified&limit=2&offset=2', '/enrollments', 'enrollments')).toHaveLength(
    2,
  )
})

readingTest('fields are those that are asked for', async ({ client }) => {
  const { body } = await client.get(`${rostering}/users?fields=sourcedId,email&limit=1`)
  expect(body.users).toEqual([{ sourcedId: expect.any(String), email: expect.any(String) }])
  const { body: one } = await client.get(`${rostering}/users/u1?fields=givenName`)
  expect(one).toEqual({ user: { givenName: 'Ada' } })
})
