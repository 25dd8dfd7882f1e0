import { expect, test } from 'vitest'
import type { CallerOptions } from '../../src/client/caller.ts'
import { courses } from '../../src/contract/courses.ts'
import { scriptedTransport, testCaller } from './harness.ts'

const unauthorized = () => Response.json({ code: 'token_expired', detail: 'too old' }, { status: 401 })
const one = () => Response.json({ id: 'crs_1' })

/** A caller with these responses and a scripted token refresh; `asked` are the refused tokens. */
function refreshing(
  answers: readonly Response[],
  next: () => Promise<string | null>,
  more: Partial<CallerOptions> = {},
) {
  const asked: string[] = []
  const { transport, requests } = scriptedTransport(...answers)
  const { caller } = testCaller({
    transport,
    authorization: async () => 'Bearer old',
    reauthorization: async (refused) => {
      asked.push(refused)
      return next()
    },
    newIdempotencyKey: () => 'key',
    ...more,
  })
  return { caller, asked, bearers: () => requests.map(({ headers }) => headers['authorization']), requests }
}

const get = { params: { courseId: 'crs_1' } }

test('a 401 is answered by the same request with another credential', async () => {
  const { caller, asked, requests, bearers } = refreshing([unauthorized(), one()], async () => 'Bearer new')
  const { data } = await caller.call(courses.create, { body: { title: 'Go' } })
  expect(data).toEqual({ id: 'crs_1' })
  expect(asked).toEqual(['Bearer old'])
  expect(bearers()).toEqual(['Bearer old', 'Bearer new'])
  const [first, second] = requests.map(({ signal: _, headers, ...rest }) => ({
    ...rest,
    headers: { ...headers, authorization: '' },
  }))
  expect(second).toEqual(first)
  expect(second?.headers).toMatchObject({ 'idempotency-key': '"key"' })
})

test('a credential is refreshed once for a request, whatever else it meets', async () => {
  const busy = new Response(null, { status: 503 })
  const answers = [unauthorized(), busy, unauthorized()]
  const { caller, asked, bearers } = refreshing(answers, async () => 'Bearer new')
  await expect(caller.call(courses.get, get)).rejects.toMatchObject({ status: 401 })
  expect(asked).toHaveLength(1)
  expect(bearers()).toEqual(['Bearer old', 'Bearer new', 'Bearer old'])
})

test('a 401 is the error where there is no other credential', async () => {
  const { caller, requests } = refreshing([unauthorized()], async () => null)
  await expect(caller.call(courses.get, get)).rejects.toMatchObject({ status: 401 })
  expect(requests).toHaveLength(1)
})

test('a failed refresh is the error, and is not retried', async () => {
  const fault = new Error('no luck')
  const { caller, asked } = refreshing([unauthorized()], () => Promise.reject(fault))
  await expect(caller.call(courses.create, { body: { title: 'Go' } })).rejects.toBe(fault)
  expect(asked).toHaveLength(1)
})

test('a credential that is the request’s own is never replaced', async () => {
  const { caller, asked } = refreshing([unauthorized()], async () => 'Bearer new')
  const own = { method: 'GET', path: '/v1/courses', headers: { Authorization: 'Basic x' } }
  await expect(caller.send(own)).rejects.toMatchObject({ status: 401 })
  expect(asked).toEqual([])
})

test('no other refusal has anything refreshed', async () => {
  const answers = [403, 400, 404].map((status) => Response.json({ code: 'forbidden' }, { status }))
  const { caller, asked } = refreshing(answers, async () => 'Bearer new')
  for (const status of [403, 400, 404]) {
    await expect(caller.call(courses.list)).rejects.toMatchObject({ status })
  }
  expect(asked).toEqual([])
})
