import * as z from 'zod'
import { nounOf } from '../../client/nouns.ts'
import type { Operation } from '../../contract/operation.ts'
import { bare } from '../../contract/patch.ts'
import type { Shape } from '../output/output.ts'

/** What an operation's result looks like: the items of a list, or the resource. */
export function shapeOf(operation: Operation, table: readonly string[]): Shape {
  const schema = operation.list ? itemsIn(operation.response, 'data') : operation.response
  return {
    table: table.length > 0 || !schema ? table : fieldsOf(schema),
    paths: schema ? pathsOf(schema) : [],
    identifier: operation.identifier,
    noun: nounOf(operation),
  }
}

/** The fields that answers carry and bodies do not: what has to go when a resource is sent back as a new one. */
export function readOnlyFields(operation: Operation): string[] {
  const writable = operation.body ? fieldsOf(operation.body) : []
  return operation.response ? fieldsOf(operation.response).filter((field) => !writable.includes(field)) : []
}

/** The names of an object's fields; none for what is not an object. */
export function fieldsOf(schema: z.ZodType): string[] {
  const object = bare(schema)
  return object instanceof z.ZodObject ? Object.keys(object.shape) : []
}

/** Every field and every field of objects in it, as dotted paths. */
export function pathsOf(schema: z.ZodType): string[] {
  const object = bare(schema)
  if (!(object instanceof z.ZodObject)) return []
  return Object.entries(object.shape).flatMap(([name, member]) => [
    name,
    ...pathsOf(member as z.ZodType).map((path) => `${name}.${path}`),
  ])
}

function itemsIn(response: z.ZodType | null, member: string): z.ZodType | null {
  const items = response instanceof z.ZodObject ? response.shape[member] : undefined
  return items instanceof z.ZodArray ? (items.element as z.ZodType) : response
}
