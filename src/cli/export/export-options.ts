import type { Settings } from '../../config/resolve-settings.ts'
import { type BinaryFormat, type Format, isBinaryFormat } from '../../config/setting.ts'
import type { Given } from '../command/command.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { delimiterFlag, delimiterOf } from '../operation/operation-flags.ts'
import { assertSheetOnly, sheetFlag, sheetPlaceOf } from '../targets/sheet-flag.ts'
import type { ExportTarget } from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import type { RowForm } from './row-encoder.ts'

const formatNames = ['csv', 'json', 'jsonl', 'ndjson', 'yaml', 'parquet', 'xlsx'] as const

export const formatFlag = {
  name: 'format',
  kind: 'text',
  placeholder: 'format',
  summary: 'Same as --output (default from the extension of --file, else csv)',
  choices: formatNames,
} as const satisfies Flag

export const allColumnsFlag = {
  name: 'all-columns',
  kind: 'switch',
  summary: 'Include what the platform sets, such as id, version and times; an import ignores it',
} as const satisfies Flag

export const historyFlag = {
  name: 'history',
  kind: 'switch',
  summary: 'Export every step, oldest first within each enrolment; an import records them again',
} as const satisfies Flag

export const targetFlags = [
  { name: 'raw', kind: 'switch', summary: 'Do not escape text that looks like a formula (CSV)' },
  delimiterFlag,
  { name: 'bom', kind: 'switch', summary: 'Add a byte order mark, for Excel (CSV)' },
  {
    name: 'file',
    kind: 'text',
    placeholder: 'path',
    file: 'write',
    summary:
      'File to write (default -, standard output); unchanged if the export fails, and created for you alone (mode 0600)',
  },
  { name: 'force', kind: 'switch', summary: 'Overwrite an existing file', destructive: true },
] as const satisfies readonly Flag[]

/** Undefined for standard output. Throws a UsageError for `--force` without a file. */
export function fileTarget({ flags }: Given): Omit<ExportTarget, 'format' | 'sheet'> {
  const file = flags['file'] === undefined || flags['file'] === '-' ? undefined : String(flags['file'])
  const force = flags['force'] === true
  if (force && file === undefined) throw new UsageError('--force requires --file <path>')
  return { file, force, gzip: file !== undefined && /\.gz$/i.test(file) }
}

/** Throws a UsageError on contradictions. */
export function exportOptionsOf(
  settings: Settings,
  given: Given,
  defaultTab = 'learnctl',
): ExportTarget & RowForm {
  const { flags } = given
  checkChoices([formatFlag], flags)
  if (flags[sheetFlag.name] !== undefined) return sheetOptions(settings, flags, defaultTab)
  const { file, force } = fileTarget(given)
  const formatName = flags['format'] === undefined ? undefined : String(flags['format'])
  const form = exportForm(settings, formatName, file)
  const csvOnly = ['raw', 'bom'].find((flag) => flags[flag] === true)
  if (csvOnly && form.format !== 'csv') {
    throw new UsageError(`--${csvOnly} is only supported for CSV, not for ${form.format}`)
  }
  return {
    ...form,
    columns: chosenColumns(settings),
    raw: flags['raw'] === true,
    bom: flags['bom'] === true,
    delimiter: delimiterOf(flags, form.format),
    file,
    force,
  }
}

function sheetOptions(settings: Settings, flags: Given['flags'], defaultTab: string): ExportTarget & RowForm {
  assertSheetOnly(settings, flags, [formatFlag, ...targetFlags])
  return {
    format: 'sheet',
    gzip: false,
    columns: chosenColumns(settings),
    raw: true,
    bom: false,
    delimiter: ',',
    file: undefined,
    force: false,
    sheet: sheetPlaceOf(String(flags[sheetFlag.name]), defaultTab),
  }
}

/** Columns of the project file are for lists on the screen and do not count. */
function chosenColumns({ columns: { value, origin } }: Settings): readonly string[] | null {
  return origin.source === 'project' ? null : value
}

const formatByExtension: ReadonlyMap<string, Format> = new Map([
  ['csv', 'csv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['parquet', 'parquet'],
  ['xlsx', 'xlsx'],
])
/** Extensions of formats that are not supported; a CSV with such a name would be misleading. */
const unsupportedExtensions = ['tsv', 'xls', 'ods', 'avro', 'xml', 'html', 'zip', 'bz2', 'xz', 'zst', '7z']

interface Asked {
  readonly format: Format
  readonly by: string
}

/**
 * Returns the form of an export: from the flags, else the file's name, else the settings, else CSV. Throws a
 * UsageError on contradictions, and for a file name with an unsupported format.
 *
 * @param formatFlag value of `--format`, one of `formatNames`
 * @param file undefined for standard output
 */
function exportForm(
  { output }: Pick<Settings, 'output'>,
  formatFlag: string | undefined,
  file: string | undefined,
): Pick<ExportTarget, 'format' | 'gzip'> {
  const gzip = file !== undefined && /\.gz$/i.test(file)
  const asked = [...askedByFlags(output, formatFlag), ...askedByName(file, gzip)]
  const [first, other] = [asked[0], asked.find(({ format }) => format !== asked[0]?.format)]
  if (first && other) throw new UsageError(`${first.by} and ${other.by} cannot be used together`)
  if (gzip && first && isBinaryFormat(first.format)) throw compressedTwice(first.format, file)
  if (first) return { format: requireFileFormat(first, file), gzip }
  // A default of `table` is meant for the screen, not for files.
  const set = output.origin.source !== 'default' && !(file !== undefined && output.value === 'table')
  return { format: set ? output.value : 'csv', gzip }
}

function compressedTwice(format: BinaryFormat, file: string): UsageError {
  return new UsageError(`Cannot write ${file}: ${format} files are compressed already`, {
    hint: `Use a name that ends in .${format}`,
  })
}

function askedByFlags({ value, origin }: Settings['output'], formatFlag: string | undefined): Asked[] {
  const byFormat = formatByExtension.get(formatFlag ?? '')
  return [
    ...(origin.source === 'flag' ? [{ format: value, by: `${origin.name} ${value}` }] : []),
    ...(byFormat ? [{ format: byFormat, by: `--format ${formatFlag}` }] : []),
  ]
}

function askedByName(file: string | undefined, gzip: boolean): Asked[] {
  if (file === undefined) return []
  const [, ending = ''] = /\.(\w+)$/.exec(gzip ? file.slice(0, -'.gz'.length) : file) ?? []
  if (unsupportedExtensions.includes(ending.toLowerCase())) {
    throw new UsageError(`Cannot write ${file}: .${ending} files are not supported`, {
      hint: 'Use a name that ends in .csv, .json, .jsonl, .ndjson or .yaml, each also with .gz, or in .parquet or .xlsx',
    })
  }
  const format = formatByExtension.get(ending.toLowerCase())
  return format ? [{ format, by: `--file ${file}` }] : []
}

function requireFileFormat({ format, by }: Asked, file: string | undefined): Format {
  if (format !== 'table' || file === undefined) return format
  throw new UsageError(`${by} is not supported for a file`, {
    hint: 'Use csv, json, jsonl, yaml, parquet or xlsx',
  })
}
