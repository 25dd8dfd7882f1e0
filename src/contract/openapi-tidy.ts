import { limited, type Schema } from './openapi-limits.ts'
import type { Words } from './openapi-words.ts'

/** All parts of a schema by their paths (`modules.title`), itself under the empty one; the items of a list have `[]`. */
export function partsOf(schema: Schema, path = ''): [path: string, part: Schema][] {
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

/** A schema of a response with its words; more fields may come. */
export function shownOf(schema: Schema, words: Words, path = ''): Schema {
  const { additionalProperties, propertyNames, default: standard, ...plain } = flat(schema)
  return {
    ...described(words[path]),
    ...limited(
      {
        ...inner(plain, path, (part, at) => shownOf(part, words, at)),
        ...(additionalProperties ? { additionalProperties } : {}),
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
