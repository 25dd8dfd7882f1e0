import * as z from 'zod'
import { findTimeZone } from '../../codec/time-zone.ts'
import { type Call, calls } from '../../contract/calls.ts'
import { suggestionText } from '../../contract/validation-issues.ts'
import { kindOf } from './operations.ts'

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
    /** A choice: their words, and ours for each. */
    values: z.record(text, text).optional(),
    /** A percentage: the number that they write for 100 %. */
    of: z.number().positive().optional(),
    /** A time: the unit since 1970 (default ISO 8601). */
    time: z.enum(['iso', 'unix-seconds', 'unix-milliseconds']).optional(),
    /** A time without a zone: the zone that it is in (default that of the file). */
    zone: zone.optional(),
  }),
])

const next = z.union([
  // Each list comes whole.
  z.literal('none'),
  z.strictObject({ link: z.literal(true) }),
  z.strictObject({ url: pointer }),
  z.strictObject({ cursor: pointer, parameter: text }),
  z.strictObject({ page: text, first: z.int().min(0).optional(), last: pointer.optional() }),
  z.strictObject({ offset: text }),
])

const lists = z.strictObject({
  /** The array of rows; empty for a bare array. */
  items: pointer.optional(),
  next: next.optional(),
  /** The number of rows of the whole list. */
  total: pointer.optional(),
  size: z.strictObject({ parameter: text, maximum: count }).optional(),
})

/** Proof of a write: `record`, the response has the id or a value that was sent; `nothing`, its status is enough. */
const shows = z.enum(['record', 'nothing'])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

const operation = z.strictObject({
  ...lists.shape,
  path: z
    .string()
    .regex(/^\/[^?#]*$/, 'must be a path that begins with /')
    .optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  /** The record in the response. */
  record: pointer.optional(),
  shows: shows.optional(),
  /** Names of their query parameters by ours. */
  parameters: z.record(text, text).optional(),
  /** Parameters that are always sent. */
  query: z.record(text, z.string()).optional(),
  /** Encoding of their CSV, if they do not declare it. */
  encoding: text.optional(),
})

export const PlatformSchema = z
  .strictObject({
    learnctlPlatform: z.literal(1),
    name: text.max(200),
    /** Zone of times and days without a zone (default UTC). */
    timeZone: zone.optional(),
    /** True if a POST with the same Idempotency-Key is answered once. */
    idempotencyKey: z.boolean().optional(),
    /** Where the credential is sent (default `Authorization: Bearer …`). */
    auth: z.strictObject({ header, scheme: scheme.optional() }).optional(),
    lists: lists.optional(),
    /** A refusal inside a response with a status of success; `not`: any other value is one. */
    refused: z
      .strictObject({
        when: z.union([
          z.strictObject({ at: pointer, is: scalar }),
          z.strictObject({ at: pointer, not: scalar }),
        ]),
        code: pointer.optional(),
        message: pointer.optional(),
        /** By code (default 400). */
        status: z.record(text, z.int().min(400).max(599)).optional(),
      })
      .optional(),
    writes: z.strictObject({ shows }).optional(),
    operations: z.record(text, z.union([z.literal('not offered'), operation])).optional(),
    /** Fields of each kind of record: ours, dotted, and where they stand in theirs. */
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

/** Where a platform differs from the published form, as data; docs/platforms.md explains each member. */
export type PlatformFile = z.infer<typeof PlatformSchema>
export type Place = z.infer<typeof place>
export type NextPage = z.infer<typeof next>
export type Lists = z.infer<typeof lists>
export type DescribedOperation = z.infer<typeof operation>

function parametersIn(path = ''): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

/** The JSON Schema (draft 2020-12) of a platform file, for editors. */
export function platformJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(PlatformSchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'learnctl platform file', ...rest }
}

export function platformFileOf(value: unknown): z.ZodSafeParseResult<PlatformFile> {
  return PlatformSchema.safeParse(value, { reportInput: true })
}
