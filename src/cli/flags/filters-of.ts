import * as z from 'zod'
import { isList } from '../../contract/field.ts'
import type { Operation, QueryInput } from '../../contract/operation.ts'
import { paging } from '../../contract/page.ts'
import { bare } from '../../contract/patch.ts'
import type { FieldFlag, Kinds, QueryFlags } from '../command/flag.ts'
import { sortFlag } from '../command/sort-flag.ts'
import { periodFlags } from '../command/time-flag.ts'

/** Properties of a parameter's flag that the contract does not have. */
type Own = Partial<Omit<FieldFlag, 'kind'>> & { readonly kind?: keyof Kinds }

/**
 * Returns the flags of a list's parameters in the order of the contract, with their kinds and choices. Times and the order
 * are derived wholly, all others need a summary.
 */
export function filtersOf<O extends Operation>(
  { id, query }: O,
  own: { readonly [Name in keyof QueryFlags<QueryInput<O>>]?: Own },
): QueryFlags<QueryInput<O>> {
  const said: Readonly<Record<string, Own | undefined>> = own
  const flags = Object.entries(query?.shape ?? {})
    .filter(([name]) => !Object.hasOwn(paging, name))
    .map(([name, schema]) => {
      const flag = { ...derivedFlag(name, schema as z.ZodType), ...said[name] }
      if (flag.summary === undefined) throw new Error(`${name} of ${id} has no summary`)
      return [name, flag] as const
    })
  return Object.fromEntries(flags) as QueryFlags<QueryInput<O>>
}

function derivedFlag(name: string, schema: z.ZodType): Own {
  const [, event] = /^(.*) (?:at or after|before) this time$/.exec(schema.meta()?.description ?? '') ?? []
  if (event !== undefined) return periodFlags(event)[name === 'until' ? 'until' : 'since']
  const inner = bare(schema)
  const sent = inner instanceof z.ZodPipe ? bare(inner.in as z.ZodType) : inner
  if (isList(schema)) {
    // The items of a comma list are in its description alone.
    const { items } = (sent.meta() ?? {}) as { readonly items?: { readonly enum?: readonly string[] } }
    return items?.enum ? { kind: 'words', choices: items.enum } : { kind: 'texts' }
  }
  if (!(sent instanceof z.ZodEnum)) return {}
  const choices = sent.options.map(String)
  if (name === 'sort') {
    const fields = choices.filter((field) => !field.startsWith('-'))
    return sortFlag(fields, String(schema.parse(undefined)))
  }
  return choices.join() === 'true,false' ? { kind: 'switch' } : { choices }
}
