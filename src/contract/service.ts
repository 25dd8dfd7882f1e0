import * as z from 'zod'
import { field, named, shown } from './fields.ts'
import { everyone, operationsOf } from './operation.ts'
import { Time } from './values.ts'

const State = named(
  'Health',
  'The state of the server',
  shown(() => ({
    status: field(z.literal('ok'), 'Always ok'),
    version: field(z.string(), 'Version of the server'),
    time: field(Time, 'Current time of the server'),
  })),
)

/** These operations need no credential. */
export const service = operationsOf('service', {
  health: {
    at: 'GET /health',
    summary: 'Check that the server is up',
    scope: null,
    uncounted: true,
    roles: everyone,
    response: State,
  },
  ready: {
    at: 'GET /ready',
    summary: 'Check that the server can take requests',
    scope: null,
    uncounted: true,
    roles: everyone,
    response: State,
  },
  openapi: {
    at: 'GET /v1/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    scope: null,
    roles: everyone,
    response: named('OpenApiDocument', 'An OpenAPI 3.1 document', z.record(z.string(), z.unknown())),
  },
})
