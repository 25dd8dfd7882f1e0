import * as z from 'zod'
import { responseComponents } from '../../contract/openapi/schemas.ts'

export const text = z.string()

export const count = z.int().min(0)

/** `others` are values of further fields. */
export function result(says: string, shape: z.core.$ZodLooseShape, others?: z.ZodType): z.ZodType {
  const object = z.object(shape)
  return (others ? object.catchall(others) : object).meta({ description: says })
}

/** Returns the schema of a response of the API by its name in the OpenAPI document. Throws if there is none. */
export function shown(name: string): z.ZodType {
  const schema = responseComponents[name]
  if (schema) return schema
  throw new Error(`${name} is not a response of the API`)
}
