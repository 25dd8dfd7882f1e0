import * as z from 'zod'
import { bare, componentOf, fieldsOf } from '../fields.ts'

/** JSON schema (draft 2020-12), with the keywords that this program uses. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
}

/** Paths are as `modules.title`, empty for the whole; items of a list have `[]`. */
export function partsOf(schema: Schema, path = ''): [path: string, part: Schema][] {
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    partsOf(part, below(path, name)),
  )
  return [[path, schema], ...inside, ...(schema.items ? partsOf(schema.items, `${path}[]`) : [])]
}

/** Defaults are only described: the keyword `default` makes generated clients require the field. */
export function sentOf(schema: Schema, words: Words, path = ''): Schema {
  const { default: standard, ...plain } = flattenNullable(schema)
  const text = words[path]
  const needsDefault = text !== undefined && !text.includes('(default') && isWorthStating(standard)
  return {
    ...withDescription(needsDefault ? `${text} (default ${standard})` : text),
    ...inInt32(mapParts(plain, path, (part, at) => sentOf(part, words, at))),
  }
}

/** It allows more fields. */
export function shownOf(schema: Schema, words: Words, path = ''): Schema {
  const { additionalProperties, propertyNames, default: standard, ...plain } = flattenNullable(schema)
  return {
    ...withDescription(words[path]),
    ...inInt32(mapParts(plain, path, (part, at) => shownOf(part, words, at))),
    ...(additionalProperties ? { additionalProperties } : {}),
  }
}

export function queryOf(schema: Schema): Schema {
  return mapParts(schema, '', (part) => inInt32(part.items ? { ...part, items: inInt32(part.items) } : part))
}

/** Generated clients take other whole numbers for doubles, or for 64 bits. */
export function inInt32(schema: Schema): Schema {
  const isWhole = [schema.type ?? []].flat().includes('integer') && !schema.enum && !('const' in schema)
  return isWhole ? { minimum: 0, maximum: 2_147_483_647, ...schema, format: 'int32' } : schema
}

function mapParts(schema: Schema, path: string, each: (part: Schema, path: string) => Schema): Schema {
  const { properties, items } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, each(part, below(path, name))]),
      ),
    }),
    ...(items && { items: each(items, `${path}[]`) }),
  }
}

/** A list and its items share one path, `modules.title`. */
function below(path: string, name: string): string {
  return path === '' ? name : `${path.replace(/\[\]$/, '')}.${name}`
}

function withDescription(description: string | undefined): Schema {
  return description === undefined ? {} : { description }
}

function isWorthStating(value: unknown): boolean {
  return (
    (['string', 'number', 'boolean'].includes(typeof value) && value !== '') ||
    (Array.isArray(value) && value.length > 0)
  )
}

/** Simplifies "this or null" to one schema with two types, which all generators support. */
function flattenNullable(schema: Schema): Schema {
  const { anyOf, ...rest } = schema
  const [value, nothing, ...more] = anyOf ?? []
  if (!value || nothing?.type !== 'null' || more.length > 0 || typeof value.type !== 'string') return schema
  return {
    ...rest,
    ...value,
    type: [value.type, 'null'],
    ...(value.enum && { enum: [...value.enum, null] }),
  }
}

/** By path (`modules.title`); the empty path describes the schema. */
export type Words = Readonly<Record<string, string>>

export function wordsOf(schema: z.ZodType): Words {
  return { '': componentOf(schema)?.says ?? '', ...wordsBelow('', schema) }
}

function wordsBelow(path: string, schema: z.ZodType): Words {
  const fields = Object.entries(fieldsOf(schema) ?? {}).map(([name, { is, says }]) => {
    const at = path === '' ? name : `${path}.${name}`
    const inside = objectIn(is)
    // A component has descriptions of its own.
    return { [at]: says, ...(componentOf(inside) ? {} : wordsBelow(at, inside)) }
  })
  return Object.assign({}, ...fields)
}

/** Returns the schema itself, or that of the items of a list. */
function objectIn(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  return inner instanceof z.ZodArray ? objectIn(inner.element as z.ZodType) : inner
}
