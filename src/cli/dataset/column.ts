import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { isDay } from '../../codec/time-text.ts'
import { bare } from '../../contract/fields.ts'
import { labelColumns } from '../../tables/column.ts'

/** `texts` is a list of texts, `json` any other JSON value. */
type CellKind = 'text' | 'number' | 'switch' | 'time' | 'day' | 'texts' | 'json'

export interface Column {
  /** `firstName`, or the whole path if another field has the same name. */
  readonly name: string
  /** Dotted path of the value: `profile.firstName`. */
  readonly path: string
  readonly kind: CellKind
  readonly required: boolean
  /** Accepts null, written as the word because an empty cell means no value. */
  readonly nullable?: boolean
  /** Values that the contract knows; undefined if it takes any. */
  readonly choices?: readonly string[]
  readonly secret: boolean
  /** Null resets the field to it. */
  readonly initial: unknown
}

/** Returns the columns of a schema in its order: one for each field that is not an object. */
export function columnsOf(schema: z.ZodObject): Column[] {
  const leaves = leavesOf(schema, '', true)
  const paths = leaves.map(({ path }) => path)
  const names = new Map(labelColumns(paths, paths).map(({ path, label }) => [path, label]))
  return leaves.map((leaf) => ({ ...leaf, name: names.get(leaf.path) ?? leaf.path }))
}

function leavesOf(schema: z.ZodObject, above: string, needed: boolean): Omit<Column, 'name'>[] {
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    // A shape holds schemas; zod's type for them is wider.
    const field = member as z.ZodType
    const inner = bare(field)
    const path = above + name
    const absent = field.safeParse(undefined)
    const required = needed && !absent.success
    const choices = choicesIn(inner)
    if (inner instanceof z.ZodObject) return leavesOf(inner, `${path}.`, required)
    return [
      {
        path,
        kind: kindOf(inner),
        required,
        ...(required && field.safeParse(null).success && { nullable: true }),
        ...(choices && { choices }),
        secret: field.meta()?.['writeOnly'] === true,
        initial: absent.data ?? null,
      },
    ]
  })
}

/** Returns the values that a field, or each item of a list, takes; undefined if it takes any. */
export function choicesIn(schema: z.ZodType): readonly string[] | undefined {
  if (schema instanceof z.ZodArray) return choicesIn(bare(schema.element as z.ZodType))
  if (schema instanceof z.ZodPipe) return choicesIn(bare(schema.in as z.ZodType))
  return schema instanceof z.ZodEnum ? schema.options.map(String) : undefined
}

function kindOf(schema: z.ZodType): CellKind {
  if (schema instanceof z.ZodPipe) return kindOf(bare(schema.in as z.ZodType))
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodBoolean) return 'switch'
  if (schema instanceof z.ZodString) {
    const format = schema.meta()?.['format']
    return format === 'date-time' ? 'time' : format === 'date' ? 'day' : 'text'
  }
  if (schema instanceof z.ZodEnum) return 'text'
  if (schema instanceof z.ZodArray) {
    const kind = kindOf(bare(schema.element as z.ZodType))
    return kind === 'text' ? 'texts' : 'json'
  }
  return 'json'
}

/** Returns a value with its days converted to times, 00:00 UTC, where the schema has times, at any depth. */
export function withDays(schema: z.ZodType, value: unknown): unknown {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => withDays(inner.element as z.ZodType, item))
  }
  if (inner instanceof z.ZodObject && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const field = Object.hasOwn(inner.shape, name) ? (inner.shape[name] as z.ZodType) : null
        return [name, field ? withDays(field, member) : member]
      }),
    ) satisfies JsonObject
  }
  const isTime = inner instanceof z.ZodString && inner.meta()?.['format'] === 'date-time'
  return isTime && typeof value === 'string' && isDay(value) ? `${value}T00:00:00.000Z` : value
}
