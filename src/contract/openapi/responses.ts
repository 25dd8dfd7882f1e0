import { type ErrorCode, type ErrorStatus, phraseOf, statusOf, whenOf } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { problemExamples } from './examples.ts'
import { confirmsStrict } from './parameters.ts'
import { type Schema, shownOf, type Words } from './schemas.ts'

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

const codes = Object.keys(statusOf) as ErrorCode[]
const statuses = Object.keys(phraseOf).map(Number) as ErrorStatus[]

function codesOf(status: ErrorStatus): ErrorCode[] {
  return codes.filter((code) => statusOf[code] === status)
}

/** Returns the component name, such as `UnprocessableContent`. */
function nameOf(status: ErrorStatus): string {
  return phraseOf[status].replaceAll(' ', '')
}

const moreHeaders: Readonly<Partial<Record<ErrorStatus, readonly HeaderName[]>>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** No operation has 405, and each describes its own 409. */
const apart: readonly ErrorStatus[] = [405, 409]

/** Under `components/examples`. */
export const problemExampleComponents: Json = Object.fromEntries(
  codes
    .filter((code) => statusOf[code] !== 405)
    .map((code) => [code, { summary: whenOf[code], value: problemExamples[code] }]),
)

/** By status, under `components/responses`. */
export const problemResponses: Json = Object.fromEntries(
  statuses
    .filter((status) => !apart.includes(status))
    .map((status) => [nameOf(status), problemResponse(status, codesOf(status))]),
)

function problemResponse(status: ErrorStatus, possible: readonly ErrorCode[]): Json {
  const list = possible.map((code) => `- \`${code}\`: ${whenOf[code]}`).join('\n')
  return {
    description: `${phraseOf[status]}\n\n${list}`,
    headers: headersOf([...everyHeader, ...(moreHeaders[status] ?? [])]),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(
          possible.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
        ),
      },
    },
  }
}

export function refusalsWith(refused: readonly ErrorStatus[]): Json {
  return Object.fromEntries(
    refused.map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status)}` }]),
  )
}

export function refusalsOf(operation: Operation, { hasIfMatch }: { hasIfMatch: boolean }): Json {
  const { id, method, path, scope, body } = operation
  const guarded = scope !== null
  const own = problemCodes[id] ?? []
  const can: Readonly<Record<ErrorStatus, boolean>> = {
    400: true,
    401: guarded,
    403: guarded,
    404: path.includes('{') || own.includes('not_found'),
    405: false,
    408: method !== 'GET',
    409: own.some((code) => statusOf[code] === 409),
    412: hasIfMatch,
    413: method !== 'GET',
    414: true,
    415: body !== undefined,
    421: true,
    422: body !== undefined || method === 'POST',
    429: true,
    431: true,
    500: true,
    503: true,
  }
  return Object.fromEntries(
    statuses
      .filter((status) => can[status])
      .map((status) => {
        const mine = own.filter((code) => statusOf[code] === status)
        return [
          String(status),
          status === 409
            ? problemResponse(status, mine)
            : { $ref: `#/components/responses/${nameOf(status)}` },
        ]
      }),
  )
}

const short = { type: 'string', maxLength: 64 } as const
const path = { type: 'string', maxLength: 8192 } as const
const positive = { type: 'integer', minimum: 1 } as const

const problem: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { type: 'string', enum: Object.values(phraseOf) },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: path,
    code: { type: 'string', enum: codes },
    requestId: short,
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: { pointer: path, parameter: path, code: short, detail: { type: 'string' } },
      },
    },
    moreErrors: positive,
    id: short,
    existingStatus: short,
    reason: short,
    current: { anyOf: ['Progress', 'Grade'].map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    lease: { $ref: '#/components/schemas/Lease' },
    time: { type: 'string', format: 'date-time' },
    version: positive,
    scope: { type: 'string', enum: ['read', 'write', 'admin'] },
    from: short,
    to: short,
    allowed: { type: 'array', maxItems: 10, items: short },
  },
}

/** By operation, besides those that follow from its parameters and body. */
export const problemCodes: Readonly<Record<string, readonly ErrorCode[]>> = {
  'courses.list': ['not_found'],
  'courses.create': ['not_found', 'duplicate', 'invalid_transition'],
  'courses.update': ['not_found', 'duplicate', 'invalid_transition', 'course_archived', 'has_progress'],
  'courses.delete': ['has_progress', 'has_lessons'],
  'courses.restore': ['course_archived'],
  'lessons.list': ['not_found'],
  'lessons.create': ['not_found', 'duplicate', 'course_archived'],
  'lessons.update': ['duplicate', 'course_archived'],
  'lessons.delete': ['course_archived'],
  'lessons.restore': ['course_archived'],
  'lessons.listDeleted': ['not_found'],
  'lessons.restoreDeleted': ['course_archived', 'course_deleted'],
  'users.list': ['not_found'],
  'users.create': ['duplicate'],
  'users.update': ['duplicate', 'last_admin'],
  'users.delete': ['last_admin'],
  'users.updateProfile': ['duplicate'],
  'terms.create': ['duplicate'],
  'terms.update': ['duplicate'],
  'terms.delete': ['has_courses'],
  'enrollments.list': ['not_found'],
  'enrollments.create': ['not_found', 'duplicate', 'course_archived', 'user_inactive'],
  'enrollments.update': ['course_archived', 'user_inactive'],
  'enrollments.delete': ['course_archived'],
  'groups.list': ['not_found'],
  'groups.create': ['not_found', 'duplicate'],
  'groups.update': ['duplicate'],
  'groups.listDeleted': ['not_found'],
  'groups.restoreDeleted': ['course_deleted'],
  'groups.members': ['not_found'],
  'groups.memberships': ['not_found'],
  'progress.all': ['not_found'],
  'progress.steps': ['not_found'],
  'progress.set': [
    'stale_progress',
    'course_archived',
    'progress_disabled',
    'enrollment_inactive',
    'user_inactive',
  ],
  'grades.list': ['not_found'],
  'integrations.set': ['encryption_unavailable'],
  'integrations.records': ['invalid_cursor', 'other_system_refused', 'encryption_unavailable'],
  'integrations.write': ['other_system_refused', 'encryption_unavailable'],
  'integrations.map': ['not_found'],
  'integrations.mappings': ['not_found'],
  'grades.set': ['not_found', 'stale_grade', 'course_archived', 'enrollment_inactive', 'user_inactive'],
  'grades.delete': ['course_archived'],
  'analytics.learners': ['not_found'],
  'analytics.atRisk': ['not_found'],
  'analytics.activity': ['not_found'],
  'analytics.grades': ['not_found'],
  'analytics.changes': ['invalid_cursor', 'changes_gone'],
  'analytics.report': ['not_found'],
  'analytics.statements': ['not_found'],
  'analytics.backfill': ['not_found', 'endpoint_disabled'],
  'calendars.list': ['not_found'],
  'calendars.create': ['not_found', 'limit_reached'],
  'keys.list': ['not_found'],
  'keys.create': ['not_found', 'user_inactive', 'limit_reached'],
  'grants.list': ['not_found'],
  'endpoints.create': ['not_found', 'limit_reached', 'encryption_unavailable'],
  'endpoints.rotate': ['encryption_unavailable'],
  'endpoints.test': ['endpoint_disabled'],
  'leases.take': ['apply_in_progress'],
  'changes.list': ['not_found'],
  'changes.create': ['not_found'],
  'plans.addSteps': ['limit_reached', 'plan_outdated'],
  'plans.carryOut': ['plan_outdated'],
  'undo.plan': ['too_old', 'limit_reached'],
  'undo.carryOut': ['too_old', 'limit_reached', 'plan_outdated'],
  'messages.resend': ['endpoint_disabled'],
}

export const problemWords: Words = {
  '': 'An error, as problem details (RFC 9457). Some codes have members of their own',
  type: 'Always about:blank: the status says what kind of problem it is',
  title: 'Name of the HTTP status',
  status: 'HTTP status',
  detail: 'What went wrong, as a sentence',
  instance: 'Path of the request',
  code: 'Error code, for programs',
  requestId: 'Id of the request, as in X-Request-Id and in the server log',
  id: 'With duplicate and enrollment_inactive: id of the conflicting record, if the caller can see it',
  lease: 'With apply_in_progress: the lease that another apply holds',
  time: 'With apply_in_progress: the time of the server, for comparison with the times of the lease',
  existingStatus: 'With duplicate: status of that record',
  current: 'With stale_progress: the progress that is stored',
  version: 'With precondition_failed: the current version',
  reason: 'With other_system_refused: token, permission or answer',
  scope: 'With insufficient_scope: the scope that is required',
  from: 'With invalid_transition: the current status',
  to: 'With invalid_transition: the requested status',
  allowed: 'With invalid_transition: the allowed statuses',
  errors: 'The problems found in the request, at most 100',
  moreErrors: 'Number of further problems; absent if there are none',
  'errors.pointer': 'JSON Pointer to the field of the body (RFC 6901), such as #/title',
  'errors.parameter': 'Name of the query parameter or header',
  'errors.code': 'Code of the problem, for programs',
  'errors.detail': 'What is wrong there, continuing its name',
}

/** Under `components/schemas`. */
export const problemSchema = shownOf(problem, problemWords)
