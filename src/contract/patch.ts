import * as z from 'zod'
import { type Fields, fieldsOf, withFields } from './fields.ts'

/** Any part of a value, with null for "back to the default" where there is one (RFC 7396). */
export type Patch<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? {
        [Key in keyof Value]?:
          | Patch<Value[Key]>
          | (Pick<Value, Key> extends Required<Pick<Value, Key>> ? never : null)
          | undefined
      }
    : Value

/**
 * The merge patch of a resource's writable attributes: everything optional, null where the attribute can be left out
 * of a new resource, objects merged, arrays replaced (RFC 7396). It describes what may be sent; the server validates
 * the merged whole.
 *
 * @param fields the words of its fields, where they are not those of a new resource
 */
export function patchOf<Schema extends z.ZodObject>(
  schema: Schema,
  fields: () => Fields = () => fieldsOf(schema) ?? {},
) {
  // Only the OpenAPI document looks inside; everybody else is spared the making.
  const patch = z.lazy(() => loose(schema)) as unknown as z.ZodType<
    Patch<z.input<Schema>>,
    Patch<z.input<Schema>>
  >
  return withFields(patch, fields)
}

function loose(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  if (!(inner instanceof z.ZodObject)) return inner
  const shape = Object.entries(inner.shape).map(([key, value]) => {
    const field = value as z.ZodType
    const meta = field.meta()
    const inside = loose(field)
    const open = (field.safeParse(undefined).success ? inside.nullable() : inside).optional()
    return [key, meta ? open.meta(meta) : open]
  })
  return z.strictObject(Object.fromEntries(shape))
}

/** The schema below its default, nullable and optional wrappers. */
export function bare(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) {
    return bare(schema.unwrap() as z.ZodType)
  }
  return schema
}
