import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { codeOf, detailOf, suggestionText } from '../../contract/validation-issues.ts'
import { fieldPath, valueAt } from '../../tables/column.ts'
import { withDays } from '../dataset/column.ts'
import { type Dataset, isAboutPeople, keyOf, namesOf } from '../dataset/dataset.ts'
import { maxFindings } from '../output/github.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { errorAt } from './entries.ts'
import { type ImportFile, type Place, sentence } from './sources/file.ts'
import { asWritten, type Reading, type Row, type RowProblem, type Rows } from './sources/rows.ts'
import type { Refusal } from './write.ts'

/** Different problems to show; the others are counted. */
const maxShown = 1000
const maxShownLines = 5
const maxValue = 80

interface Group {
  readonly problem: RowProblem
  count: number
  /** The first lines on which such rows begin. */
  readonly lines: number[]
}

export interface Rejection {
  readonly line: number
  readonly code: string
  readonly message: string
  /** The reason without values of people. */
  readonly shown: string
}

export interface Checked {
  readonly rows: number
  /** Number of rows without a key, which another import of the file cannot match. */
  readonly keyless: number
  /** Number of rows with spaces around a value that is stored without them, and the first columns with such values. */
  readonly trimmed: { readonly rows: number; readonly columns: ReadonlySet<string> }
  readonly invalid: ReadonlyMap<number, Rejection>
}

/** Throws a UsageError on a malformed file. */
export async function readRows(file: ImportFile, dataset: Dataset, reading: Reading): Promise<Rows> {
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  const read = isCsv
    ? (await import('./sources/csv.ts')).csvRows
    : (await import('./sources/json.ts')).jsonRows
  const found = await read(file, dataset, reading)
  // Times of columns are read with them; a column of JSON may hold others.
  const hasJson = dataset.columns.some(({ kind }) => kind === 'json')
  return hasJson ? { ...found, rows: inTimes(found.rows, dataset) } : found
}

async function* inTimes(
  rows: AsyncIterable<readonly Row[]>,
  { schema }: Dataset,
): AsyncGenerator<readonly Row[]> {
  for await (const some of rows)
    yield some.map((row) => ({ ...row, record: withDays(schema, row.record) as Row['record'] }))
}

/**
 * Reads all rows and checks each, before anything is sent. Throws a UsageError with every problem, its line, column and
 * value, unless `skipInvalid`.
 */
export async function checkFile(
  name: string,
  dataset: Dataset,
  { rows, paths, labels, placeOf = lineAlone }: Rows,
  options: CheckOptions & { readonly skipInvalid: boolean },
): Promise<Checked> {
  requireColumns(name, dataset, paths, options)
  const groups = new Map<string, Group>()
  const invalid = new Map<number, Rejection>()
  const lineByName = new Map<string, number>()
  // Progress has several rows (steps) for the same record.
  const repeats = dataset.operations.update === undefined
  let problems = 0
  let count = 0
  let keyless = 0
  const trimmed = { rows: 0, columns: new Set<string>() }
  function check(row: Row): void {
    count += 1
    const found = [...problemsOf(dataset, row, options)]
    if (found.length === 0 && keyOf(dataset, row.record) === null) keyless += 1
    const trims = found.length === 0 ? trimmedColumns(dataset, row.record) : []
    if (trims.length > 0) trimmed.rows += 1
    for (const column of trims) trimmed.columns.add(columnText(column, labels))
    const names = repeats ? [] : namesOf(dataset, row.record)
    const same = names.map((name) => lineByName.get(name)).find((line) => line !== undefined)
    if (same !== undefined) {
      const message = `is the same ${dataset.noun} as line ${placeText(placeOf(same))}`
      found.push({ column: null, code: 'duplicate', message })
    } else for (const name of names) lineByName.set(name, row.line)
    problems += found.length
    if (options.skipInvalid && found[0]) {
      const message = found.map((problem) => problemText(problem, labels)).join('; ')
      const shown = found.map((problem) => shownProblem(dataset, problem, labels)).join('; ')
      invalid.set(row.line, { line: row.line, code: found[0].code, message, shown })
    }
    for (const problem of found) addTo(groups, problem, row.line)
  }
  for await (const some of rows) for (const row of some) check(row)
  if (problems > 0 && !options.skipInvalid) {
    throw refused(name, dataset, [...groups.values()], problems, { labels, placeOf })
  }
  return { rows: count, keyless, trimmed, invalid }
}

/** Columns with spaces around values that the schema removes. */
function trimmedColumns({ columns, schema }: Dataset, record: JsonObject): string[] {
  return columns.flatMap(({ kind, name, path }) => {
    const value = kind === 'text' ? valueAt(record, path) : undefined
    if (typeof value !== 'string' || value.trim() === value) return []
    const [field = '', ...inside] = path.split('.')
    const parsed = schema.shape[field]?.safeParse(record[field])
    const stored = inside.length === 0 ? parsed?.data : valueAt(parsed?.data, inside.join('.'))
    return parsed?.success && stored !== value ? [name] : []
  })
}

interface Naming {
  readonly labels: Rows['labels']
  readonly placeOf: NonNullable<Rows['placeOf']>
}

const lineAlone: Naming['placeOf'] = (line) => ({ line })

/** Formats a place after the name of a file: `7`, or `7, column "Essay"`. */
function placeText({ line, column }: Place): string {
  return column === undefined ? String(line) : `${line}, column ${JSON.stringify(column)}`
}

function requireColumns(
  name: string,
  { columns, keys }: Dataset,
  paths: ReadonlySet<string>,
  { partial }: CheckOptions,
): void {
  const keyed = keys.some((fields) => fields.every((field) => paths.has(field)))
  const missing = columns.filter(({ required, path }) => required && !paths.has(path))
  if (missing.length === 0 || (partial && keyed)) return
  const names = missing.map((column) => column.name)
  throw new UsageError(`${sentence(name)} has no column ${names.join(', ')}`, {
    code: 'missing_column',
    why: [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} required for new records`],
    hint: `If another column holds it: --map "its name=${names[0]}"`,
  })
}

function addTo(groups: Map<string, Group>, problem: RowProblem, line: number): void {
  const { column, value, message } = problem
  const key = JSON.stringify([column, value, message])
  const group = groups.get(key)
  if (!group) {
    if (groups.size < maxShown) groups.set(key, { problem, count: 1, lines: [line] })
    return
  }
  group.count += 1
  if (group.lines.length < maxShownLines) group.lines.push(line)
}

function refused(
  name: string,
  dataset: Dataset,
  groups: readonly Group[],
  problems: number,
  naming: Naming,
): UsageError {
  const rest = problems - groups.reduce((sum, { count }) => sum + count, 0)
  return new UsageError(`${pluralise(problems, 'problem')} found in ${name}; nothing was imported`, {
    code: 'invalid_rows',
    why: [
      ...groups.map(
        (group) =>
          `${sentence(name)}:${placeText(naming.placeOf(group.lines[0] ?? 1))}: ${groupText(group, naming)}`,
      ),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    hint: `${meaningHint(groups)}Correct the file, or import the other rows alone: --skip-invalid`,
    findings: {
      list: groups.slice(0, maxFindings).map(({ problem, count, lines }) => {
        const more = count > 1 ? ` (${count} rows)` : ''
        const { line } = naming.placeOf(lines[0] ?? 1)
        return errorAt({ file: name, line }, shownProblem(dataset, problem, naming.labels) + more)
      }),
      more: problems - groups.slice(0, maxFindings).reduce((sum, { count }) => sum + count, 0),
    },
  })
}

/** Suggests a mapping for the first value that is not near any choice. */
function meaningHint(groups: readonly Group[]): string {
  const unknown = groups.find(
    ({ problem: { code, guess, message, value } }) =>
      (code === 'invalid_choice' || message === 'must be true or false') && !guess && value,
  )
  if (!unknown) return ''
  const { column, value } = unknown.problem
  return `Say what it means: --map-value ${JSON.stringify(`${column}:${value}=value`)}. `
}

/** `Rolle (role)` if the file has that name for `role`. */
export function columnText(column: string, labels: Rows['labels']): string {
  const label = [...(labels ?? [])].find(([name]) => column === name || column.startsWith(`${name}.`))
  return !label || label[0] === label[1] ? column : `${label[1]} (${column})`
}

/** `role "Lehrer" ×32: must be one of admin, learner (lines 2, 4, 7 and 29 more)`. */
function groupText({ problem, count, lines }: Group, { labels, placeOf }: Naming): string {
  if (count === 1) return problemText(problem, labels)
  const { column, message, guess = '' } = problem
  const value = givenText(problem)
  const name = [
    column === null ? 'row' : columnText(column, labels),
    ...(value === undefined ? [] : [value]),
  ].join(' ')
  const rest = count - lines.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  return `${name} ×${count}: ${message}${guess} (lines ${lines.map((line) => placeOf(line).line).join(', ')}${more})`
}

/** `email: must be an e-mail address, not "ada"`. */
export function problemText(problem: RowProblem, labels?: Rows['labels']): string {
  const { column, message, guess = '' } = problem
  const place = column === null ? '' : `${columnText(column, labels)}: `
  const value = givenText(problem)
  return value === undefined ? place + message + guess : `${place}${message}, not ${value}${guess}`
}

/** Returns a problem in words for all readers of a repository: without the value if its record is about people. */
export function shownProblem(
  dataset: Pick<Dataset, 'name'>,
  problem: RowProblem,
  labels?: Rows['labels'],
): string {
  if (!isAboutPeople(dataset)) return problemText(problem, labels)
  const { column, code, message } = problem
  // The name of such a field is a text of the file.
  if (code === 'unknown_field') return 'row: has a field that is not known'
  return `${column === null ? 'row' : columnText(column, labels)}: ${message}`
}

function givenText({ value, meaning, message }: RowProblem): string | undefined {
  if (value === undefined) return undefined
  const read = meaning === undefined ? '' : ` (read as ${shortValue(meaning, message)})`
  return shortValue(value, message) + read
}

function shortValue(value: string, message: string): string {
  const short = value.length > maxValue ? `${value.slice(0, maxValue)}…` : value
  // The value is not a string, such as a number.
  return message === 'must be a string' ? short : JSON.stringify(short)
}

/** Fields and values are those of the file: `Klasse (courseId) "5b": Course ext:GEO-9 not found.` */
export function refusalText(
  { columns }: Dataset,
  { replaced }: Pick<Row, 'replaced'>,
  labels: Rows['labels'],
  { detail, faults }: Pick<Refusal, 'detail' | 'faults'>,
): string {
  const problems = faults.map((fault) => {
    const path = pathOf(fault)
    const column = columns.find((each) => path === each.path || path.startsWith(`${each.path}.`))
    const text = column && replaced?.[column.path]
    const value = text === undefined ? '' : ` ${JSON.stringify(text)}`
    return `${columnText(column?.name ?? path, labels)}${value}: ${fault.detail}`
  })
  return problems.length > 0 ? problems.join('; ') : detail
}

function pathOf({ pointer, parameter }: Refusal['faults'][number]): string {
  if (pointer !== undefined) return fieldPath(String(pointer))
  // A lookup names `user_id` what a creation names `userId`.
  return String(parameter ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * Returns the reason of a refusal in words for all readers of a repository: the message of a platform may have values of
 * people.
 */
export function shownRefusal(
  dataset: Dataset,
  row: Pick<Row, 'replaced'>,
  labels: Rows['labels'],
  refusal: Pick<Refusal, 'detail' | 'faults'> & { readonly code?: string },
): string {
  if (!isAboutPeople(dataset)) return refusalText(dataset, row, labels, refusal)
  const { code = '', faults } = refusal
  const paths = faults.map(pathOf)
  const names = dataset.columns
    .filter(({ path }) => paths.includes(path))
    .map(({ name }) => columnText(name, labels))
  const reason = shownCode(code)
  return names.length > 0 ? `${names.join(', ')}: ${reason}` : reason
}

/** Returns the code of a refusal in words, unless it is none: that of another platform may be any text. */
export function shownCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? `rejected (${code})` : 'rejected'
}

interface CheckOptions {
  /** A row may lack required fields, because it may update an existing record. */
  readonly partial: boolean
  /** False for another platform than a learnctl server: it may accept values that the contract does not list. */
  readonly isOurs: boolean
}

export function problemsOf(
  dataset: Dataset,
  row: Row,
  { partial, isOurs }: CheckOptions,
): readonly RowProblem[] {
  // With more or fewer cells than the header, a row's other problems are unreliable.
  if (row.problems.some(({ column }) => column === null)) return row.problems
  const broken = unsoundIn(dataset, row.record)
  if (broken.length > 0) return [...row.problems, ...broken]
  const record = { ...dataset.presumed, ...row.record }
  const parsed = dataset.schema.safeParse(record, { reportInput: true })
  if (parsed.success) return row.problems
  const bad = new Set(row.problems.map(({ column }) => column))
  const excused = partial && keyOf(dataset, row.record) !== null
  const found = parsed.error.issues.flatMap((issue): RowProblem[] => {
    const code = codeOf(issue)
    const path = issue.path.map(String)
    const column = dataset.columns.find(
      (each) => path.join('.') === each.path || path.join('.').startsWith(`${each.path}.`),
    )
    if (column && bad.has(column.name)) return []
    if (code === 'required' && excused && path.length <= (column?.path.split('.').length ?? 1)) return []
    if (code === 'invalid_choice' && !isOurs) return []
    const inside = column ? path.slice(column.path.split('.').length).join('.') : ''
    const guess =
      issue.code === 'invalid_value' ? suggestionText(String(issue.input), issue.values.map(String)) : ''
    const value = column?.secret ? undefined : valueText(valueAt(row.record, path.join('.')))
    return [
      {
        column: column ? column.name + (inside === '' ? '' : `.${inside}`) : path.join('.') || null,
        ...(code !== 'required' && asWritten(row, column, value)),
        code,
        message: detailOf(issue, () => ''),
        ...(guess !== '' && { guess }),
      },
    ]
  })
  return [...row.problems, ...found]
}

function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : jsonText(value)
}

/** Returns problems of texts that no platform can store: lone surrogates and U+0000. */
function unsoundIn({ columns }: Dataset, record: Row['record']): RowProblem[] {
  // Fast path: check the whole record once, since nearly all are valid.
  if (isStorableText(record)) return []
  return columns.flatMap(({ name, path }) => {
    const value = valueAt(record, path)
    if (value === undefined || value === null || isStorableText(value)) return []
    const message = 'must be well-formed Unicode without U+0000'
    return [{ column: name, code: 'invalid_string', message }]
  })
}

function isStorableText(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => isStorableText(name) && isStorableText(member))
}
