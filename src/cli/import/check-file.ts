import { type Dataset, keyOf, namesOf } from '../dataset/dataset.ts'
import { counted } from '../terminal/counted.ts'
import { UsageError } from '../terminal/errors.ts'
import { type CheckOptions, problemsOf } from './check-row.ts'
import { sentence } from './import-file.ts'
import type { Rejection } from './outcome.ts'
import type { Row, RowProblem, Rows } from './row.ts'

/** So many problems are told; the others are counted. */
const maximumTold = 1000
const maximumValue = 80

/** A problem, and the line on which its row begins. */
interface Told extends RowProblem {
  readonly line: number
}

/** What a check found. */
export interface Checked {
  readonly rows: number
  /** Rows that nothing tells from others: they cannot be recognised when they are imported again. */
  readonly keyless: number
  /** Rows that are left out, by their line. */
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
  options: CheckOptions & { readonly skipInvalid: boolean },
): Promise<Checked> {
  requireColumns(name, dataset, paths, options)
  const told: Told[] = []
  const invalid = new Map<number, Rejection>()
  const lines = new Map<string, number>()
  // Progress comes in steps, which are about the same record.
  const repeats = dataset.operations.update === undefined
  let problems = 0
  let count = 0
  let keyless = 0
  function check(row: Row): void {
    count += 1
    const found = [...problemsOf(dataset, row, options)]
    if (keyOf(dataset, row.record) === null) keyless += 1
    const names = repeats ? [] : namesOf(dataset, row.record)
    const same = names.map((name) => lines.get(name)).find((line) => line !== undefined)
    if (same !== undefined) {
      const message = `is the same ${dataset.noun} as line ${same}`
      found.push({ column: null, code: 'duplicate', message })
    } else for (const name of names) lines.set(name, row.line)
    problems += found.length
    if (options.skipInvalid && found[0]) {
      const message = found.map(textOf).join('; ')
      invalid.set(row.line, { line: row.line, kind: 'failed', code: found[0].code, message })
    }
    for (const problem of found) if (told.length < maximumTold) told.push({ line: row.line, ...problem })
  }
  for await (const some of rows) for (const row of some) check(row)
  if (problems > 0 && !options.skipInvalid) throw refused(name, told, problems)
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

function refused(name: string, told: readonly Told[], problems: number): UsageError {
  const rest = problems - told.length
  return new UsageError(`${counted(problems, 'problem')} found in ${name}; nothing was imported`, {
    code: 'invalid_rows',
    why: [
      ...told.map((problem) => `${sentence(name)}:${problem.line}: ${textOf(problem)}`),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    hint: 'Correct the file, or import the other rows alone: --skip-invalid',
  })
}

/** A problem in words: `email: must be an e-mail address, not "ada"`. */
export function textOf({ column, value, message }: RowProblem): string {
  const place = column === null ? '' : `${column}: `
  if (value === undefined) return place + message
  const short = value.length > maximumValue ? `${value.slice(0, maximumValue)}…` : value
  // What should be a string is a number or the like.
  return `${place}${message}, not ${message === 'must be a string' ? short : JSON.stringify(short)}`
}
