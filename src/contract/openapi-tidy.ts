import { limited, type Schema } from './openapi-limits.ts'
import type { Words } from './words/record.ts'

/** The bounds of a value: what an attribute keeps to when it is sent, it keeps to when it is shown. */
const bounds = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'maxItems',
  'format',
  'pattern',
]

/** A schema by the path of each part, such as `modules.title`; the items of a list have the path of the list. */
export type Parts = ReadonlyMap<string, Schema>

/** All parts of a schema, itself among them under the empty path. */
export function partsOf(schema: Schema, path = ''): [string, Schema][] {
  const inside = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    partsOf(part, below(path, name)),
  )
  return [[path, schema], ...inside, ...(schema.items ? partsOf(schema.items, `${path}[]`) : [])]
}

/**
 * A schema of a request with its words and limits. Its defaults are told in words alone: a keyword `default` makes
 * generated clients ask for the field.
 */
export function sentOf(schema: Schema, words: Words, path = ''): Schema {
  const { default: standard, ...plain } = flat(schema)
  const text = words[path]
  const told = text !== undefined && !text.includes('(default') && isWorthTelling(standard)
  return {
    ...described(told ? `${text} (default ${standard})` : text),
    ...limited(
      inner(plain, path, (part, at) => sentOf(part, words, at)),
      lastOf(path),
    ),
  }
}

/** A schema of a response with its words, within the bounds of what was sent; more fields may come. */
export function shownOf(schema: Schema, words: Words, sent: Parts, path = ''): Schema {
  const { additionalProperties, propertyNames, default: standard, ...plain } = flat(schema)
  const limits = sent.get(path) ?? {}
  const kept = plain.type === undefined ? [] : bounds.filter((name) => name in limits)
  return {
    ...described(words[path]),
    ...limited(
      {
        ...inner(plain, path, (part, at) => shownOf(part, words, sent, at)),
        ...(additionalProperties ? { additionalProperties } : {}),
        ...Object.fromEntries(kept.map((name) => [name, limits[name]])),
      },
      lastOf(path),
    ),
  }
}

/** The parameters of a query, each within limits. */
export function queryOf(schema: Schema): Schema {
  return inner(schema, '', (part, path) =>
    limited(part.items ? { ...part, items: limited(part.items, path) } : part, path),
  )
}

function inner(schema: Schema, path: string, each: (part: Schema, path: string) => Schema): Schema {
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

/** A list and its items have one path in words: `modules.title`. */
function below(path: string, name: string): string {
  return path === '' ? name : `${path.replace(/\[\]$/, '')}.${name}`
}

function lastOf(path: string): string {
  return path.replaceAll('[]', '').split('.').at(-1) ?? ''
}

function described(description: string | undefined): Schema {
  return description === undefined ? {} : { description }
}

function isWorthTelling(value: unknown): boolean {
  return (
    (['string', 'number', 'boolean'].includes(typeof value) && value !== '') ||
    (Array.isArray(value) && value.length > 0)
  )
}

/** "This or null" as one schema with two types, which reads better and which every generator knows. */
function flat(schema: Schema): Schema {
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
