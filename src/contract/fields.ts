import * as z from 'zod'

/** Besides its schema, a field has its text in the reference, in help and in prompts. */
export interface Field<Schema extends z.ZodType = z.ZodType> {
  readonly is: Schema
  /** Text in the reference: `Title of the course`. */
  readonly says: string
  /** Short text in help and prompts: `Title` (default `says`). */
  readonly label?: string
  /** True for a field that links a record to other systems: help lists it after the other fields. */
  readonly foreign?: true
}

export type Fields = Readonly<Record<string, Field>>

type ShapeOf<F extends Fields> = { -readonly [Name in keyof F]: F[Name]['is'] }
type Sent<F extends Fields> = z.ZodObject<ShapeOf<F>, z.core.$strict>
type Shown<F extends Fields> = z.output<z.ZodObject<ShapeOf<F>>>

/** No field of a response is omitted. */
type Whole<Value> = Value extends readonly (infer Item)[]
  ? Whole<Item>[]
  : Value extends object
    ? { [Name in keyof Value]-?: Whole<Exclude<Value[Name], undefined>> }
    : Value
type Answered<F extends Fields> = {
  readonly [Name in keyof F]: Field<z.ZodType<Whole<Exclude<z.output<F[Name]['is']>, undefined>>>>
}

const fieldsBySchema = new WeakMap<z.ZodType, () => Fields>()
const namesBySchema = new WeakMap<z.ZodType, { readonly name: string; readonly says: string }>()

export function field<Schema extends z.ZodType>(is: Schema, says: string, label?: string): Field<Schema> {
  return { is, says, ...(label !== undefined && { label }) }
}

/** Refuses other fields. `refine` adds checks across fields, and returns another object, for which they are registered. */
export function sent<F extends Fields>(fields: F, refine?: (object: Sent<F>) => Sent<F>): Sent<F> {
  const object = z.strictObject(shapeOf(fields)) as Sent<F>
  return withFields(refine?.(object) ?? object, () => fields)
}

/** The object drops other fields. */
export function objectOf<F extends Fields>(fields: F): z.ZodObject<ShapeOf<F>> {
  return withFields(z.object(shapeOf(fields)), () => fields)
}

/** May have other fields as well. Built on first use, which no command needs: this saves 2 to 3 ms of each write. */
export function shown<F extends Fields>(fields: () => F): z.ZodType<Shown<F>> {
  let made: F | undefined
  const once = () => {
    made ??= fields()
    return made
  }
  return withFields(
    z.lazy(() => z.object(shapeOf(once()))),
    once,
  ) as unknown as z.ZodType<Shown<F>>
}

/** Returns the fields of a request as responses have them: no defaults, nothing optional, objects open, bounds kept. */
export function answered<F extends Fields>(fields: F): Answered<F> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, is: wholeOf(field.is) }]),
  ) as Answered<F>
}

function wholeOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return wholeOf(schema.unwrap() as z.ZodType)
  }
  if (schema instanceof z.ZodNullable) return wholeOf(schema.unwrap() as z.ZodType).nullable()
  if (schema instanceof z.ZodArray) {
    // z.array() would drop the checks. A minimum number of items binds clients only.
    const checks = schema.def.checks?.filter((check) => check._zod.def.check !== 'min_length')
    return schema.clone({
      ...schema.def,
      ...(checks && { checks }),
      element: wholeOf(schema.element as z.ZodType),
    })
  }
  const fields = fieldsOf(schema)
  return fields ? shown(() => answered(fields)) : schema
}

export function named<Schema extends z.ZodType>(name: string, says: string, schema: Schema): Schema {
  namesBySchema.set(schema, { name, says })
  return schema
}

export function withFields<Schema extends z.ZodType>(schema: Schema, fields: () => Fields): Schema {
  fieldsBySchema.set(schema, fields)
  return schema
}

/** Undefined for any schema but an object with registered fields. */
export function fieldsOf(schema: z.ZodType): Fields | undefined {
  return fieldsBySchema.get(schema)?.()
}

/** Undefined for a schema that is no component. */
export function componentOf(schema: z.ZodType): { readonly name: string; readonly says: string } | undefined {
  return namesBySchema.get(schema)
}

function shapeOf<F extends Fields>(fields: F): ShapeOf<F> {
  return Object.fromEntries(Object.entries(fields).map(([name, { is }]) => [name, is])) as ShapeOf<F>
}

/** RFC 7396: null resets a field that has a default. */
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
  const patch = z.lazy(() => patchSchemaOf(schema)) as unknown as z.ZodType<
    Patch<z.input<Schema>>,
    Patch<z.input<Schema>>
  >
  return withFields(patch, fields)
}

function patchSchemaOf(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  if (!(inner instanceof z.ZodObject)) return inner
  const shape = Object.entries(inner.shape).map(([key, value]) => {
    const field = value as z.ZodType
    const meta = field.meta()
    const inside = patchSchemaOf(field)
    const open = (field.safeParse(undefined).success ? inside.nullable() : inside).optional()
    return [key, meta ? open.meta(meta) : open]
  })
  return z.strictObject(Object.fromEntries(shape))
}

/** Removes default, nullable and optional wrappers. */
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
