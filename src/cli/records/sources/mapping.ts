import { resolve } from 'node:path'
import * as z from 'zod'
import { isJsonObject, type JsonObject, jsonText, parseJsonOrNull } from '../../../codec/json-text.ts'
import { systemCode } from '../../../config/errors.ts'
import { codeOf, detailOf, suggestionText } from '../../../contract/validation-issues.ts'
import { type FlagValues, textsIn } from '../../command/flag.ts'
import { CellError, type DateFormat, dateFormats, readCell } from '../../dataset/cell.ts'
import type { Column } from '../../dataset/column.ts'
import type { Dataset } from '../../dataset/dataset.ts'
import { setAt } from '../../output/columns.ts'
import { UsageError } from '../../terminal/errors.ts'
import { type Io, note } from '../../terminal/io.ts'
import { readPlacedDocument, refusedDocument, violationsIn } from '../../terminal/placed-document.ts'
import { writeTarget } from '../../terminal/target-file.ts'
import { readFileText } from '../../terminal/text-input.ts'
import { csvHeader } from './csv.ts'
import {
  charsetOf,
  type ImportFile,
  type ImportFormat,
  importFormats,
  requireCharset,
  sentence,
} from './file.ts'
import {
  type ColumnMap,
  columnsIn,
  headerName,
  isAddedColumn,
  mappingInHeader,
  meantColumn,
  quoted,
  type ValueMap,
} from './header.ts'

export interface Mapping {
  readonly map: ColumnMap
  readonly values: ValueMap
  readonly format: ImportFormat | undefined
  readonly delimiter: string | undefined
  readonly charset: string | undefined
  readonly dateFormat: DateFormat | undefined
  /** Name or number, of a workbook. */
  readonly sheet?: string | undefined
  readonly clearEmpty: boolean
}

export const plainMapping: Mapping = {
  map: new Map(),
  values: new Map(),
  ...{ format: undefined, delimiter: undefined, charset: undefined, dateFormat: undefined },
  clearEmpty: false,
}

/** Text of a cell; in YAML it may look like a number or a switch. */
const Text = z.union([z.string(), z.number(), z.bigint(), z.boolean()]).transform(String)
const TextOrNone = z.union([Text, z.null().transform(() => '')])

/** A column or value that is mapped to nothing is ignored. */
const MappingDocument = z.strictObject({
  columns: z.record(z.string(), TextOrNone).default({}),
  values: z.record(z.string(), z.record(z.string(), TextOrNone)).default({}),
  format: z.enum(importFormats).optional(),
  delimiter: z.string().min(1).optional(),
  encoding: z.string().optional(),
  dateFormat: z.enum(dateFormats).optional(),
  clearEmpty: z.boolean().optional(),
})

type MappingDocument = z.output<typeof MappingDocument>

/** The message continues the path. */
interface MappingProblem {
  readonly path: readonly string[]
  readonly message: string
}

type MappedField = Pick<Column, 'name' | 'path' | 'secret'>

export interface MappedTo {
  readonly columns: readonly MappedField[]
  /** Finds names that are not spelled as in `columns`, too. */
  fieldOf(name: string): MappedField | undefined
  /** Null if nothing is wrong with the meaning. */
  faultOf(field: MappedField, meaning: string): string | null
}

/** Returns the fields of a dataset. A local academy has no other choices than those of the contract. */
export function fieldsOf(dataset: Dataset, isLocal: boolean): MappedTo {
  return {
    columns: dataset.columns,
    fieldOf: (name) => meantColumn(dataset, name),
    faultOf: ({ path }, meaning) => {
      const column = dataset.columns.find((each) => each.path === path)
      return column ? faultOf(column, meaning, dataset, isLocal) : null
    },
  }
}

/** `--mapping` and flags, before the file is opened. Throws a UsageError. */
export async function readMapping(io: Io, flags: FlagValues, to: MappedTo): Promise<Mapping> {
  const { 'date-format': dateFormat, 'clear-empty': clearEmpty, mapping: path } = flags
  const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]))
  const before = path === undefined ? plainMapping : await readMappingFile(io, String(path), to)
  return {
    ...before,
    // The flags' choices are these formats.
    format: (text('format') as ImportFormat | undefined) ?? before.format,
    delimiter: delimiterIn(text('delimiter')) ?? before.delimiter,
    charset: requireCharset(text('encoding')) ?? before.charset,
    sheet: text('sheet'),
    dateFormat: (dateFormat as DateFormat | undefined) ?? before.dateFormat,
    clearEmpty: clearEmpty === true || before.clearEmpty,
  }
}

async function readMappingFile(io: Io, path: string, to: MappedTo): Promise<Mapping> {
  const document = await readPlacedDocument(io, path)
  const parsed = MappingDocument.safeParse(document.value, { reportInput: true })
  if (!parsed.success) throw refusedDocument(document, violationsIn(MappingDocument, parsed.error))
  const problems: MappingProblem[] = []
  const mapping = mappingIn(parsed.data, plainMapping.map, to, problems)
  if (problems.length > 0) throw refusedDocument(document, problems)
  return mapping
}

/** `known` are columns that have been mapped before. */
function mappedByFlags(flags: FlagValues, known: ColumnMap, to: MappedTo): Pick<Mapping, 'map' | 'values'> {
  const columns = pairsIn(flags, 'map', 'column in the file=field')
  const form = 'field:value in the file=value'
  const meanings = pairsIn(flags, 'map-value', form).map(([place, meaning]) => {
    const at = place.indexOf(':')
    if (at < 1) throw notAPair('--map-value', form, `${place}=${meaning}`)
    return [place.slice(0, at).trim(), place.slice(at + 1).trim(), meaning] as const
  })
  const values = Object.fromEntries(
    [...Map.groupBy(meanings, ([field]) => field)].map(
      ([field, pairs]) =>
        [field, Object.fromEntries(pairs.map(([, text, meaning]) => [text, meaning]))] as const,
    ),
  )
  const problems: MappingProblem[] = []
  const mapping = mappingIn({ columns: Object.fromEntries(columns), values }, known, to, problems)
  const lines = problems.map(({ path: [part, name, value], message }) => {
    const [, field] = columns.find(([column]) => column === name) ?? []
    if (part === 'columns') return `--map ${JSON.stringify(`${name}=${field}`)} ${message}`
    const pair = meanings.find(([field, text]) => field === name && (value ?? text) === text)
    return `--map-value ${JSON.stringify(`${name}:${pair?.[1]}=${pair?.[2]}`)} ${message}`
  })
  if (lines.length === 0) return mapping
  const why = [`Fields: ${to.columns.map(({ name }) => name).join(', ')}`]
  const [only = ''] = lines
  throw lines.length === 1
    ? new UsageError(only, { code: 'invalid_mapping', why })
    : new UsageError(`${lines.length} problems found:`, { code: 'invalid_mapping', why: [...lines, ...why] })
}

/** Splits each value at its last `=`. */
function pairsIn(flags: FlagValues, name: string, form: string): [name: string, value: string][] {
  return textsIn(flags, name).map((pair) => {
    const at = pair.lastIndexOf('=')
    if (at < 1) throw notAPair(`--${name}`, form, pair)
    return [headerName(pair.slice(0, at)), pair.slice(at + 1).trim()]
  })
}

function notAPair(flag: string, form: string, pair: string): UsageError {
  return new UsageError(`${flag} must be ${JSON.stringify(form)}, not ${JSON.stringify(pair)}`)
}

function mappingIn(
  document: MappingDocument,
  known: ColumnMap,
  to: MappedTo,
  problems: MappingProblem[],
): Mapping {
  const names = to.columns.map(({ name }) => name)
  const unknownField = (field: string, others: readonly string[] = []) =>
    `names an unknown field: ${JSON.stringify(field)}${suggestionText(field, [...names, ...others])}`
  const map = new Map<string, string | null>()
  for (const [name, field] of Object.entries(document.columns)) {
    const column = field === '' ? null : to.fieldOf(field)
    if (column === undefined) problems.push({ path: ['columns', name], message: unknownField(field) })
    map.set(headerName(name), column?.path ?? null)
  }
  const values = new Map<string, ReadonlyMap<string, string>>()
  const columns = new Map([...known, ...map])
  for (const [field, meanings] of Object.entries(document.values)) {
    // A field may have the name of its column in the file.
    const path = columns.get(field)
    const column = to.fieldOf(path || field)
    if (!column) {
      problems.push({ path: ['values', field], message: unknownField(field, [...columns.keys()]) })
      continue
    }
    if (column.secret) {
      problems.push({ path: ['values', field], message: 'is a secret, which a mapping must not hold' })
      continue
    }
    for (const [text, meaning] of Object.entries(meanings)) {
      const fault = to.faultOf(column, meaning)
      if (fault !== null) problems.push({ path: ['values', field, text], message: fault })
    }
    const given = Object.entries(meanings).map(([text, meaning]) => [text.trim(), meaning] as const)
    values.set(column.path, new Map([...(values.get(column.path) ?? []), ...given]))
  }
  const charset = document.encoding === undefined ? undefined : charsetOf(document.encoding)
  if (charset === null) problems.push({ path: ['encoding'], message: 'is not a known encoding' })
  return {
    map,
    values,
    format: document.format,
    delimiter: delimiterIn(document.delimiter),
    charset: charset ?? undefined,
    dateFormat: document.dateFormat,
    clearEmpty: document.clearEmpty === true,
  }
}

function faultOf(column: Column, meaning: string, dataset: Dataset, isLocal: boolean): string | null {
  const record = {}
  try {
    const value = readCell(column, meaning, { now: 0, decimalComma: true })
    if (value === undefined) return null
    setAt(record, column.path.split('.'), value)
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    return `${error.message}, not ${JSON.stringify(meaning)}`
  }
  const { error } = dataset.schema.safeParse(record, { reportInput: true })
  const steps = column.path.split('.')
  const issue = error?.issues.find(({ path }) => steps.every((step, index) => path[index] === step))
  if (!issue || (codeOf(issue) === 'invalid_choice' && !isLocal)) return null
  const [message = '', ...guess] = detailOf(issue).split(/(?=; did you mean)/)
  return [`${message}, not ${JSON.stringify(meaning)}`, ...guess].join('')
}

/** Returns a delimiter; a tab may be written as `tab` or `\t`. */
function delimiterIn(text: string | undefined): string | undefined {
  return text === 'tab' || text === '\\t' ? '\t' : text
}

function mergedValues(one: ValueMap, other: ValueMap): ValueMap {
  const merged = new Map(one)
  for (const [path, meanings] of other) merged.set(path, new Map([...(one.get(path) ?? []), ...meanings]))
  return merged
}

export function withFlags(given: Mapping, flags: FlagValues, to: MappedTo): Mapping {
  const { map, values } = mappedByFlags(flags, given.map, to)
  return { ...given, map: new Map([...given.map, ...map]), values: mergedValues(given.values, values) }
}

export interface FileMapping extends Mapping {
  /** Names in the header of a CSV; none for JSON. */
  readonly header: readonly string[]
}

/** Flags count first, then the given mapping, then that of an errors file. Throws a UsageError for an unknown column. */
export async function mappingOf(
  io: Io,
  file: ImportFile,
  given: Mapping,
  flags: FlagValues,
  to: MappedTo,
): Promise<FileMapping> {
  const isTable = file.format === 'csv' || file.format === 'tsv'
  const header = isTable ? await csvHeader(file, given.delimiter) : []
  const own = ownMapping(file, header, to)
  const known = new Map([...own.map, ...given.map])
  const typed = mappedByFlags(flags, known, to)
  if (isTable) {
    requireColumns(file.name, header, typed.map)
    const absent = absentIn(header, given.map)
    const name = sentence(file.name)
    if (absent.length > 0) {
      await note(io, `${name} has no column ${quoted(absent)}, which ${flags['mapping']} names`)
    }
  }
  return {
    ...given,
    map: new Map([...known, ...typed.map]),
    values: mergedValues(mergedValues(own.values, given.values), typed.values),
    dateFormat: given.dateFormat ?? own.dateFormat,
    clearEmpty: given.clearEmpty || own.clearEmpty,
    header,
  }
}

function requireColumns(name: string, header: readonly string[], map: ColumnMap): void {
  const absent = absentIn(header, map)
  if (absent.length === 0) return
  const near = absent.length === 1 ? suggestionText(absent.join(), header) : ''
  throw new UsageError(`--map names ${quoted(absent)}, but ${name} has no such column${near}`, {
    why: [`Columns: ${header.join(', ')}`],
  })
}

/** Columns that are mapped to nothing may be absent. */
function absentIn(header: readonly string[], map: ColumnMap): string[] {
  return [...map].flatMap(([name, path]) => (path === null || header.includes(name) ? [] : [name]))
}

/** Returns the mapping in the header of an errors file. Throws a UsageError if it is damaged. */
function ownMapping({ name }: ImportFile, header: readonly string[], to: MappedTo): Mapping {
  const text = mappingInHeader(header)
  if (text === null) return plainMapping
  const parsed = MappingDocument.safeParse(parseJsonOrNull(text))
  const problems: MappingProblem[] = []
  const mapping = parsed.success ? mappingIn(parsed.data, plainMapping.map, to, problems) : null
  if (mapping && problems.length === 0) return mapping
  throw new UsageError(`${sentence(name)} has a damaged mapping in its header`, {
    code: 'invalid_mapping',
    why: problems.map(({ path, message }) => `${path.join('.')} ${message}`),
    hint: 'Delete that column, and give --map, --map-value and --date-format, or --mapping, again',
  })
}

/** Null if an errors file needs none. */
export function headerMapping(mapping: Mapping, to: Pick<MappedTo, 'columns'>): string | null {
  const document = mappingDocument(
    { ...mapping, format: undefined, delimiter: undefined, charset: undefined },
    to,
  )
  return Object.keys(document).length === 0 ? null : jsonText(document)
}

export function mappingDocument(
  mapping: Mapping,
  { columns: fields }: Pick<MappedTo, 'columns'>,
): JsonObject {
  const { map, values, format, delimiter, charset, dateFormat, clearEmpty } = mapping
  const nameOf = (path: string) => fields.find((field) => field.path === path)?.name ?? path
  const columns = [...map].map(([name, path]) => [name, path === null ? null : nameOf(path)])
  const meanings = [...values].map(([path, texts]) => [nameOf(path), Object.fromEntries(texts)])
  return {
    ...(columns.length > 0 && { columns: Object.fromEntries(columns) }),
    ...(meanings.length > 0 && { values: Object.fromEntries(meanings) }),
    ...(format && { format }),
    ...(delimiter && { delimiter }),
    ...(charset && { encoding: charset }),
    ...(dateFormat && { dateFormat }),
    ...(clearEmpty && { clearEmpty }),
  }
}

/** Adds to the file `readFrom`, and keeps comments there. Throws a UsageError if there is another file. */
export async function saveMapping(
  io: Io,
  path: string,
  readFrom: string | undefined,
  document: JsonObject,
): Promise<void> {
  const { parseDocument } = await import('yaml')
  const before = await readFileText(io, path).catch((error: unknown) => {
    if (systemCode(error instanceof Error ? error.cause : error) === 'ENOENT') return null
    throw error
  })
  const file = parseDocument(before ?? '', { stringKeys: true })
  const changes = leavesOf(document).filter(
    ({ steps, value }) => !file.hasIn(steps) || String(file.getIn(steps) ?? '') !== String(value ?? ''),
  )
  if (before !== null && changes.length === 0) return
  if (before !== null && (readFrom === undefined || resolve(io.cwd, path) !== resolve(io.cwd, readFrom))) {
    throw new UsageError(`${path} already exists`, {
      hint: `To add to it: --mapping ${path} --save-mapping ${path}`,
    })
  }
  for (const { steps, value } of changes) file.setIn(steps, value)
  const isJson = /\.json$/i.test(path)
  const text = isJson ? `${jsonText(document, 2)}\n` : file.toString({ lineWidth: 0 })
  await writeTarget(io.cwd, path, [text], { force: true })
  await note(io, `Saved the mapping; the next run with such files takes it: --mapping ${path}`)
}

export function wholeMapping(mapping: FileMapping, dataset: Dataset, { name }: ImportFile): JsonObject {
  const { map, header } = mapping
  const columns = columnsIn(dataset, header, map, name)
  const all = header.map((text, index) => [text, columns[index]?.path ?? null] as const)
  const own = all.filter(([text, path]) => path !== null || map.has(text) || !isAddedColumn(text))
  return mappingDocument({ ...mapping, map: new Map([...own, ...map]) }, dataset)
}

function leavesOf(
  value: unknown,
  steps: readonly string[] = [],
): { steps: readonly string[]; value: unknown }[] {
  if (!isJsonObject(value)) return [{ steps, value }]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...steps, name]))
}
