import { findNearest } from '../../../codec/nearest.ts'
import type { Column } from '../../dataset/column.ts'
import { type Dataset, shownFields } from '../../dataset/dataset.ts'
import { UsageError } from '../../terminal/errors.ts'
import { pluralise } from '../../terminal/format-text.ts'
import { type Io, note } from '../../terminal/io.ts'
import { type ImportFile, sentence } from './file.ts'

/** Columns that an import adds to rejected rows; a file with all of them is an errors file. */
export const addedColumns = ['line', 'code', 'message'] as const

/** Flags whose names differ from their fields: they are accepted as column names, too. */
const fieldOfFlag: ReadonlyMap<string, string> = new Map([
  ['completion', 'completionPercentage'],
  ['score', 'scoreGiven'],
  ['maximum', 'scoreMaximum'],
  ['adaptivedifficulty', 'adaptiveDifficulty.enabled'],
  ['progresstracking', 'progressTracking.enabled'],
  ['emailnotifications', 'profile.learningPreferences.notifications.email'],
  ['pushnotifications', 'profile.learningPreferences.notifications.push'],
])

/** Names in the file as keys; null for a column to ignore. */
export type ColumnMap = ReadonlyMap<string, string | null>

/** By path of a column: texts of its cells, and those that are read in their place. */
export type ValueMap = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Null for server-made fields and columns that an import adds. Names are compared without case and separators. Throws a
 * UsageError on unknown names and on two names for one column.
 */
export function columnsIn(
  dataset: Dataset,
  header: readonly string[],
  map: ColumnMap,
  name: string,
): (Column | null)[] {
  const { found, others } = foundIn(dataset, header, map)
  if (others.length > 0) {
    throw unknown(dataset, others, sentence(name), !found.some((column) => column))
  }
  const columns = found.map((column) => column ?? null)
  const twice = header.filter((_, index) =>
    columns.some((one, at) => one && at < index && one === columns[index]),
  )
  if (twice.length > 0) {
    throw new UsageError(`${sentence(name)} has more than one column for ${quoted(twice)}`, {
      code: 'duplicate_column',
      hint: `Leave one out: --map ${JSON.stringify(`${twice[0]}=`)}`,
    })
  }
  return columns
}

interface HeaderMapping {
  readonly header: readonly string[]
  readonly map: ColumnMap
}

export async function withoutOthers<Mapping extends HeaderMapping>(
  io: Pick<Io, 'stderr'>,
  dataset: Dataset,
  mapping: Mapping,
  { format }: Pick<ImportFile, 'format'>,
): Promise<Mapping> {
  if (format !== 'csv' && format !== 'tsv') {
    throw new UsageError('--ignore-other-columns is about tables, not about JSON')
  }
  const { found, others } = foundIn(dataset, mapping.header, mapping.map)
  // A line without any known name is no header.
  if (others.length === 0 || !found.some((column) => column)) return mapping
  await note(io, `Left out ${pluralise(others.length, 'column')}: ${quoted(others)}`)
  return { ...mapping, map: new Map([...mapping.map, ...others.map((name) => [name, null] as const)]) }
}

/** Null for a column to ignore, undefined for none. */
function foundIn(dataset: Dataset, header: readonly string[], map: ColumnMap) {
  const found = header.map((text) => {
    const path = map.get(text)
    if (path === null) return null
    return path === undefined ? meantColumn(dataset, text) : columnAt(dataset, path)
  })
  const others = header.filter(
    (text, index) => text !== '' && found[index] === undefined && !isLeftOut(dataset, text),
  )
  return { found, others }
}

/** Spreadsheets have line breaks in names. */
export function headerName(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Compares its path, then its name, then both without case and separators; `course` is `courseId`, as in flags. */
export function meantColumn({ columns }: Pick<Dataset, 'columns'>, name: string): Column | undefined {
  const exact = columns.find(({ path }) => path === name) ?? columns.find((column) => column.name === name)
  if (exact) return exact
  const plain = plainName(name)
  const alike = columns.filter((column) =>
    [column.path, column.name].some((text) => [plain, `${plain}id`].includes(plainName(text))),
  )
  const flagged = fieldOfFlag.get(plain)
  return alike.length === 1 ? alike[0] : columns.find(({ path }) => path === flagged)
}

function columnAt({ columns }: Dataset, path: string): Column | undefined {
  return columns.find((column) => column.path === path)
}

/** Server-made fields and columns that an import adds cannot be imported. */
function isLeftOut(dataset: Dataset, name: string): boolean {
  const plain = plainName(name)
  const added = addedColumns.flatMap((each) => [each, `import ${each}`])
  return isMappingCell(name) || [...added, ...shownFields(dataset)].some((path) => plainName(path) === plain)
}

/** False if the mapping has the column as the file's own. */
export function isAddedColumn(name: string, map: ColumnMap = new Map()): boolean {
  if (isMappingCell(name)) return true
  return addedColumns.some((added) => (name === added && !map.get(name)) || name === `import ${added}`)
}

/** Begins a cell in the header of an errors file: the mapping of its import as JSON. */
const mappingStart = 'mapping: '
/** Spreadsheets cut a cell at 32,767 characters. */
const maxMappingCell = 30_000

export function mappingCells(mapping: string | null): string[] {
  // The ends of cells are trimmed when they are read.
  const pieces = mapping?.match(new RegExp(`.{1,${maxMappingCell}}(?<! )|.+$`, 'gsu')) ?? []
  return pieces.map((piece) => mappingStart + piece)
}

/** Null if the header has no mapping. */
export function mappingInHeader(header: readonly string[]): string | null {
  const cells = header.filter(isMappingCell)
  return cells.length === 0 ? null : cells.map((cell) => cell.slice(mappingStart.length)).join('')
}

export function isMappingCell(name: string): boolean {
  return name.startsWith(mappingStart)
}

function plainName(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, '')
}

function unknown(
  { columns }: Dataset,
  names: readonly string[],
  file: string,
  isNoHeader: boolean,
): UsageError {
  const [first = ''] = names
  const valid = columns.map(({ name }) => name)
  const near = findNearest(first, valid)
  const wayOut = `Say what it is, or leave it out: --map ${JSON.stringify(`${first}=${near[0] ?? 'column'}`)}, --map ${JSON.stringify(`${first}=`)}`
  return new UsageError(
    `${file} has ${names.length === 1 ? 'an unknown column' : `${names.length} unknown columns`}: ${quoted(names)}`,
    {
      code: 'unknown_column',
      why: [`Columns: ${valid.join(', ')}`],
      hint: isNoHeader
        ? `The first line must name the columns: delete any lines above them. ${wayOut}`
        : names.length > 1
          ? `${wayOut}, or all of them: --ignore-other-columns`
          : wayOut,
    },
  )
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}
