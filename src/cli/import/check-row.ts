import { jsonText } from '../../codec/json-text.ts'
import { codeOf, detailOf, suggestionText } from '../../contract/validation-issues.ts'
import { type Dataset, keyOf } from '../dataset/dataset.ts'
import { valueAt } from '../output/columns.ts'
import type { Row, RowProblem } from '../records/sources/rows.ts'
import type { DocumentCheck } from './check-document.ts'

/** Options of a check. */
export interface CheckOptions {
  /** True if a row may lack fields that a new record requires, because it may update an existing one. */
  readonly partial: boolean
  /** False for a remote platform, which may accept values that the contract does not list. */
  readonly local: boolean
  /** Check by the platform's OpenAPI document; null for a local academy and if there is no document. */
  readonly byDocument?: DocumentCheck | null
}

/** Returns every problem of a row by the schema of its dataset, before anything is sent. */
export function problemsOf(
  dataset: Dataset,
  row: Row,
  { partial, local, byDocument = null }: CheckOptions,
): readonly RowProblem[] {
  const found = faultsIn(dataset, row, { partial, local })
  const isBroken = found.some(({ column }) => column === null)
  return byDocument === null || isBroken ? found : [...found, ...byDocument(row, found, partial)]
}

/** Returns the problems that the contract finds in a row. */
function faultsIn(
  dataset: Dataset,
  row: Row,
  { partial, local }: Omit<CheckOptions, 'byDocument'>,
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
    if (code === 'invalid_choice' && !local) return []
    const inside = column ? path.slice(column.path.split('.').length).join('.') : ''
    const guess =
      issue.code === 'invalid_value' ? suggestionText(String(issue.input), issue.values.map(String)) : ''
    const value = column?.secret ? undefined : textOf(valueAt(row.record, path.join('.')))
    return [
      {
        column: column ? column.name + (inside === '' ? '' : `.${inside}`) : path.join('.') || null,
        ...(code !== 'required' && { value }),
        code,
        message: detailOf(issue, () => ''),
        ...(guess !== '' && { guess }),
      },
    ]
  })
  return [...row.problems, ...found]
}

function textOf(value: unknown): string | undefined {
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
