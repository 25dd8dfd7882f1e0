import { jsonText } from '../../codec/json-text.ts'
import { isBinaryFormat } from '../../config/setting.ts'
import { calls } from '../../contract/calls.ts'
import type { EncodedColumn } from '../../tables/column.ts'
import { labelColumns } from '../../tables/column.ts'
import type { Context } from '../command/context.ts'
import { AbsentColumns, type Column, pathsIn, resolvePath } from '../output/columns.ts'
import { type AnyEncoder, type ListEncoder, reduceColumns, typeColumns } from '../output/formats/format.ts'
import { columnsInRows } from '../output/output.ts'
import type { ExportFormat } from '../targets/write-export.ts'
import { UsageError } from '../terminal/errors.ts'
import { createPainterFor } from '../terminal/format-text.ts'

/** Columns of every row; another platform may have more. */
export const rowColumns: readonly string[] = calls.analytics.learners.holds.answer
const tableColumns = [
  'email',
  'courseTitle',
  'progressStatus',
  'completionPercentage',
  'gradePercent',
  'lastAccessed',
]

export interface RowForm {
  readonly format: ExportFormat
  /** Null for the default ones. */
  readonly columns: readonly string[] | null
  readonly raw: boolean
  readonly bom: boolean
  readonly delimiter: string
}

export function isCells({ format }: Pick<RowForm, 'format'>): boolean {
  return format === 'csv' || format === 'table' || format === 'sheet'
}

/** Throws a UsageError on a name that is neither known nor in the sample. */
export function resolveColumns(names: readonly string[], sample: readonly unknown[]): Column[] {
  const known = [...new Set([...rowColumns, ...pathsIn(sample)])]
  return names.map((label) => ({ label, path: resolvePath(label, known) }))
}

/**
 * Throws a UsageError if no row has a chosen column: an empty column would look as if no learner had a value.
 */
function assertFound(columns: readonly Column[], sample: readonly unknown[]): void {
  const absent = new AbsentColumns(columns)
  absent.see(sample)
  const [missing] = absent.all()
  if (!missing) return
  throw new UsageError(`The platform does not send column ${JSON.stringify(missing.label)}`, {
    code: 'missing_column',
    why: [`Columns: ${pathsIn(sample).join(', ')}`],
  })
}

/** The rows have the fields of the API. Throws a UsageError if a chosen column is not in the sample. */
export async function rowEncoder(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  { format, columns: names, raw, bom, delimiter }: RowForm,
  sample: readonly unknown[],
): Promise<AnyEncoder> {
  const chosen = names && resolveColumns(names, sample)
  if (chosen) assertFound(chosen, sample)
  const usual = (paths: readonly string[]) => chosen ?? labelColumns(paths, paths)
  const csv = usual(isBinaryFormat(format) ? shownColumns(sample) : rowColumns)
  const typed = () => typeColumns(csv, calls.analytics.learners.id)
  const columns = { csv, table: usual(tableColumns), chosen, typed }
  return listEncoder({ io, settings }, { format, raw, bom, delimiter }, columns)
}

function shownColumns(sample: readonly unknown[]): string[] {
  return columnsInRows(sample, { paths: rowColumns })
}

interface ListColumns {
  readonly csv: readonly Column[]
  readonly table: readonly Column[]
  /** Chosen columns, which then also apply to csv and table; null for all. */
  readonly chosen: readonly Column[] | null
  /** Types of columns for files of tables. */
  readonly typed: () => Promise<readonly EncodedColumn[]>
}

export async function listEncoder(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  { format, raw, bom, delimiter }: Omit<RowForm, 'columns'>,
  { csv: all, table: few, chosen, typed }: ListColumns,
): Promise<AnyEncoder> {
  switch (format) {
    case 'parquet':
    case 'xlsx': {
      const { loadTableEncoder } = await import('../output/formats/format.ts')
      return loadTableEncoder(format, await typed())
    }
    case 'csv': {
      const { csv } = await import('../output/formats/delimited.ts')
      const encoder = csv(all, raw, delimiter).list()
      return bom ? withByteOrderMark(encoder) : encoder
    }
    case 'table': {
      if (!io.stdout.isTTY) return (await import('../output/formats/delimited.ts')).tsv(few).list()
      const chalk = await createPainterFor(io.stdout, io, settings)
      const { loadTable } = await import('../output/formats/table.ts')
      const width = io.stdout.columns ?? 80
      return (await loadTable({ columns: few, chosen: chosen !== null, width, chalk })).list()
    }
    case 'sheet':
      return (await import('../targets/sheet-target.ts')).sheetRows(all)
    case 'yaml':
      return reduceColumns((await (await import('../output/formats/documents.ts')).loadYaml()).list(), chosen)
    default:
      return reduceColumns(jsonEncoder(format), chosen)
  }
}

export function jsonEncoder(
  format: 'json' | 'jsonl',
  textOf: (value: unknown) => string = jsonText,
): ListEncoder {
  if (format === 'jsonl')
    return { rows: (values) => values.map((value) => `${textOf(value)}\n`).join(''), end: () => '' }
  let empty = true
  return {
    rows: (values) => {
      if (values.length === 0) return ''
      const lead = empty ? '[\n' : ',\n'
      empty = false
      return lead + values.map((value) => textOf(value)).join(',\n')
    },
    end: () => (empty ? '[]\n' : '\n]\n'),
  }
}

function withByteOrderMark(encoder: ListEncoder): ListEncoder {
  let mark = '\ufeff'
  const once = (text: string) => {
    if (text === '') return text
    const whole = mark + text
    mark = ''
    return whole
  }
  return { ...encoder, rows: (values) => once(encoder.rows(values)), end: () => once(encoder.end()) }
}
