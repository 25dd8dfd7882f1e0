import { expect, test } from 'vitest'
import { courses } from '../../src/contract/courses.ts'
import { scriptedTransport, testCaller } from './harness.ts'

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

test('a cursor that repeats ends the walk with an error instead of going round for ever', async () => {
  const answer = () => Response.json({ data: [1], nextCursor: 'same' })
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
