import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type ApiError, createClient } from '../../src/client/client.ts'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'
import type { Schema } from '../../src/contract/openapi/schemas.ts'
import { ownReplies } from './harness.ts'

const refusal = {
  type: 'about:blank',
  status: 422,
  code: 'validation_failed',
  detail: 'The body is invalid',
  requestId: 'req_1',
  errors: [{ pointer: '/email', code: 'taken', detail: 'ada@example.org is taken' }],
}
const headers = { 'content-type': 'application/problem+json', 'set-cookie': 'session=secret' }

function clientThatReceives(status: number, body: object) {
  const transport = async () => ({ status, headers, body: JSON.stringify(body) })
  return createClient({ baseUrl: 'https://academy.example', transport })
}

test('each named schema of openapi.json has a type of its name', () => {
  const text = readFileSync(new URL('../../src/client/resources.ts', import.meta.url), 'utf8')
  const { schemas } = openapiOf()['components'] as { readonly schemas: Readonly<Record<string, Schema>> }
  const isExported = (name: string) => new RegExp(`export type (${name} |\\{[^}]*\\b${name}\\b)`).test(text)
  const records = Object.keys(schemas).filter((name) => 'properties' in (schemas[name] ?? {}))
  // Pages and batches are lists of what has a name.
  expect(records.filter((name) => !isExported(name) && !/(Page|Batch|Problem|Fault)$/.test(name))).toEqual([])
})

describe('a printed error', () => {
  const client = clientThatReceives(422, refusal)

  test('shows the request, the code and the faults once', async () => {
    const error: ApiError = await client.users.create({ email: 'ada@example.org' }).catch((thrown) => thrown)
    const printed = inspect(error)
    expect(printed).toContain('ApiError: The body is invalid')
    expect(printed).toContain("url: 'https://academy.example/v1/users'")
    expect(printed).toContain("code: 'validation_failed'")
    expect(printed.split('is taken')).toHaveLength(2)
  })

  test('keeps the response out of logs, for programs that ask', async () => {
    const error: ApiError = await client.users.create({ email: 'ada@example.org' }).catch((thrown) => thrown)
    expect(inspect(error) + JSON.stringify(error)).not.toContain('session=secret')
    expect(error.answer.headers).toEqual(headers)
    expect(error.problem).toEqual(refusal)
  })
})

test('the records of a list come one after another, whatever pages they are on', async () => {
  const transport = ownReplies(async ({ url }) => {
    const isLast = new URL(url).searchParams.get('cursor') === 'next'
    const page = isLast
      ? { data: [{ id: 'b' }], nextCursor: null }
      : { data: [{ id: 'a' }], nextCursor: 'next' }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(page) }
  })
  const { users, progress } = createClient({ baseUrl: 'https://academy.example', transport })
  const ids = async (all: AsyncIterable<unknown>) =>
    Array.fromAsync(all, (each) => (each as { id: string }).id)
  expect(await ids(users.all({ role: 'learner' }))).toEqual(['a', 'b'])
  expect(await ids(users.list.all({ role: 'learner' }))).toEqual(['a', 'b'])
  expect(await ids(progress.all.all())).toEqual(['a', 'b'])
  expect(await ids(progress.list.all('ext:a'))).toEqual(['a', 'b'])
})
