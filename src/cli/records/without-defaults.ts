import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { bare } from '../../contract/fields.ts'

/** Returns a value in the field order of its schema, without defaults and unknown fields. */
export function withoutDefaults(schema: z.ZodType, value: unknown): unknown {
  const inner = bare(schema)
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => withoutDefaults(inner.element as z.ZodType, item))
  }
  if (!(inner instanceof z.ZodObject) || !isJsonObject(value)) return value
  const result: JsonObject = {}
  for (const [name, member] of Object.entries(inner.shape)) {
    // A shape holds schemas; zod's type for them is wider.
    const field = member as z.ZodType
    const short = withoutDefaults(field, value[name])
    if (short === undefined) continue
    const standard = field.safeParse(undefined)
    if (standard.success && isDeepStrictEqual(short, withoutDefaults(field, standard.data))) continue
    result[name] = short
  }
  return result
}
