import * as z from 'zod'
import { bare, componentOf, fieldsOf } from '../fields.ts'
import { operations } from '../index.ts'
import { BooleanParam } from '../lists.ts'
import { queryOf, type Schema, sentOf, shownOf, wordsOf } from './descriptions.ts'

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
