import { lmsKinds } from '../constants.ts'
import { operations } from '../index.ts'
import { securitySchemes } from '../oauth.ts'
import type { Operation } from '../operation.ts'
import { version } from '../version.ts'
import { operationExamples } from './examples.ts'
import { introduction, operationWords, tagWords } from './operation-texts.ts'
import { parametersOf, takesIfMatch } from './parameters.ts'
import {
  everyHeader,
  headers,
  headersOf,
  problemExampleComponents,
  problemResponses,
  problemSchema,
  refusalsOf,
  refusalsWith,
  successHeaders,
} from './responses.ts'
import { type DocumentSchemas, documentSchemas } from './schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** Display names of tags; those of other tags are made from their names. */
const tagNames: Partial<Readonly<Record<string, string>>> = {
  enrollments: 'Enrolments',
  keys: 'API keys',
  apps: 'OAuth applications',
  endpoints: 'Webhook endpoints',
  messages: 'Webhook messages',
  deliveries: 'Webhook deliveries',
  audit: 'Audit log',
  leases: 'Apply lease',
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
      'x-displayName': tagNames[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
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

const deliveryId = { type: 'string', maxLength: 64, description: 'Id of the delivery, whd_…' }

/** The inbox for grades and progress of other systems, in the document only: clients do not call it. */
const inboxPath: Json = {
  '/webhooks/{lmsKind}/grades': {
    post: {
      operationId: 'deliveries.receive',
      summary: 'Receive a grade or progress from another system',
      description:
        'Each kind of system proves who it is as it does elsewhere: Canvas with a signed JWT, Moodle with the secret in the body, Open edX with `?token=` or Basic credentials, Thinkific with an HMAC of the body. Every kind also takes the headers of [Standard Webhooks](https://www.standardwebhooks.com). No credential of this API is needed. A body has up to 256 KiB. The same delivery again is a `duplicate`, an older one than what is stored is `stale`; both are 200, so that a sender does not try again. A server keeps 200,000 deliveries of one kind a day, and 64 MiB of their payloads; beyond that the response is 429 with `Retry-After`.',
      tags: ['deliveries'],
      'x-published': true,
      security: [],
      parameters: [
        {
          name: 'lmsKind',
          in: 'path',
          required: true,
          description: 'Kind of the system that sends',
          schema: { type: 'string', enum: [...lmsKinds] },
          example: 'moodle',
        },
      ],
      requestBody: {
        required: true,
        description: 'The payload as the system sends it',
        content: {
          'application/json': { schema: {} },
          'application/jwt': { schema: { type: 'string', maxLength: 262_144 } },
          'text/plain': { schema: { type: 'string', maxLength: 262_144 } },
        },
      },
      responses: {
        200: outcome('Applied, or nothing to do', {
          type: 'object',
          description: 'Outcome of the delivery',
          required: ['status', 'deliveryId'],
          properties: {
            status: {
              type: 'string',
              enum: ['applied', 'duplicate', 'stale', 'ignored'],
              description: 'Outcome of the delivery',
            },
            deliveryId,
            grade: {
              description: 'The grade that was set; null for progress',
              oneOf: [{ $ref: '#/components/schemas/Grade' }, { type: 'null' }],
            },
            progress: {
              description: 'The progress that was recorded; null if none was',
              oneOf: [{ $ref: '#/components/schemas/Progress' }, { type: 'null' }],
            },
            reason: { type: 'string', maxLength: 64, description: 'Why it was ignored, in one word' },
          },
        }),
        202: outcome('Stored, but not applied: it can be processed again', {
          type: 'object',
          description: 'Outcome of the delivery',
          required: ['status', 'deliveryId'],
          properties: {
            status: { type: 'string', enum: ['unmatched', 'failed'], description: 'Outcome of the delivery' },
            deliveryId,
            missing: {
              type: 'array',
              maxItems: 3,
              description: 'What is missing for an unmatched delivery',
              items: { type: 'string', enum: ['course', 'learner', 'enrollment'] },
            },
            reason: { type: 'string', maxLength: 64, description: 'Why it failed, in one word' },
          },
        }),
        ...refusalsWith([400, 401, 404, 408, 413, 414, 415, 421, 429, 431, 500, 503]),
      },
    },
  },
}

function outcome(description: string, schema: Json): Json {
  return {
    description,
    headers: headersOf(everyHeader),
    content: { 'application/json': { schema } },
  }
}
