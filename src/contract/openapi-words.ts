import * as z from 'zod'
import { componentOf, fieldsOf } from './fields.ts'
import { bare } from './patch.ts'

/** Descriptions of the fields of a schema by path (`modules.title`); the empty path describes the schema. */
export type Words = Readonly<Record<string, string>>

/** Returns the descriptions of a component and of its fields. */
export function wordsOf(schema: z.ZodType): Words {
  return { '': componentOf(schema)?.says ?? '', ...wordsBelow('', schema) }
}

function wordsBelow(path: string, schema: z.ZodType): Words {
  const fields = Object.entries(fieldsOf(schema) ?? {}).map(([name, { is, says }]) => {
    const at = path === '' ? name : `${path}.${name}`
    const inside = objectIn(is)
    // A component has descriptions of its own.
    return { [at]: says, ...(componentOf(inside) ? {} : wordsBelow(at, inside)) }
  })
  return Object.assign({}, ...fields)
}

/** Returns the schema of a value, or of the items of a list. */
function objectIn(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  return inner instanceof z.ZodArray ? objectIn(inner.element as z.ZodType) : inner
}
