import * as z from 'zod'
import { BooleanParam } from './field.ts'
import { operations } from './index.ts'
import type { Schema } from './openapi-limits.ts'
import { choices, type Named, sent, shown } from './openapi-names.ts'
import { queryOf, sentOf, shownOf } from './openapi-tidy.ts'
import { wordsOf } from './openapi-words.ts'

type Schemas = Readonly<Record<string, Schema>>

/** The schemas of the contract, for OpenAPI. */
export interface DocumentSchemas {
  /** Under `components/schemas`. */
  readonly components: Schemas
  /** Schema of each operation's query, by operation id. */
  readonly queries: Schemas
  /** Returns the component name of a body. Throws if it has none. */
  readonly nameOf: (body: z.ZodType) => string
  /** Returns a reference to that component. */
  readonly referenceTo: (body: z.ZodType) => { readonly $ref: string }
}

/** Returns all schemas of the contract: bodies as components, queries by operation. */
export function documentSchemas(): DocumentSchemas {
  const queries: Named = Object.fromEntries(
    operations.flatMap(({ id, query }) => (query ? [[id, query]] : [])),
  )
  const input = jsonOf('input', { ...choices, ...sent, ...queries })
  const output = jsonOf('output', { ...choices, ...shown })
  const requests = each(sent, (name, schema) => sentOf(input[name] ?? {}, wordsOf(schema)))
  const responses = each({ ...choices, ...shown }, (name, schema) =>
    shownOf(output[name] ?? {}, wordsOf(schema)),
  )
  const names = new Map(Object.entries({ ...sent, ...shown }).map(([name, schema]) => [schema, name]))
  const nameOf = (body: z.ZodType) => {
    const name = names.get(body)
    if (name === undefined)
      throw new Error('A body of the contract is no component: see named() in fields.ts')
    return name
  }
  return {
    components: { ...responses, ...requests },
    queries: each(queries, (id) => queryOf(input[id] ?? {})),
    nameOf,
    referenceTo: (body) => ({ $ref: referenceTo(nameOf(body)) }),
  }
}

function each(named: Named, make: (name: string, schema: z.ZodType) => Schema): Schemas {
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, make(name, schema)]))
}

function jsonOf(io: 'input' | 'output', named: Named): Schemas {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: referenceTo,
    override: plainly,
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
function plainly({
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
