import { type Dataset, keyOf, namesOf } from '../dataset/dataset.ts'
import { sentence } from '../records/sources/file.ts'
import { createNameTable } from '../records/sources/name-table.ts'
import type { Row, RowProblem, Rows } from '../records/sources/rows.ts'
import { UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { type CheckOptions, problemsOf } from './check-row.ts'
import type { Rejection } from './outcome.ts'

/** Maximum number of different problems that are shown; the others are counted. */
const maxShown = 1000
const maxShownLines = 5
const maxValue = 80

/** The same problem in several rows. */
interface Group {
  readonly problem: RowProblem
  count: number
  /** The first lines on which such rows begin. */
  readonly lines: number[]
}

/** Result of a check. */
export interface Checked {
  readonly rows: number
  /** Number of rows without a key: importing the file again cannot match them. */
  readonly keyless: number
  /** Rejected rows, by line. */
  readonly invalid: ReadonlyMap<number, Rejection>
}

/**
 * Reads all rows and checks each, before anything is sent. Throws a UsageError with every problem, its line, column and
 * value, unless `skipInvalid`.
 */
export async function checkFile(
  name: string,
  dataset: Dataset,
  { rows, paths }: Rows,
  options: CheckOptions & { readonly skipInvalid: boolean; readonly expectedRows: number },
): Promise<Checked> {
  requireColumns(name, dataset, paths, options)
  const groups = new Map<string, Group>()
  const invalid = new Map<number, Rejection>()
  const lines = createNameTable(options.expectedRows * dataset.keys.length)
  // Progress has several rows (steps) for the same record.
  const repeats = dataset.operations.update === undefined
  let problems = 0
  let count = 0
  let keyless = 0
  function check(row: Row): void {
    count += 1
    const found = [...problemsOf(dataset, row, options)]
    if (keyOf(dataset, row.record) === null) keyless += 1
    const names = repeats ? [] : namesOf(dataset, row.record)
    const same = lines.add(names, row.line)
    if (same !== undefined) {
      const message = `is the same ${dataset.noun} as line ${same}`
      found.push({ column: null, code: 'duplicate', message })
    }
    problems += found.length
    if (options.skipInvalid && found[0]) {
      const message = found.map(textOf).join('; ')
      invalid.set(row.line, { line: row.line, kind: 'failed', code: found[0].code, message })
    }
    for (const problem of found) addTo(groups, problem, row.line)
  }
  for await (const some of rows) for (const row of some) check(row)
  if (problems > 0 && !options.skipInvalid) throw refused(name, [...groups.values()], problems)
  return { rows: count, keyless, invalid }
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

function refused(name: string, groups: readonly Group[], problems: number): UsageError {
  const rest = problems - groups.reduce((sum, { count }) => sum + count, 0)
  return new UsageError(`${pluralise(problems, 'problem')} found in ${name}; nothing was imported`, {
    code: 'invalid_rows',
    why: [
      ...groups.map((group) => `${sentence(name)}:${group.lines[0]}: ${groupText(group)}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    hint: 'Correct the file, or import the other rows alone: --skip-invalid',
  })
}

/** A problem of several rows in words: `role "Lehrer" ×32: must be one of admin, learner (lines 2, 4, 7 and 29 more)`. */
function groupText({ problem, count, lines }: Group): string {
  if (count === 1) return textOf(problem)
  const { column, value, message, guess = '' } = problem
  const name = [column ?? 'row', ...(value === undefined ? [] : [shortValue(value, message)])].join(' ')
  const rest = count - lines.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  return `${name} ×${count}: ${message}${guess} (lines ${lines.join(', ')}${more})`
}

/** A problem in words: `email: must be an e-mail address, not "ada"`. */
export function textOf({ column, value, message, guess = '' }: RowProblem): string {
  const place = column === null ? '' : `${column}: `
  if (value === undefined) return place + message + guess
  return `${place}${message}, not ${shortValue(value, message)}${guess}`
}

function shortValue(value: string, message: string): string {
  const short = value.length > maxValue ? `${value.slice(0, maxValue)}…` : value
  // The value is not a string, such as a number.
  return message === 'must be a string' ? short : JSON.stringify(short)
}
