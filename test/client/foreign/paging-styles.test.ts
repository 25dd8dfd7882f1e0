import { expect, test } from 'vitest'
import { courses } from '../../../src/contract/courses.ts'
import { type RailsOptions, railsPlatform } from '../../helpers/foreign-platforms/rails.ts'
import { scriptedTransport, testCaller } from '../harness.ts'

/** Reads all pages; returns the number of items of each, the requests, and the end. */
async function walk(transport: Parameters<typeof testCaller>[0] = {}, query: Record<string, unknown> = {}) {
  const counts: number[] = []
  const { caller } = testCaller(transport)
  const more: boolean[] = []
  try {
    for await (const page of caller.pages(courses.list, { query })) {
      counts.push(page.data.length)
      more.push(page.more)
    }
    return { counts, more, error: null }
  } catch (error) {
    return { counts, more, error }
  }
}

function rails(options: RailsOptions) {
  const platform = railsPlatform({ courses: 25, ...options })
  const authorization = async () => `Bearer ${platform.key}`
  return { platform, options: { baseUrl: platform.url, transport: platform.transport, authorization } }
}

const followed = [
  'numbers',
  'meta',
  'next_page_url',
  'next',
  'nextLink',
  'hasMore',
  'offset',
  'cursor',
  'header',
] as const

test.for(followed)('a list in the style of %s is followed to its end', async (paging) => {
  const { platform, options } = rails({ paging })
  const { counts, more, error } = await walk(options)
  expect(error).toBeNull()
  expect(counts).toEqual([10, 10, 5])
  expect(more).toEqual([true, true, false])
  expect(platform.requests).toHaveLength(3)
})

const items = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: from + at, title: 'x' }))
const at = (url: string) => new URL(url).search

async function script(...answers: (object | Response)[]) {
  const replies = answers.map((each) => (each instanceof Response ? each : Response.json(each)))
  const { transport, requests } = scriptedTransport(...replies)
  return { ...(await walk({ transport })), urls: requests.map(({ url }) => at(url)) }
}

test.each([
  ['an old script', { courses: items(0, 2), total: '4', start: '0', limit: '2' }, '?start=2'],
  ['Spring', { content: items(0, 2), totalElements: 4, totalPages: 2, number: 0, last: false }, '?page=1'],
  [
    'HAL',
    { _embedded: { courses: items(0, 2) }, _links: { next: { href: '/v1/courses?page=1' } } },
    '?page=1',
  ],
  [
    'mongoose-paginate',
    { docs: items(0, 2), hasNextPage: true, nextPage: 2, page: 1, totalPages: 2 },
    '?page=2',
  ],
  [
    'Ghost',
    { courses: items(0, 2), meta: { pagination: { page: 1, pages: 2, total: 4, next: 2 } } },
    '?page=2',
  ],
  ['OData', { value: items(0, 2), '@odata.nextLink': '/v1/courses?$skiptoken=2' }, '?$skiptoken=2'],
  ['Google', { courses: items(0, 2), nextPageToken: 'abc' }, '?pageToken=abc'],
  ['Slack', { courses: items(0, 2), response_metadata: { next_cursor: 'abc' } }, '?cursor=abc'],
  ['Nexus', { items: items(0, 2), continuationToken: 'abc' }, '?continuationToken=abc'],
  [
    'JSON:API',
    { data: items(0, 2), links: { next: { href: '?page%5Bnumber%5D=2' } } },
    '?page%5Bnumber%5D=2',
  ],
  ['links as a list', { courses: items(0, 2), links: [{ rel: 'next', href: '/v1/courses?p=2' }] }, '?p=2'],
  ['page, limit and total', { courses: items(0, 2), page: '1', limit: '2', total: '4' }, '?page=2'],
  ['skip', { courses: items(0, 2), skip: 0, limit: 2, total: 4 }, '?skip=2'],
  ['relay', { nodes: items(0, 2), pageInfo: { hasNextPage: true, endCursor: 'abc' } }, '?after=abc'],
  ['http behind TLS', { courses: items(0, 2), next: 'http://academy.example/v1/courses?page=2' }, '?page=2'],
])('the next page is found as %s has it', async (_, first, expected) => {
  const { urls, counts, error } = await script(first, { courses: items(2, 2) })
  expect({ error, counts, next: urls[1] }).toEqual({ error: null, counts: [2, 2], next: expected })
})

const lost = (message: string) => ({ name: 'ProtocolError', code: 'incomplete', message })

test('a list that tells its total and not the way to it ends with an error that counts', async () => {
  const { options } = rails({ paging: 'total', courses: 30 })
  const { counts, more, error } = await walk(options)
  expect(counts).toEqual([10])
  expect(more).toEqual([true])
  expect(error).toMatchObject(
    lost('rails.example returned 10 of 30 items, but not how to get the rest (GET /v1/courses)'),
  )
})

test.each([
  ['says that there is more, and no way to it', [{ courses: items(0, 2), hasMore: true }], [2]],
  [
    'ignores the page that is asked for',
    [
      { courses: items(0, 2), total: 4, pages: 2 },
      { courses: items(0, 2), total: 4, pages: 2 },
    ],
    [2],
  ],
  [
    'refuses the page that is asked for',
    [{ courses: items(0, 2), pages: 2 }, Response.json({ message: 'Unknown parameter' }, { status: 400 })],
    [2],
  ],
  [
    'ends before its total',
    [
      { courses: items(0, 2), total: 4, pages: 2 },
      { courses: items(2, 1), total: 4, pages: 2, page: 2 },
    ],
    [2, 1],
  ],
  [
    'sends an empty page before its total',
    [
      { courses: items(0, 2), total: 4, pages: 2 },
      { courses: [], total: 4, pages: 2 },
    ],
    [2, 0],
  ],
  ['tells the total in a header', [Response.json(items(0, 2), { headers: { 'x-total-count': '4' } })], [2]],
])('a platform that %s has not sent all', async (_, answers, expected) => {
  const { counts, error } = await script(...answers)
  expect(counts).toEqual(expected)
  expect(error).toMatchObject({ name: 'ProtocolError', code: 'incomplete' })
})

test.each([
  ['a full page without a hint', { courses: items(0, 20) }],
  ['a count of what came', { courses: items(0, 2), count: 2, page: 1, pages: 1, hasMore: false }],
  ['no next page', { courses: items(0, 2), total: 2, next: null, links: { next: null } }],
  ['where the last page ends', { courses: items(0, 2), pageInfo: { hasNextPage: false, endCursor: 'abc' } }],
  ['a cursor that leads nowhere', { courses: items(0, 2), has_more: false, next_cursor: 'abc' }],
])('%s is a list that is whole', async (_, body) => {
  expect(await script(body)).toMatchObject({ counts: [body.courses.length], more: [false], error: null })
})

test('the total says nothing about a walk that begins in the middle', async () => {
  const { transport } = scriptedTransport(
    Response.json({ courses: items(2, 2), total: 4, page: 2, pages: 2 }),
  )
  expect(await walk({ transport }, { page: 2 })).toMatchObject({ counts: [2], error: null })
})

test('empty pages are followed, but not without end', { tags: ['slow'] }, async () => {
  const empty = (at: number) => ({ courses: [], nextCursor: `c${at}` })
  const pages = Array.from({ length: 1010 }, (_, at) => empty(at))
  expect(await script(...pages.slice(0, 5), { courses: items(0, 1) })).toMatchObject({ error: null })
  const { counts, error } = await script(...pages)
  expect(counts).toHaveLength(1000)
  expect(error).toMatchObject({
    code: 'incomplete',
    message: 'academy.example returned 1,000 empty pages in a row (GET /v1/courses)',
  })
})

test('the same page under ever new cursors is not read for ever', async () => {
  const pages = [1, 2, 3].map((at) => ({ courses: items(0, 2), nextCursor: `c${at}` }))
  expect(await script(...pages)).toMatchObject({ counts: [2], error: { code: 'cursor_repeated' } })
})

test('an address on another host is not followed', async () => {
  const { error } = await script({
    courses: items(0, 1),
    next: 'https://elsewhere.example/v1/courses?page=2',
  })
  expect(error).toMatchObject({ name: 'ProtocolError', code: 'foreign_link' })
})
