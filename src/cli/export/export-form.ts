import type { Settings } from '../../config/resolve-settings.ts'
import type { Format } from '../../config/setting.ts'
import { UsageError } from '../terminal/errors.ts'

/** Format and compression of an export. */
export interface ExportForm {
  readonly format: Format
  /** True if the file's name ends in `.gz`. */
  readonly gzip: boolean
}

/** Values of `--format`: the output formats, and one alias. */
export const formatNames = ['csv', 'json', 'jsonl', 'ndjson', 'yaml'] as const

const formatOfEnding: ReadonlyMap<string, Format> = new Map([
  ['csv', 'csv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
])
/** Extensions of formats that are not supported; a CSV with such a name would be misleading. */
const foreignEndings = [
  'tsv',
  'xls',
  'xlsx',
  'ods',
  'parquet',
  'avro',
  'xml',
  'html',
  'zip',
  'bz2',
  'xz',
  'zst',
  '7z',
]

/** A format and what requested it. */
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
export function exportForm(
  { output }: Pick<Settings, 'output'>,
  formatFlag: string | undefined,
  file: string | undefined,
): ExportForm {
  const gzip = file !== undefined && /\.gz$/i.test(file)
  const asked = [...askedByFlags(output, formatFlag), ...askedByName(file, gzip)]
  const [first, other] = [asked[0], asked.find(({ format }) => format !== asked[0]?.format)]
  if (first && other) throw new UsageError(`${first.by} and ${other.by} cannot be used together`)
  if (first) return { format: checked(first, file), gzip }
  // A default of `table` is meant for the screen, not for files.
  const set = output.origin.source !== 'default' && !(file !== undefined && output.value === 'table')
  return { format: set ? output.value : 'csv', gzip }
}

function askedByFlags({ value, origin }: Settings['output'], formatFlag: string | undefined): Asked[] {
  const byFormat = formatOfEnding.get(formatFlag ?? '')
  return [
    ...(origin.source === 'flag' ? [{ format: value, by: `${origin.name} ${value}` }] : []),
    ...(byFormat ? [{ format: byFormat, by: `--format ${formatFlag}` }] : []),
  ]
}

function askedByName(file: string | undefined, gzip: boolean): Asked[] {
  if (file === undefined) return []
  const [, ending = ''] = /\.(\w+)$/.exec(gzip ? file.slice(0, -'.gz'.length) : file) ?? []
  if (foreignEndings.includes(ending.toLowerCase())) {
    throw new UsageError(`Cannot write ${file}: .${ending} files are not supported`, {
      hint: 'Use a name that ends in .csv, .json, .jsonl, .ndjson or .yaml, each also with .gz',
    })
  }
  const format = formatOfEnding.get(ending.toLowerCase())
  return format ? [{ format, by: `--file ${file}` }] : []
}

function checked({ format, by }: Asked, file: string | undefined): Format {
  if (format !== 'table' || file === undefined) return format
  throw new UsageError(`${by} is not supported for a file`, { hint: 'Use csv, json, jsonl or yaml' })
}
