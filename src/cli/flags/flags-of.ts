import * as z from 'zod'
import { type Field, type Fields, fieldsOf } from '../../contract/fields.ts'
import { bare } from '../../contract/patch.ts'
import type { FieldFlag, FieldFlags, Kinds } from '../command/flag.ts'
import { type Column, columnsOf } from '../dataset/column.ts'

/** Properties of a field's flag that the contract does not have. */
type Own = Partial<Omit<FieldFlag, 'kind'>> & {
  readonly kind?: keyof Kinds
  /** The form of a JSON value: `[{"title": …}]`. */
  readonly as?: string
  /** True for a required field that an argument can give, too. */
  readonly byArgument?: true
}

type Path<Schema extends z.ZodType> = keyof FieldFlags<z.output<Schema>> & string

/**
 * Returns the flags of the fields that can be written, without secrets. They come from the columns of files, so that a flag
 * and a column cannot disagree. The build replaces the modules that call this by their values, so that a command loads no
 * schema.
 *
 * @param own properties of single flags
 * @param order the first flags; the others follow in the order of the contract, then the `foreign` fields,
 * then the fields of objects
 */
export function flagsOf<Schema extends z.ZodObject>(
  schema: Schema,
  own: { readonly [Place in Path<Schema>]?: Own } = {},
  order: readonly Path<Schema>[] = [],
): FieldFlags<z.output<Schema>> {
  const places: readonly string[] = order
  const columns = columnsOf(schema).filter(({ secret }) => !secret)
  const rankOf = ({ path }: Column) => {
    const first = places.indexOf(path)
    if (first >= 0) return first - places.length
    return path.includes('.') ? 2 : fieldAt(schema, path).foreign ? 1 : 0
  }
  const ordered = columns.toSorted((one, other) => rankOf(one) - rankOf(other))
  const said: Readonly<Record<string, Own | undefined>> = own
  const flags = ordered.map((column) => [column.path, flagOf(schema, column, said[column.path])] as const)
  return Object.fromEntries(flags) as FieldFlags<z.output<Schema>>
}

function flagOf(schema: z.ZodType, column: Column, { as, byArgument, ...own }: Own = {}): FieldFlag {
  const { is, says, label = says } = fieldAt(schema, column.path)
  const { kind } = column
  const choices = choicesIn(is)
  const standard = column.required ? undefined : defaultOf(column.initial)
  return {
    ...(kind !== 'text' && { kind }),
    summary: as === undefined ? label : `${label}, as ${as}`,
    ...(column.required && byArgument !== true && { required: true }),
    ...(choices && { choices }),
    ...(standard !== undefined && { default: standard }),
    ...own,
  } as FieldFlag
}

/** Returns the field at a dotted path. */
function fieldAt(schema: z.ZodType, path: string): Field {
  const names = path.split('.')
  const [last = ''] = names.splice(-1)
  const fields = names.reduce<Fields | undefined>(
    (above, name) => above?.[name] && fieldsOf(bare(above[name].is)),
    fieldsOf(schema),
  )
  const found = fields?.[last]
  if (!found) throw new Error(`${path} is not a field with a description`)
  return found
}

/** Returns the values that a field, or each item of a list, takes; undefined if it takes any. */
function choicesIn(schema: z.ZodType): readonly string[] | undefined {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray) return choicesIn(inner.element as z.ZodType)
  if (inner instanceof z.ZodPipe) return choicesIn(inner.in as z.ZodType)
  return inner instanceof z.ZodEnum ? inner.options.map(String) : undefined
}

/** Returns the default as help shows it; undefined if it is empty. */
function defaultOf(initial: unknown): string | undefined {
  if (typeof initial === 'boolean') return initial ? 'on' : 'off'
  if (Array.isArray(initial)) return initial.length > 0 ? initial.join(',') : undefined
  return initial === null || initial === '' ? undefined : String(initial)
}
