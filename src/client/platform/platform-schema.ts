import * as z from 'zod'
import { findTimeZone } from '../../codec/time-zone.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { suggestionText } from '../../contract/validation-issues.ts'
import { kindOf } from './operations.ts'
import type { PlatformFile } from './platform-file.ts'

const operations = new Map(
  Object.values(calls)
    .flatMap((group) => Object.values<Call>(group))
    .map((each) => [each.id, each]),
)

const fieldsByKind = new Map<string, Set<string>>()
for (const { id, holds } of operations.values()) {
  const kind = kindOf(id)
  const fields = fieldsByKind.get(kind) ?? new Set()
  fieldsByKind.set(kind, fields)
  for (const field of holds.answer)
    fields.add(field.startsWith(`${kind}.`) ? field.slice(kind.length + 1) : field)
}

const pointer = z
  .string()
  .regex(/^(\/.*)?$/, 'must be a JSON Pointer such as /person/mail')
  .meta({ description: 'JSON Pointer (RFC 6901)' })
const zone = z
  .string()
  .refine((name) => findTimeZone(name) !== null, 'is not an IANA time zone, such as Europe/Berlin')
const text = z.string().min(1)
/** A header that the connection does not use itself. */
const header = z
  .string()
  .regex(
    /^(?!(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive)$)[\w!#$%&'*+.^`|~-]+$/i,
    'must be the name of a header for credentials, such as X-Api-Key',
  )
const scheme = z.string().regex(/^[\w!#$%&'*+.^`|~-]*$/, 'must be one word, such as Bearer')
const count = z.int().min(1)

const place = z.union([
  pointer,
  z.strictObject({
    at: pointer,
    values: z.record(text, text).optional(),
    of: z.number().positive().optional(),
    time: z.enum(['iso', 'unix-seconds', 'unix-milliseconds']).optional(),
    zone: zone.optional(),
  }),
])

const lists = {
  items: pointer.optional(),
  next: z
    .union([
      z.literal('none'),
      z.strictObject({ link: z.literal(true) }),
      z.strictObject({ url: pointer }),
      z.strictObject({ cursor: pointer, parameter: text }),
      z.strictObject({ page: text, first: z.int().min(0).optional(), last: pointer.optional() }),
      z.strictObject({ offset: text }),
    ])
    .optional(),
  total: pointer.optional(),
  size: z.strictObject({ parameter: text, maximum: count }).optional(),
}

const shows = z.enum(['record', 'nothing'])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const operation = z.union([
  z.literal('not offered'),
  z.strictObject({
    ...lists,
    path: z
      .string()
      .regex(/^\/[^?#]*$/, 'must be a path that begins with /')
      .optional(),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
    record: pointer.optional(),
    shows: shows.optional(),
    parameters: z.record(text, text).optional(),
    query: z.record(text, z.string()).optional(),
    encoding: text.optional(),
  }),
])

const PlatformSchema = z
  .strictObject({
    learnctlPlatform: z.literal(1),
    name: text.max(200),
    timeZone: zone.optional(),
    idempotencyKey: z.boolean().optional(),
    auth: z.strictObject({ header, scheme: scheme.optional() }).optional(),
    rate: z.strictObject({ requests: count, seconds: z.number().positive().max(3600) }).optional(),
    lists: z.strictObject(lists).optional(),
    refused: z
      .strictObject({
        when: z.union([
          z.strictObject({ at: pointer, is: scalar }),
          z.strictObject({ at: pointer, not: scalar }),
        ]),
        code: pointer.optional(),
        message: pointer.optional(),
        status: z.record(text, z.int().min(400).max(599)).optional(),
      })
      .optional(),
    writes: z.strictObject({ shows }).optional(),
    operations: z.record(text, operation).optional(),
    records: z.record(text, z.record(text, place)).optional(),
  })
  .superRefine((file, context) => {
    const problem = (path: readonly string[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message })
    for (const [id, described] of Object.entries(file.operations ?? {})) {
      const found = operations.get(id)
      if (!found)
        problem(['operations', id], `is not an operation${suggestionText(id, [...operations.keys()])}`)
      const path = typeof described === 'object' ? described.path : undefined
      const missing = parametersIn(found?.path).find((name) => path && !path.includes(`{${name}}`))
      const unknown = parametersIn(path).find((name) => found && !found.path.includes(`{${name}}`))
      if (missing) problem(['operations', id, 'path'], `must contain {${missing}}`)
      if (unknown) problem(['operations', id, 'path'], `cannot contain {${unknown}}`)
    }
    for (const [kind, fields] of Object.entries(file.records ?? {})) {
      const known = fieldsByKind.get(kind)
      if (!known)
        problem(['records', kind], `is not a kind of record${suggestionText(kind, [...fieldsByKind.keys()])}`)
      for (const field of Object.keys(fields)) {
        if (known && !known.has(field))
          problem(['records', kind, field], `is not a field of ${kind}${suggestionText(field, [...known])}`)
      }
    }
  })

function parametersIn(path = ''): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

/** The JSON Schema (draft 2020-12) of a platform file, for editors. */
export function platformJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(PlatformSchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'learnctl platform file', ...rest }
}

/** Returns the names of the members of the objects at a path in a platform file. */
export function membersAt(path: readonly PropertyKey[]): string[] {
  const inside = (schema: unknown, at: readonly PropertyKey[]): string[] => {
    const [step, ...rest] = at
    if (schema instanceof z.ZodOptional) return inside(schema.unwrap(), at)
    if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => inside(each, at))
    if (schema instanceof z.ZodRecord) return step === undefined ? [] : inside(schema.valueType, rest)
    if (!(schema instanceof z.ZodObject)) return []
    return step === undefined ? Object.keys(schema.shape) : inside(schema.shape[String(step)], rest)
  }
  return inside(PlatformSchema, path)
}

export function platformFileOf(value: unknown): z.ZodSafeParseResult<PlatformFile> {
  // The schema has the form of the type, whose optional members cannot be undefined.
  return PlatformSchema.safeParse(value, { reportInput: true }) as z.ZodSafeParseResult<PlatformFile>
}
