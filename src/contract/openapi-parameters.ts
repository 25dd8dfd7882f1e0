import { operations } from './index.ts'
import type { Operation } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

const pathParameters: Readonly<Record<string, string>> = {
  courseId: 'Course: id or ext:<externalId>',
  version: 'Version number',
  lessonId: 'Lesson: id or ext:<externalId>',
  userId: 'User: id, ext:<externalId> or email:<address>',
  learnerId: 'Learner: id, ext:<externalId> or email:<address>',
  enrollmentId: 'Id of the enrolment',
  keyId: 'Id of the API key',
  clientId: 'Client id of the OAuth application',
  grantId: 'Id of the grant',
}

/** What can be updated has a version. */
function hasVersions(path: string): boolean {
  return operations.some((operation) => operation.path === path && operation.method === 'PUT')
}

/** The JSON schema of a query, as far as its parameters need it. */
export interface QuerySchema {
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
}

/** The parameters of an operation as OpenAPI's Parameter Objects (OpenAPI 3.1.0 §4.8.12). */
export function parametersOf({ path, method, lenient }: Operation, query: QuerySchema = {}): Json[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      description: pathParameters[name],
      schema: { type: 'string' },
    })),
    ...Object.entries(query.properties ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      description,
      // A comma-separated list, as `style` and `explode` say it.
      ...(schema['type'] === 'array' && { style: 'form', explode: false }),
      schema,
    })),
    ...(method === 'POST'
      ? [header('Idempotency-Key', 'Key that makes the request safe to repeat for 24 hours')]
      : []),
    ...(hasVersions(path) && ['PUT', 'DELETE'].includes(method)
      ? [
          header(
            'If-Match',
            'Fail with 412 unless this is the current version, such as "3" (with the quotes)',
          ),
        ]
      : []),
    ...(lenient === undefined ? [] : [header('Prefer', lenient)]),
  ]
}

function header(name: string, description: string): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}
