import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'
import { operationWords } from '../../src/contract/openapi/operation-texts.ts'
import { partsOf, type Schema } from '../../src/contract/openapi/schemas.ts'
import { test } from '../helpers/academy.ts'

interface Described {
  readonly operationId: string
  readonly 'x-published': boolean
  readonly security?: readonly unknown[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly schema: Schema & { readonly default?: unknown }
}

const document = openapiOf()
// openapiOf() returns JSON without a type: paths, and their methods.
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>
/** Clients do not call this operation: it has its own proof of origin. */
const inbox = 'POST /webhooks/{lmsKind}/grades'
const described = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
)

// Components are schemas of JSON Schema, as `documentSchemas` makes them.
const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Schema>> }
const parts = Object.entries(schemas).flatMap(([name, schema]) =>
  partsOf(schema).map(([path, part]) => ({ path: `${name}: ${path}`, part })),
)

test('the document is valid OpenAPI 3.1', { tags: ['slow'] }, async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  expect(validator.version).toBe('3.1')
})

test('every operation of the contract is described, and where other systems send grades', () => {
  expect(described.map(({ name }) => name).sort()).toEqual(
    [...operations.map(({ method, path }) => `${method} ${path}`), inbox].sort(),
  )
  const ids = described.map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('x-published marks what the published interface has', () => {
  expect(described.filter(({ operation }) => operation['x-published']).map(({ name }) => name)).toEqual([
    'GET /v1/courses',
    'POST /v1/courses',
    'PUT /v1/courses/{courseId}',
    'POST /v1/lessons',
    'POST /v1/users',
    'GET /v1/user/profile',
    'PUT /v1/learners/{learnerId}/progress',
    'GET /v1/analytics/learners',
    inbox,
  ])
  expect(document['x-idempotency']).toBe(true)
})

test('only the public paths take no credential', () => {
  const open = described.filter(({ operation }) => operation.security?.length === 0)
  expect(open.map(({ name }) => name)).toEqual(['GET /health', 'GET /ready', 'GET /v1/openapi.json', inbox])
})

test('each operation takes a bearer, or OAuth 2.0 with its scope', () => {
  const guarded = operations.filter(({ scope }) => scope !== null)
  for (const { method, path, scope } of guarded) {
    const security = paths[path]?.[method.toLowerCase()]?.security
    expect(security, `${method} ${path}`).toEqual([{ bearer: [] }, { oauth2: [scope] }])
  }
  expect(document['components']).toMatchObject({
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      oauth2: {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: '/oauth/authorize',
            tokenUrl: '/oauth/token',
            scopes: { read: expect.any(String), write: expect.any(String), admin: expect.any(String) },
          },
        },
      },
    },
  })
})

test('every reference in the document leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  expect(references.length).toBeGreaterThan(operations.length)
  for (const path of references) {
    const found = path
      .split('/')
      .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document)
    expect(found, path).toBeDefined()
  }
})

test('the server answers the document to anybody', async ({ academy }) => {
  const answer = await academy.bearer(undefined).get('/v1/openapi.json')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(document)))
})

test.for(described)('$name says in words what it does, and what each parameter takes', ({ operation }) => {
  const { summary, description, parameters } = operation
  expect(summary).toMatch(/^[A-Z].*[^.]$/)
  expect(summary.split(' ')[0]).toMatch(
    /^(List|Show|Get|Create|Update|Delete|Compare|Restore|Enrol|Map|Record|Report|Register|Revoke|Check|Send|Process|Receive|Replace|Add|Remove|Apply)$/,
  )
  expect(description).toMatch(/^[A-Z].*[.]$/)
  expect(description.split('. ')[0]).not.toBe(summary)
  for (const { name, description: words = '', schema } of parameters) {
    expect(words, name).toMatch(/^[A-Za-z].*[^.]$/)
    if (schema.default !== undefined) expect(words, name).toContain(`(default ${schema.default})`)
  }
})

test('every schema and every field of it is described, in words that end without a full stop', () => {
  const silent = parts.filter(
    ({ path, part }) => !path.endsWith('[]') && !/[^.]$/.test(part.description ?? ''),
  )
  expect(silent.map(({ path }) => path)).toEqual([])
  expect(parts.length).toBeGreaterThan(500)
})

test('each operation has words, and there are no others', () => {
  expect(Object.keys(operationWords).sort()).toEqual(operations.map(({ id }) => id).sort())
})

test('a body states its default in words, not as a keyword, which clients take for a required field', () => {
  expect(parts.filter(({ part }) => 'default' in part)).toEqual([])
  const { CourseInput } = schemas
  expect(CourseInput?.['required']).toEqual(['title'])
  expect(CourseInput?.properties?.['difficulty']?.description).toMatch(/ \(default beginner\)$/)
})

test('what a response always has is required there, whatever a request may leave out', () => {
  const { Course, User } = schemas
  expect(Course?.['required']).toEqual(Object.keys(Course?.properties ?? {}))
  expect(User?.['required']).toEqual(Object.keys(User?.properties ?? {}))
  expect(Course?.['additionalProperties']).toBeUndefined()
})

test('a deprecated field is marked as such, and says what replaces it', () => {
  const marked = parts.filter(({ part }) => (part as { deprecated?: boolean }).deprecated)
  expect(marked.map(({ path }) => path)).toEqual([
    'Summary: completionRate',
    'Summary: byCourse.completionRate',
  ])
  for (const { part } of marked) expect(part.description).toMatch(/ Deprecated: use completionPercentage$/)
})

test('null is declared where it is accepted, and only there', () => {
  const { CoursePatch, CourseInput, ProgressInput } = schemas
  expect(CoursePatch?.properties?.['title']?.type).toBe('string')
  expect(CoursePatch?.properties?.['description']?.type).toEqual(['string', 'null'])
  expect(CourseInput?.properties?.['description']?.type).toBe('string')
  expect(CourseInput?.properties?.['language']?.type).toEqual(['string', 'null'])
  expect(ProgressInput?.properties?.['completionPercentage']?.type).toBe('number')
})

test('each status is declared by number, with its own problem', () => {
  for (const { name, operation } of described) {
    const statuses = Object.keys(operation.responses)
    expect(
      statuses.filter((status) => !/^[2345]\d\d$/.test(status)),
      name,
    ).toEqual([])
    expect(statuses, name).toEqual(expect.arrayContaining(['400', '429', '500', '503']))
  }
})

test('a parameter says its type: lists with commas, switches, numbers with sane bounds', () => {
  const parameters = described.flatMap(({ operation }) => operation.parameters)
  const byName = (name: string) => parameters.find((parameter) => parameter.name === name)
  expect(byName('include_total')?.schema).toEqual({ type: 'boolean', default: false })
  expect(byName('summary')?.schema).toEqual({ type: 'boolean', default: true })
  expect(byName('limit')?.schema).toEqual({
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100,
    default: 20,
  })
  expect(byName('status')).toMatchObject({
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string', enum: ['draft', 'published', 'archived'] } },
  })
  expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER))
})

test('each parameter of the path, and each header, has an example: tools that try an operation send it', () => {
  for (const { name, operation } of described) {
    for (const parameter of operation.parameters.filter(({ in: place }) => place !== 'query')) {
      expect(parameter, name).toHaveProperty('example')
    }
  }
})

test('If-Match is declared for records with versions, where it has an effect', () => {
  const conditional = described.filter(({ operation }) =>
    operation.parameters.some(({ name }) => name === 'If-Match'),
  )
  expect(conditional.map(({ operation }) => operation.operationId).sort()).toEqual([
    'courses.delete',
    'courses.restore',
    'courses.restoreDeleted',
    'courses.update',
    'endpoints.delete',
    'endpoints.update',
    'enrollments.delete',
    'enrollments.update',
    'grades.set',
    'groups.delete',
    'groups.restoreDeleted',
    'groups.update',
    'integrations.map',
    'integrations.remove',
    'integrations.set',
    'lessons.delete',
    'lessons.restore',
    'lessons.restoreDeleted',
    'lessons.update',
    'progress.set',
    'settings.update',
    'terms.delete',
    'terms.update',
    'users.delete',
    'users.update',
    'users.updateProfile',
  ])
})
