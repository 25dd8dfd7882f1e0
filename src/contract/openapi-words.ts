import * as z from 'zod'
import { componentOf, fieldsOf } from './fields.ts'
import { bare } from './patch.ts'
import { words } from './words/index.ts'
import type { Words } from './words/record.ts'

/** What a component and each of its fields is, by dotted path; the empty path says what the component is. */
export function wordsOf(name: string, schema: z.ZodType): Words {
  const component = componentOf(schema)
  return component ? { '': component.says, ...wordsBelow('', schema) } : (words[name] ?? {})
}

function wordsBelow(path: string, schema: z.ZodType): Words {
  const fields = Object.entries(fieldsOf(schema) ?? {}).map(([name, { is, says }]) => {
    const at = path === '' ? name : `${path}.${name}`
    const inside = objectIn(is)
    // A component has words of its own.
    return { [at]: says, ...(componentOf(inside) ? {} : wordsBelow(at, inside)) }
  })
  return Object.assign({}, ...fields)
}

/** The schema of a value, or of the items of a list. */
function objectIn(schema: z.ZodType): z.ZodType {
  const inner = bare(schema)
  return inner instanceof z.ZodArray ? objectIn(inner.element as z.ZodType) : inner
}
