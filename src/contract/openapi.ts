import * as z from 'zod'
import * as apps from './apps.ts'
import { BatchResult } from './batch.ts'
import { CourseInput } from './course-attributes.ts'
import * as courses from './courses.ts'
import * as enrollments from './enrollments.ts'
import { phraseOf, statusOf } from './errors.ts'
import { BooleanParam } from './field.ts'
import * as grants from './grants.ts'
import { type Contract, operations } from './index.ts'
import * as keys from './keys.ts'
import * as lessons from './lessons.ts'
import { parametersOf, type QuerySchema } from './openapi-parameters.ts'
import type { Operation } from './operation.ts'
import * as progress from './progress.ts'
import { securitySchemes } from './security-schemes.ts'
import * as users from './users.ts'
import { version } from './version.ts'

type Json = Record<string, unknown>

const inputs = {
  CourseInput,
  LessonInput: lessons.LessonInput,
  UserInput: users.UserInput,
  EnrollmentInput: enrollments.EnrollmentInput,
  ProgressInput: progress.ProgressInput,
  KeyInput: keys.KeyInput,
  AppInput: apps.AppInput,
}

const outputs = {
  Course: courses.Course,
  CourseUpdate: courses.CourseUpdate,
  Lesson: lessons.Lesson,
  User: users.User,
  CurrentUser: users.CurrentUser,
  Enrollment: enrollments.Enrollment,
  Progress: progress.Progress,
  ProgressStep: progress.ProgressStep,
  Key: keys.Key,
  App: apps.App,
  Grant: grants.Grant,
  BatchResult,
}

const resources: Readonly<Record<keyof Contract, string>> = {
  courses: 'Courses and their versions',
  lessons: 'Lessons of courses',
  users: 'Users and their roles, and the signed-in user',
  enrollments: 'Enrolments: users in courses, as learner or instructor',
  progress: 'Progress of learners in courses',
  analytics: 'Reports on learners and courses',
  keys: 'API keys: credentials for programs',
  apps: 'OAuth applications that act on behalf of users',
  grants: 'Grants: the access that users have given to OAuth applications',
  service: 'Health check and API description',
}

const problem = {
  type: 'object',
  description: 'Problem details (RFC 9457)',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'Name of the HTTP status' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What went wrong, as a sentence' },
    instance: { type: 'string', description: 'The path of the request' },
    code: { enum: Object.keys(statusOf), description: 'Error code, for programs' },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      description: 'The problems found in the request, at most 100',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON Pointer to the field (RFC 6901), as #/title' },
          parameter: { type: 'string', description: 'Name of the query parameter or header' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
    moreErrors: { type: 'integer', description: 'How many problems there are besides those in errors' },
  },
}

/** The whole contract as an OpenAPI 3.1 document; `x-published` marks the published interface's operations. */
export function openapiOf(): Json {
  const sent = schemasOf('input', inputs, (operation) => ({ query: operation.query, body: operation.body }))
  const shown = schemasOf('output', outputs, ({ response }) => ({ response: response ?? undefined }))
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, { ...sent, ...shown }),
    }
  }
  const named = (all: Json, names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, all[name]]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'learnctl academy',
      version,
      description:
        'Manage courses, lessons, users and enrolments, record the progress of learners and report on it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    'x-idempotency': true,
    security: [{ bearer: [] }, { oauth2: [] }],
    tags: Object.entries(resources).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      headers: {
        RequestId: { description: 'Id of the request, as in the server log', schema: { type: 'string' } },
      },
      responses: {
        Problem: {
          description: 'The request failed',
          headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      schemas: { ...named(sent, inputs), ...named(shown, outputs), Problem: problem },
    },
  }
}

function schemasOf(
  io: 'input' | 'output',
  named: Readonly<Record<string, z.ZodType>>,
  partsOf: (operation: Operation) => Record<string, z.ZodType | undefined>,
): Json {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const again: Record<string, string> = {}
  for (const operation of operations) {
    for (const [part, schema] of Object.entries(partsOf(operation))) {
      if (!schema) continue
      const id = `${operation.id}.${part}`
      const known = registry.get(schema)
      if (known) again[id] = known.id
      else registry.add(schema, { id })
    }
  }
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: referenceTo,
    override: plainly,
  })
  const plain = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema])
  const repeated = Object.entries(again).map(([id, first]) => [id, { $ref: referenceTo(first) }])
  return Object.fromEntries([...plain, ...repeated]) as Json
}

/** What Zod adds to a schema, or has no word for, and a reader would stumble over. */
function plainly({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: unknown
  jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (zodSchema !== BooleanParam) return
  delete jsonSchema.enum
  jsonSchema.type = 'boolean'
}

function referenceTo(id: string): string {
  return `#/components/schemas/${id}`
}

function tagOf({ id }: Operation): string {
  return id.split('.', 1)[0] ?? id
}

const successes = { 200: 'OK', 201: 'Created', 204: 'No content' } as const

function describe(operation: Operation, schemas: Json): Json {
  const { id, summary, description, published, scope, status, body, response, media = [] } = operation
  const json = { 'application/json': { schema: schemas[`${id}.response`] } }
  const streamed = Object.fromEntries(media.map((type) => [type, { schema: { type: 'string' } }]))
  return {
    operationId: id,
    summary,
    ...(description ? { description } : {}),
    tags: [tagOf(operation)],
    'x-published': published,
    ...(scope === null
      ? { security: [] }
      : {
          security: [{ bearer: [] }, { oauth2: [scope] }],
          'x-scope': scope,
          'x-roles': operation.roles,
        }),
    parameters: parametersOf(operation, schemas[`${id}.query`] as QuerySchema | undefined),
    ...(body ? { requestBody: requestBody(operation, schemas[`${id}.body`]) } : {}),
    responses: {
      [status]: {
        description: successes[status],
        headers: headersOf(operation),
        ...(response ? { content: { ...json, ...streamed } } : {}),
      },
      ...(scope === null ? {} : { '401': { $ref: '#/components/responses/Problem' } }),
      '4XX': { $ref: '#/components/responses/Problem' },
      default: { description: phraseOf[500], $ref: '#/components/responses/Problem' },
    },
  }
}

function requestBody({ merge }: Operation, schema: unknown): Json {
  const types = merge ? ['application/json', 'application/merge-patch+json'] : ['application/json']
  return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) }
}

function headersOf({ status }: Operation): Json {
  const id = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }
  if (status !== 201) return id
  return { ...id, Location: { description: 'Path of the new resource', schema: { type: 'string' } } }
}
