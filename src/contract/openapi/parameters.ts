import { lmsKinds, maxPlannedSteps } from '../constants.ts'
import { operations } from '../index.ts'
import type { Operation } from '../operation.ts'
import type { OperationExample } from './examples.ts'
import { inInt32, type Schema } from './schemas.ts'

type Json = Readonly<Record<string, unknown>>

const reference = { type: 'string', minLength: 1, maxLength: 512 }
const id = { type: 'string', minLength: 1, maxLength: 64 }

const pathParameters: Readonly<Record<string, { description: string; schema: Json }>> = {
  courseId: { description: 'Course: id or ext:<externalId>', schema: reference },
  version: {
    description: 'Version number',
    schema: inInt32({ type: 'integer', minimum: 1 }),
  },
  lessonId: { description: 'Lesson: id or ext:<externalId>', schema: reference },
  deletedCourseId: { description: 'Deleted course: id or ext:<externalId>', schema: reference },
  deletedGroupId: { description: 'Deleted group: id or ext:<externalId>', schema: reference },
  deletedLessonId: { description: 'Deleted lesson: id or ext:<externalId>', schema: reference },
  userId: { description: 'User: id, ext:<externalId> or email:<address>', schema: reference },
  learnerId: { description: 'Learner: id, ext:<externalId> or email:<address>', schema: reference },
  termId: { description: 'Term: id, ext:<externalId> or a name that no other term has', schema: reference },
  enrollmentId: { description: 'Id of the enrolment', schema: id },
  groupId: { description: 'Group: id or ext:<externalId>', schema: reference },
  gradeId: { description: 'Id of the grade', schema: id },
  calendarId: { description: 'Id of the calendar', schema: id },
  keyId: { description: 'Id of the API key', schema: id },
  clientId: { description: 'Client id of the OAuth application', schema: id },
  lmsKind: {
    description: 'Kind of the other system',
    schema: { type: 'string', enum: [...lmsKinds] },
  },
  leaseId: { description: 'Id of the lease, as its client chose it', schema: id },
  mappingId: { description: 'Id of the mapping', schema: id },
  grantId: { description: 'Id of the grant', schema: id },
  endpointId: { description: 'Id of the webhook endpoint', schema: id },
  changeId: { description: 'Id of the change', schema: id },
  planId: { description: 'Id of the plan', schema: id },
  stepNumber: {
    description: 'Number of the first of these steps, from 0',
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: maxPlannedSteps },
  },
  entryId: { description: 'Id of the audit entry', schema: id },
  deliveryId: { description: 'Id of the webhook delivery', schema: id },
  messageId: { description: 'Id of the webhook message', schema: id },
}

/** Paths with a PUT but no version. */
const unversioned: readonly string[] = [
  '/v1/apply-lease',
  '/v1/groups/{groupId}/members/{userId}',
  '/v1/plans/{planId}/steps/{stepNumber}',
]

/** It changes a record that can be updated, or restores one. */
export function takesIfMatch({ path, method }: Operation): boolean {
  const hasVersions = operations.some((operation) => operation.path === path && operation.method === 'PUT')
  if (method === 'POST') return path.endsWith('/restore')
  return method !== 'GET' && hasVersions && !unversioned.includes(path)
}

/** True if a request of an operation can belong to a change of many records. */
function takesChange({ id, scope, method }: Operation): boolean {
  return method !== 'GET' && scope !== null && !/^(changes|leases|plans)\./.test(id)
}

/** OpenAPI's Parameter Objects (OpenAPI 3.1.0 §4.8.12). */
export function parametersOf(
  operation: Operation,
  query: Schema,
  example: OperationExample | undefined,
  { isTagged }: { isTagged: boolean },
): Json[] {
  const { path, method, lenient } = operation
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const given = example?.parameters ?? {}
  const required = Array.isArray(query['required']) ? query['required'] : []
  return [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      ...pathParameters[name],
      ...(given[name] !== undefined && { example: parseExample(given[name], pathParameters[name]?.schema) }),
    })),
    ...Object.entries(query.properties ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      description,
      // A comma-separated list.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      schema,
      ...(given[name] !== undefined && { example: parseExample(given[name], schema) }),
    })),
    ...(method === 'POST'
      ? [
          header(
            'Idempotency-Key',
            'Makes the request safe to repeat for 24 hours: 1–255 printable characters, in quotes',
            '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
          ),
        ]
      : []),
    ...(takesChange(operation)
      ? [
          header(
            'Change-Id',
            'Id of the running change of many records that the request belongs to',
            'chg_0mmtl9vk0a1b2c3d4e5f60718293a',
          ),
          header(
            'Change-Command',
            'What makes the request, at most 100 characters: without `Change-Id`, it is a change by itself then, which can be undone',
            'courses update',
          ),
        ]
      : []),
    ...(takesIfMatch(operation)
      ? [
          header(
            'If-Match',
            'Fail with 412 unless this is the current version, such as "3" (with the quotes)',
            '"1"',
          ),
        ]
      : []),
    ...(method === 'GET' && isTagged
      ? [header('If-None-Match', 'Return 304 without a body if the ETag is still this one', '"0"')]
      : []),
    ...(lenient === undefined ? [] : [header('Prefer', lenient, 'handling=lenient')]),
    ...(confirmsStrict(operation) ? [header('Prefer', strict, 'handling=strict')] : []),
  ]
}

const strict =
  'With handling=strict, Preference-Applied confirms that everything sent was applied, which is always the case'

/** True if a client can ask for confirmation (`strict`) that a list obeyed its filters, or a write its body. */
export function confirmsStrict({ method, filters, lenient }: Operation): boolean {
  return filters !== undefined || (lenient === undefined && ['POST', 'PUT'].includes(method))
}

function header(name: string, description: string, example: string): Json {
  return {
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', maxLength: 512 },
    example,
  }
}

function parseExample(text: string, schema: Json | undefined): unknown {
  switch (schema?.['type']) {
    case 'array':
      return text.split(',')
    case 'boolean':
      return text === 'true'
    case 'integer':
    case 'number':
      return Number(text)
    default:
      return text
  }
}
