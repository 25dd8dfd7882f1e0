import type { Operation } from '../operation.ts'
import { confirmsStrict } from './parameters.ts'

type Json = Readonly<Record<string, unknown>>

const text = (maxLength: number) => ({ type: 'string', maxLength })
const seconds = { type: 'integer', format: 'int32', minimum: 1, maximum: 86_400 }

/** OpenAPI's Header Objects (OpenAPI 3.1.0 §4.8.21). */
export const headers = {
  'X-Request-Id': {
    description: 'Id of the request, as in the server log',
    schema: text(64),
    example: 'req_0mwpgw4xq2a5fb5ed9a9c3c519171',
  },
  RateLimit: {
    description:
      'Remaining rate limit: r requests are left, more are available in t seconds (draft-ietf-httpapi-ratelimit-headers-10). Absent if there is no limit',
    schema: text(128),
    example: '"default";r=599;t=1',
  },
  'RateLimit-Policy': {
    description: 'The rate limit: q requests in w seconds. Absent if there is none',
    schema: text(128),
    example: '"default";q=600;w=60',
  },
  ETag: {
    description:
      'Entity tag of the response. For a record it is the version, in quotes: send it as If-Match or If-None-Match',
    schema: text(128),
    example: '"3"',
  },
  Location: {
    description: 'Path of the new record',
    schema: { type: 'string', format: 'uri-reference', maxLength: 2048 },
  },
  Link: {
    description: 'Address of the next page as <…>; rel="next" (RFC 8288); absent on the last page',
    schema: text(8192),
  },
  'Preference-Applied': {
    description: 'The preference that was applied (RFC 7240); absent if none was',
    schema: { type: 'string', enum: ['handling=strict', 'handling=lenient'] },
  },
  'Idempotent-Replayed': {
    description:
      'true if this is the response to an earlier request with the same Idempotency-Key; otherwise absent',
    schema: { type: 'string', enum: ['true'] },
  },
  Unchanged: {
    description:
      'true if the record was as requested already, so that it keeps its version; otherwise absent',
    schema: { type: 'string', enum: ['true'] },
  },
  'Content-Disposition': {
    description: 'File name of CSV and NDJSON',
    schema: text(512),
  },
  'WWW-Authenticate': {
    description:
      'The required credential, what is wrong with the one that was sent (RFC 6750), and the address of the metadata for obtaining one (RFC 9728)',
    schema: text(512),
    example:
      'Bearer realm="learnctl", resource_metadata="https://academy.example.org/.well-known/oauth-protected-resource"',
  },
  'Retry-After': {
    description: 'Number of seconds to wait before the next attempt',
    schema: seconds,
    example: 12,
  },
} as const

export type HeaderName = keyof typeof headers

export function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

export const everyHeader = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
] as const satisfies readonly HeaderName[]

export function successHeaders(operation: Operation, isTagged: boolean): HeaderName[] {
  const { status, list, media, method, lenient } = operation
  return [
    ...everyHeader,
    ...(isTagged ? (['ETag'] as const) : []),
    ...(status === 201 ? (['Location'] as const) : []),
    ...(list ? (['Link'] as const) : []),
    ...(method === 'PUT' ? (['Unchanged'] as const) : []),
    ...(method === 'POST' ? (['Idempotent-Replayed'] as const) : []),
    ...(lenient || confirmsStrict(operation) ? (['Preference-Applied'] as const) : []),
    ...(media ? (['Content-Disposition'] as const) : []),
  ]
}
