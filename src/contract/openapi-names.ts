import * as z from 'zod'
import { componentOf, fieldsOf } from './fields.ts'
import { operations } from './index.ts'
import { bare } from './patch.ts'

/** Schemas by component name. */
export type Named = Readonly<Record<string, z.ZodType>>

const answers = componentsIn(operations.map(({ response }) => response))
const bodies = componentsIn(operations.map(({ body }) => body))

/** Named choices of requests and responses. */
export const choices: Named = only(answers, isChoice)

/** Components of responses. */
export const shown: Named = only(answers, (schema) => !isChoice(schema))

/** Components of requests. */
export const sent: Named = only(bodies, (schema) => !isChoice(schema))

function isChoice(schema: z.ZodType): boolean {
  return schema instanceof z.ZodEnum
}

function only(named: Named, isMeant: (schema: z.ZodType) => boolean): Named {
  return Object.fromEntries(Object.entries(named).filter(([, schema]) => isMeant(schema)))
}

/** Collects the components of schemas, each after those that it contains. Throws if two share a name. */
function componentsIn(schemas: readonly (z.ZodType | null | undefined)[]): Named {
  const found = new Map<string, z.ZodType>()
  const visit = (schema: z.ZodType): void => {
    const inner = bare(schema)
    const component = componentOf(inner)
    const known = component && found.get(component.name)
    if (known === inner) return
    if (known) throw new Error(`Two components are called ${component.name}`)
    if (inner instanceof z.ZodArray) visit(inner.element as z.ZodType)
    for (const { is } of Object.values(fieldsOf(inner) ?? {})) visit(is)
    if (component) found.set(component.name, inner)
  }
  for (const schema of schemas) if (schema) visit(schema)
  return Object.fromEntries(found)
}
