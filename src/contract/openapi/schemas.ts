import * as z from 'zod'
import { bare, componentOf, fieldsOf } from '../fields.ts'
import { operations } from '../index.ts'
import { BooleanParam } from '../lists.ts'

type Schemas = Readonly<Record<string, Schema>>

export interface DocumentSchemas {
  /** Under `components/schemas`. */
  readonly components: Schemas
  /** Schema of each operation's query, by operation id. */
  readonly queries: Schemas
  /** Returns the component name of a body. Throws if it has none. */
  readonly nameOf: (body: z.ZodType) => string
  readonly referenceTo: (body: z.ZodType) => { readonly $ref: string }
}

/** Bodies are components, queries are by operation. */
export function documentSchemas(): DocumentSchemas {
  const queries: Named = Object.fromEntries(
    operations.flatMap(({ id, query }) => (query ? [[id, query]] : [])),
  )
  const input = jsonOf('input', { ...choiceComponents, ...requestComponents, ...queries })
  const output = jsonOf('output', { ...choiceComponents, ...responseComponents })
  const requests = mapComponents(requestComponents, (name, schema) =>
    sentOf(input[name] ?? {}, wordsOf(schema)),
  )
  const responses = mapComponents({ ...choiceComponents, ...responseComponents }, (name, schema) =>
    shownOf(output[name] ?? {}, wordsOf(schema)),
  )
  const names = new Map(
    Object.entries({ ...requestComponents, ...responseComponents }).map(([name, schema]) => [schema, name]),
  )
  const nameOf = (body: z.ZodType) => {
    const name = names.get(body)
    if (name === undefined)
      throw new Error('A body of the contract is no component: see named() in fields.ts')
    return name
  }
  return {
    components: { ...responses, ...requests },
    queries: mapComponents(queries, (id) => queryOf(input[id] ?? {})),
    nameOf,
    referenceTo: (body) => ({ $ref: referenceTo(nameOf(body)) }),
  }
}

function mapComponents(named: Named, make: (name: string, schema: z.ZodType) => Schema): Schemas {
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, make(name, schema)]))
}

function jsonOf(io: 'input' | 'output', named: Named): Schemas {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: referenceTo,
    override: simplifyKeywords,
  })
  // Zod's type is looser: it produces JSON Schema with the keywords of Schema.
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as Schema]),
  )
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** Removes keywords that Zod adds and that confuse readers, and adds those that it lacks. */
export function simplifyKeywords({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: unknown
  jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (zodSchema === BooleanParam) {
    delete jsonSchema.enum
    jsonSchema.type = 'boolean'
  }
  if (zodSchema instanceof z.ZodDefault && zodSchema.def.innerType === BooleanParam) {
    // Zod shows a default only if input and output have the same type.
    jsonSchema.default = zodSchema.def.defaultValue as boolean
  }
}

export type Named = Readonly<Record<string, z.ZodType>>

const responses = componentsIn(operations.map(({ response }) => response))
const requests = componentsIn(operations.map(({ body }) => body))

export const choiceComponents: Named = filterComponents(responses, isChoice)

export const responseComponents: Named = filterComponents(responses, (schema) => !isChoice(schema))

export const requestComponents: Named = filterComponents(requests, (schema) => !isChoice(schema))

function isChoice(schema: z.ZodType): boolean {
  return schema instanceof z.ZodEnum
}

function filterComponents(named: Named, isMeant: (schema: z.ZodType) => boolean): Named {
  return Object.fromEntries(Object.entries(named).filter(([, schema]) => isMeant(schema)))
}

/** Each component comes after those that it contains. Throws if two share a name. */
function componentsIn(schemas: readonly (z.ZodType | null | undefined)[]): Named {
  const found = new Map<string, z.ZodType>()
  const visit = (schema: z.ZodType): void => {
    const inner = bare(schema)
    const component = componentOf(inner)
    const known = component && found.get(component.name)
    if (known === inner) return
    if (known) throw new Error(`Two components are called ${component.name}`)
    if (inner instanceof z.ZodArray) visit(inner.element as z.ZodType)
    for (const { is } of Object.values(fieldsOf(inner) ?? {})) visit(is)
    if (component) found.set(component.name, inner)
  }
  for (const schema of schemas) if (schema) visit(schema)
  return Object.fromEntries(found)
}

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
