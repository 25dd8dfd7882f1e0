import type { Settings } from '../../config/resolve-settings.ts'
import { checkChoices } from '../command/choices.ts'
import type { Given } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import { exportForm, formatNames } from './export-form.ts'
import type { RowForm } from './row-encoder.ts'
import type { ExportTarget } from './write-export.ts'

/** The form that can be asked for by a name of its own, beside `--output`. */
export const formatFlag = {
  name: 'format',
  kind: 'text',
  placeholder: 'format',
  summary: 'Same as --output (default from the extension of --file, else csv)',
  choices: formatNames,
} as const satisfies Flag

/** Also what an import leaves out. */
export const allColumnsFlag = {
  name: 'all-columns',
  kind: 'switch',
  summary: 'Include what the platform sets, such as id, version and times; an import ignores it',
} as const satisfies Flag

/** How records came to be what they are, where they have a history. */
export const historyFlag = {
  name: 'history',
  kind: 'switch',
  summary: 'Export every step, oldest first within each enrolment; an import records them again',
} as const satisfies Flag

/** How CSV is written, and where an export goes. */
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

/** What the flags of an export ask for. Throws a UsageError where they contradict each other. */
export function exportAsked(settings: Settings, { flags }: Given): ExportTarget & RowForm {
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

/** The columns of a project's file are for lists that are looked at, and leave an export as it is. */
function chosenColumns({ columns: { value, origin } }: Settings): readonly string[] | null {
  return origin.source === 'project' ? null : value
}
