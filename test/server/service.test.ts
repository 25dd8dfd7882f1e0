import { expect, test } from 'vitest'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'
import { service } from '../../src/contract/service.ts'
import type { Call } from '../../src/server/http/handler.ts'
import { Written } from '../../src/server/http/reply.ts'
import { serviceRoutes } from '../../src/server/service.ts'

test('the OpenAPI document is written once for all requests', () => {
  const route = serviceRoutes.find(({ operation }) => operation === service.openapi)
  // The handler uses nothing of the call.
  const [first, second] = [{}, {}].map((call) => route?.handle(call as Call))
  expect(first).toBeInstanceOf(Written)
  expect(second).toBe(first)
  expect(JSON.parse((first as Written).body)).toEqual(JSON.parse(JSON.stringify(openapiOf())))
})
