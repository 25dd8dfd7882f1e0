import { joinReferences } from '../../codec/reference.ts'
import type { BoundFlag, Flag, FlagValues } from '../command/flag.ts'

/** Flag for the whole body. */
export const bodyFlag: Flag = {
  name: 'body',
  kind: 'text',
  placeholder: '@file|-',
  summary: 'Read fields from a JSON or YAML file, or standard input; flags override them',
}

/** Flag for fields to remove from a resource. */
export const unsetFlag: Flag = {
  name: 'unset',
  kind: 'words',
  placeholder: 'field,…',
  summary: 'Reset fields to their defaults, by flag name',
}

/** Flag for further ids to change, so that a command reads the ids that another prints. */
export const idsFlag: Flag = {
  name: 'ids',
  kind: 'text',
  placeholder: 'file|-',
  summary: 'Read ids from a file or standard input, one per line',
}

/** Flag that leaves an existing record unchanged. */
export const ifNotExistsFlag: Flag = {
  name: 'if-not-exists',
  kind: 'switch',
  summary: 'Do nothing if it already exists',
}

/** Flag that updates an existing record. */
export const upsertFlag: Flag = {
  name: 'upsert',
  kind: 'switch',
  summary: 'Update it if it already exists',
}

/** Flag for the required current version. */
export const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Fail unless this is the current version (exit 6)',
}

/** Flag that prints a platform's rows without checking filters. */
export const ignoreFiltersFlag: Flag = {
  name: 'ignore-filters',
  kind: 'switch',
  summary: 'Include rows that cannot be checked against the filters (other platforms)',
}

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
