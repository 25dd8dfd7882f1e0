import type { Settings } from '../../config/resolve-settings.ts'
import type { Given } from '../command/command.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { exportForm, formatNames } from './export-form.ts'
import type { RowForm } from './row-encoder.ts'
import type { ExportTarget } from './write-export.ts'

/** The format by its own flag, besides `--output`. */
export const formatFlag = {
  name: 'format',
  kind: 'text',
  placeholder: 'format',
  summary: 'Same as --output (default from the extension of --file, else csv)',
  choices: formatNames,
} as const satisfies Flag

/** Includes columns that an import does not take. */
export const allColumnsFlag = {
  name: 'all-columns',
  kind: 'switch',
  summary: 'Include what the platform sets, such as id, version and times; an import ignores it',
} as const satisfies Flag

/** Exports the history of records instead of their state. */
export const historyFlag = {
  name: 'history',
  kind: 'switch',
  summary: 'Export every step, oldest first within each enrolment; an import records them again',
} as const satisfies Flag

/** Flags for the form of CSV and the target. */
export const targetFlags = [
  { name: 'raw', kind: 'switch', summary: 'Do not escape text that looks like a formula (CSV)' },
  { name: 'bom', kind: 'switch', summary: 'Add a byte order mark, for Excel (CSV)' },
  {
    name: 'file',
    kind: 'text',
    placeholder: 'path',
    summary:
      'File to write (default -, standard output); unchanged if the export fails, and created for you alone (mode 0600)',
  },
  { name: 'force', kind: 'switch', summary: 'Overwrite an existing file' },
] as const satisfies readonly Flag[]

/** Reads the flags of an export. Throws a UsageError on contradictions. */
export function exportOptionsOf(settings: Settings, { flags }: Given): ExportTarget & RowForm {
  checkChoices([formatFlag], flags)
  const file = flags['file'] === undefined || flags['file'] === '-' ? undefined : String(flags['file'])
  const formatName = flags['format'] === undefined ? undefined : String(flags['format'])
  const form = exportForm(settings, formatName, file)
  const csvOnly = ['raw', 'bom'].find((flag) => flags[flag] === true)
  if (csvOnly && form.format !== 'csv') {
    throw new UsageError(`--${csvOnly} is only supported for CSV, not for ${form.format}`)
  }
  if (flags['force'] === true && file === undefined) throw new UsageError('--force requires --file <path>')
  return {
    ...form,
    columns: chosenColumns(settings),
    raw: flags['raw'] === true,
    bom: flags['bom'] === true,
    file,
    force: flags['force'] === true,
  }
}

/** Returns the chosen columns. Those of the project file are for lists on the screen and do not count. */
function chosenColumns({ columns: { value, origin } }: Settings): readonly string[] | null {
  return origin.source === 'project' ? null : value
}
