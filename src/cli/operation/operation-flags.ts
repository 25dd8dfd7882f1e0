import { joinReferences } from '../../codec/reference.ts'
import type { BoundFlag, Flag, FlagValues } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'

export const bodyFlag: Flag = {
  name: 'body',
  kind: 'text',
  placeholder: '@file|-',
  file: 'read',
  summary: 'Read fields from a JSON or YAML file, or standard input; flags override them',
}

export const unsetFlag: Flag = {
  name: 'unset',
  kind: 'words',
  placeholder: 'field,…',
  summary: 'Reset fields to their defaults, by flag name',
}

/** Lets a command read the ids that another prints. */
export const idsFlag: Flag = {
  name: 'ids',
  kind: 'text',
  placeholder: 'file|-',
  file: 'read',
  summary: 'Read ids from a file or standard input, one per line',
}

export const ifNotExistsFlag: Flag = {
  name: 'if-not-exists',
  kind: 'switch',
  summary: 'Do nothing if it already exists',
}

export const upsertFlag: Flag = {
  name: 'upsert',
  kind: 'switch',
  summary: 'Update it if it already exists',
}

export const ifVersionFlag: Flag = {
  name: 'if-version',
  kind: 'number',
  summary: 'Fail unless this is the current version (exit 6)',
}

export const ignoreFiltersFlag: Flag = {
  name: 'ignore-filters',
  kind: 'switch',
  summary: 'Include rows that are outside of the filters or cannot be checked (other platforms)',
}

/** `--ignore-filters` accepts rows outside of a filter, with a note. */
export async function rowHandling(
  output: { note(text: string): Promise<void> },
  flags: Readonly<Record<string, unknown>>,
): Promise<{ readonly handling?: 'lenient' }> {
  if (flags[ignoreFiltersFlag.name] !== true) return {}
  await output.note(`Rows are not checked against the filters (--${ignoreFiltersFlag.name})`)
  return { handling: 'lenient' }
}

export const delimiterFlag = {
  name: 'delimiter',
  kind: 'text',
  placeholder: 'character',
  summary:
    'Character between the cells of CSV: comma, ; or tab. With ; numbers have a decimal comma, as in Excel in much of Europe',
  default: 'comma',
} as const satisfies Flag

const delimiters: ReadonlyMap<string, string> = new Map([
  [',', ','],
  ['comma', ','],
  [';', ';'],
  ['semicolon', ';'],
  ['\t', '\t'],
  ['\\t', '\t'],
  ['tab', '\t'],
])

export function delimiterOf(flags: FlagValues, format: string): string {
  const given = flags[delimiterFlag.name]
  if (given === undefined) return ','
  if (format !== 'csv') {
    throw new UsageError(`--delimiter is only supported for CSV, not for ${format}`, { hint: 'Add -o csv' })
  }
  const character = delimiters.get(String(given))
  if (character !== undefined) return character
  throw new UsageError(`--delimiter must be a comma, ; or tab, not ${JSON.stringify(given)}`)
}

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
