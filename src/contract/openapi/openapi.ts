import { type Contract, operations } from '../index.ts'
import { securitySchemes } from '../oauth.ts'
import type { Operation } from '../operation.ts'
import { version } from '../version.ts'
import { operationExamples } from './examples.ts'
import { everyHeader, headers, headersOf, successHeaders } from './headers.ts'
import { inboxPath } from './inbox.ts'
import { introduction, operationWords, tagWords } from './operation-texts.ts'
import { parametersOf, takesIfMatch } from './parameters.ts'
import { problemExampleComponents, problemResponses, problemSchema, refusalsOf } from './responses.ts'
import { type DocumentSchemas, documentSchemas } from './schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** In the order of the contract. */
const tagNames: Readonly<Record<keyof Contract, string>> = {
  courses: 'Courses',
  lessons: 'Lessons',
  users: 'Users',
  terms: 'Terms',
  enrollments: 'Enrolments',
  groups: 'Groups',
  progress: 'Progress',
  grades: 'Grades',
  analytics: 'Analytics',
  calendars: 'Calendars',
  keys: 'API keys',
  apps: 'OAuth applications',
  grants: 'Grants',
  endpoints: 'Webhook endpoints',
  messages: 'Webhook messages',
  deliveries: 'Webhook deliveries',
  integrations: 'Integrations',
  audit: 'Audit log',
  changes: 'Changes',
  undo: 'Undo',
  settings: 'Settings',
  leases: 'Apply lease',
  service: 'Service',
}

/** OpenAPI 3.1; `x-published` marks the operations of the published interface. */
export function openapiOf(): Record<string, unknown> {
  const schemas = documentSchemas()
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const described = describe(operation, schemas)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'learnctl academy',
      summary: 'Courses, lessons, users and enrolments, the progress and grades of learners, and reports',
      version,
      description: introduction,
      contact: { name: 'The administrators of this academy' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '/',
        description: 'The server that this document comes from: a local academy, or one in production',
        'x-internal': false,
      },
    ],
    'x-idempotency': true,
    security: [{ bearer: [] }, { oauth2: [] }],
    tags: Object.entries(tagWords).map(([name, description]) => ({
      name,
      'x-displayName': tagNames[name as keyof Contract],
      description,
    })),
    paths: { ...paths, ...inboxPath },
    components: {
      securitySchemes,
      headers,
      examples: problemExampleComponents,
      responses: problemResponses,
      schemas: { ...schemas.components, Problem: problemSchema },
    },
  }
}

function tagOf({ id }: Operation): string {
  return id.split('.', 1)[0] ?? id
}

function describe(operation: Operation, schemas: DocumentSchemas): Json {
  const { id, summary, published, scope, body } = operation
  const example = operationExamples[id]
  const isTagged = hasTag(operation, schemas)
  return {
    operationId: id,
    summary,
    description: operationWords[id],
    tags: [tagOf(operation)],
    'x-published': published,
    ...(scope === null
      ? { security: [] }
      : {
          security: [{ bearer: [] }, { oauth2: [scope] }],
          'x-scope': scope,
          'x-roles': operation.roles,
        }),
    parameters: parametersOf(operation, schemas.queries[id] ?? {}, example, { isTagged }),
    ...(body ? { requestBody: requestBody(operation, schemas.referenceTo(body), example?.body) } : {}),
    responses: {
      ...success(operation, schemas, isTagged),
      ...refusalsOf(operation, { hasIfMatch: takesIfMatch(operation) }),
    },
  }
}

/** True if a successful response has an ETag: that of a read, or of a record with a version. */
function hasTag({ method, response }: Operation, { components, nameOf }: DocumentSchemas): boolean {
  if (method === 'GET') return true
  return response !== null && components[nameOf(response)]?.properties?.['version']?.type === 'integer'
}

function requestBody({ merge, summary }: Operation, schema: Json, value: unknown): Json {
  const types = merge ? ['application/json', 'application/merge-patch+json'] : ['application/json']
  const media = { schema, ...exampleOf(summary, value) }
  return {
    required: true,
    description: merge ? 'A merge patch (RFC 7396)' : 'The record, as JSON',
    content: Object.fromEntries(types.map((type) => [type, media])),
  }
}

const successWords = { 200: 'OK', 201: 'Created', 204: 'Done; the response has no body' } as const

function success(operation: Operation, schemas: DocumentSchemas, isTagged: boolean): Json {
  const { id, method, response, summary, status, media = [] } = operation
  const example = operationExamples[id]
  const json = response && {
    'application/json': {
      schema: schemas.referenceTo(response),
      ...exampleOf(summary, example?.response),
    },
  }
  const streamed = media.map((type) => [
    type,
    { schema: { type: 'string' }, ...exampleOf(summary, example?.media?.[type]) },
  ])
  return {
    [status]: {
      description: successWords[status],
      headers: headersOf(successHeaders(operation, isTagged)),
      ...(json && { content: { ...json, ...Object.fromEntries(streamed) } }),
    },
    ...(method === 'GET' && isTagged
      ? {
          304: {
            description: 'Not modified: the ETag is the one in If-None-Match',
            headers: headersOf([...everyHeader, 'ETag']),
          },
        }
      : {}),
  }
}

function exampleOf(summary: string, value: unknown): Json {
  return value === undefined ? {} : { examples: { example: { summary, value } } }
}
