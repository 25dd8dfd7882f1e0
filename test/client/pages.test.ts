import { expect, test } from 'vitest'
import { courses } from '../../src/contract/courses.ts'
import { scriptedTransport, testCaller } from './harness.ts'

const linked = (rows: unknown[], link: string) => Response.json(rows, { headers: { link } })

async function walk(...answers: Response[]) {
  const { transport, requests } = scriptedTransport(...answers)
  const pages: unknown[][] = []
  const { caller } = testCaller({ transport })
  for await (const page of caller.pages(courses.list, { query: { q: 'a b', limit: 2 } }))
    pages.push([...page.data])
  return { pages, urls: requests.map(({ url }) => url.replace('https://academy.example', '')) }
}

test('pages follow nextCursor and keep the query', async () => {
  const { pages, urls } = await walk(
    Response.json({ data: [1, 2], nextCursor: 'c+1/=' }),
    Response.json({ data: [3], nextCursor: null }),
  )
  expect(pages).toEqual([[1, 2], [3]])
  expect(urls[0]).toBe('/v1/courses?q=a%20b&limit=2')
  expect(Object.fromEntries(new URL(`https://x${urls[1]}`).searchParams)).toEqual({
    q: 'a b',
    limit: '2',
    cursor: 'c+1/=',
  })
})

test.each([
  '</v1/courses?page=2>; rel="next"',
  '<?page=2>; title="a, <b>; rel=prev"; rel=NEXT',
  '</v1/courses?page=1>; rel="prev", <https://academy.example/v1/courses?page=2>; rel="last next"',
])('pages follow the link %s', async (link) => {
  const { pages, urls } = await walk(linked([1], link), linked([2], '</v1/courses?page=1>; rel=prev'))
  expect(pages).toEqual([[1], [2]])
  expect(urls[1]).toBe('/v1/courses?page=2')
})

test('nextCursor counts for more than a link', async () => {
  const first = Response.json(
    { data: [1], nextCursor: 'c' },
    { headers: { link: '</v1/courses?page=9>; rel=next' } },
  )
  const { urls } = await walk(first, Response.json({ data: [], nextCursor: null }))
  expect(urls[1]).toBe('/v1/courses?q=a+b&limit=2&cursor=c')
})

test.each([
  ['a cursor', () => Response.json({ data: [1], nextCursor: 'same' })],
  ['a link', () => linked([1], '</v1/courses?page=2>; rel=next')],
])('%s that repeats ends the walk with an error instead of going round for ever', async (_, answer) => {
  await expect(walk(answer(), answer(), answer())).rejects.toMatchObject({
    name: 'ProtocolError',
    code: 'cursor_repeated',
  })
})

test('a page is asked for only when it is wanted', async () => {
  const { transport, requests } = scriptedTransport(Response.json({ data: [1, 2], nextCursor: 'c' }))
  for await (const page of testCaller({ transport }).caller.pages(courses.list)) {
    expect(page).toMatchObject({ more: true, around: { data: [1, 2], nextCursor: 'c' } })
    break
  }
  expect(requests).toHaveLength(1)
})

test('a page that fails is asked for again without starting over', async () => {
  const { pages, urls } = await walk(
    Response.json({ data: [1], nextCursor: 'c' }),
    new Response(null, { status: 503 }),
    Response.json({ data: [2], nextCursor: null }),
  )
  expect(pages).toEqual([[1], [2]])
  expect(urls[2]).toBe(urls[1])
})
