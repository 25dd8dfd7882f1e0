import * as z from 'zod'
import { type Fields, fieldsOf, withFields } from './fields.ts'

/** Type of a merge patch: any part of a value, with null to reset a field that has a default (RFC 7396). */
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
 * Returns the merge patch of a resource's writable attributes: every field is optional, null if it may be omitted from a
 * new resource; objects are merged, arrays replaced (RFC 7396). It describes the request only; the server validates the
 * merged resource.
 *
 * @param fields descriptions of the fields, if they differ from those of a new resource
 */
export function patchOf<Schema extends z.ZodObject>(
  schema: Schema,
  fields: () => Fields = () => fieldsOf(schema) ?? {},
) {
  // Only the OpenAPI document reads its structure; lazy saves other users the cost.
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

/** Returns the schema inside default, nullable and optional wrappers. */
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
