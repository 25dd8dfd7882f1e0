import * as z from 'zod'
import { Time } from './field.ts'
import { field, named, shown } from './fields.ts'
import { everyone, operation } from './operation.ts'

const State = named(
  'Health',
  'The state of the server',
  shown(() => ({
    status: field(z.literal('ok'), 'Always ok'),
    version: field(z.string(), 'Version of the server'),
    time: field(Time, 'Current time of the server'),
  })),
)

/** The service itself, without a credential. */
export const service = {
  health: operation({
    id: 'service.health',
    method: 'GET',
    path: '/health',
    summary: 'Check that the server is up',
    published: false,
    scope: null,
    uncounted: true,
    roles: everyone,
    response: State,
    status: 200,
  }),
  ready: operation({
    id: 'service.ready',
    method: 'GET',
    path: '/ready',
    summary: 'Check that the server can take requests',
    published: false,
    scope: null,
    uncounted: true,
    roles: everyone,
    response: State,
    status: 200,
  }),
  openapi: operation({
    id: 'service.openapi',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    published: false,
    scope: null,
    roles: everyone,
    response: named('OpenApiDocument', 'An OpenAPI 3.1 document', z.record(z.string(), z.unknown())),
    status: 200,
  }),
}
