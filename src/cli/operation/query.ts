import { joinReferences } from '../../codec/reference.ts'
import type { BoundFlag, FlagValues } from '../command/flag.ts'

/** Returns the query of flags, by parameter; a repeatable flag gives a list of references. */
export function queryOf(flags: readonly BoundFlag[], values: FlagValues): Record<string, unknown> {
  return Object.fromEntries(
    flags.flatMap(({ place, flag }) => {
      const value = values[flag.name]
      if (value === undefined) return []
      const list = flag.kind === 'texts' && Array.isArray(value)
      return [[place, list ? joinReferences(value.map(String)) : value]]
    }),
  )
}
