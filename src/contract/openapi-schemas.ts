import * as z from 'zod'
import { BooleanParam } from './field.ts'
import { operations } from './index.ts'
import type { Schema } from './openapi-limits.ts'
import { choices, type Named, sent, shown } from './openapi-names.ts'
import { queryOf, sentOf, shownOf } from './openapi-tidy.ts'
import { wordsOf } from './openapi-words.ts'

type Schemas = Readonly<Record<string, Schema>>

/** The schemas of the contract, as OpenAPI needs them. */
export interface DocumentSchemas {
  /** Under `components/schemas`. */
  readonly components: Schemas
  /** The query of each operation that has one, by the operation's id. */
  readonly queries: Schemas
  /** The name of the component that a body is. Throws where it has none here. */
  readonly nameOf: (body: z.ZodType) => string
  /** A reference to that component. */
  readonly referenceTo: (body: z.ZodType) => { readonly $ref: string }
}

/** Every schema of the contract: bodies as components, queries by operation. */
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
  // What Zod makes is JSON Schema, whose keywords are those of Schema.
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as Schema]),
  )
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
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
  if (zodSchema === BooleanParam) {
    delete jsonSchema.enum
    jsonSchema.type = 'boolean'
  }
  if (zodSchema instanceof z.ZodDefault && zodSchema.def.innerType === BooleanParam) {
    // Zod tells a default only where the input has the type of the output.
    jsonSchema.default = zodSchema.def.defaultValue as boolean
  }
}
