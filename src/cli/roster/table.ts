import { csvTable } from '../records/sources/csv.ts'
import type { ImportFile } from '../records/sources/file.ts'
import { UsageError } from '../terminal/errors.ts'
import type { FindingsCollector } from './findings.ts'
import type { RosterPart } from './roster.ts'

/** One kind of file of a format. */
export interface TableForm {
  /** Name of the table, and of its file without `.csv`. */
  readonly name: string
  /** Part that its rows become; null for a table that only others refer to. */
  readonly part: RosterPart | null
  /** Noun for one row. */
  readonly noun: string
  /** Columns of all versions. */
  readonly columns: readonly string[]
  /** Sets of columns that show the table: a header with all of one set. */
  readonly shownBy: readonly (readonly string[])[]
  /** Columns of other formats, which the header must not have, in lower case. */
  readonly unless?: readonly string[]
  /** Columns whose cells must not be empty. */
  readonly required: readonly string[]
  /** Columns that identify a row. */
  readonly key: readonly string[]
  readonly references?: readonly TableReference[]
  /** Other spellings of columns, in lower case. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** Matches columns that are read, or left out as specified, without being listed in `columns`. */
  readonly pattern?: RegExp
}

/** Column with keys of another table. */
export interface TableReference {
  readonly column: string
  readonly to: string
  /** True for several keys with commas between them. */
  readonly isList?: true
  /** True if a missing row keeps nothing from being read. */
  readonly isWarning?: true
}

/** Rows of a file with the places of its columns. */
export interface OpenTable {
  /** Returns the place of a column; undefined if the file does not have it. */
  placeOf(column: string): number | undefined
  readonly header: readonly string[]
  /** True for a name in the header that is a column of the table. */
  isKnown(name: string): boolean
  readonly rows: AsyncIterable<readonly { readonly line: number; readonly cells: readonly string[] }[]>
}

/** Returns the column that a header names; null for an unknown one. Case and spaces do not matter. */
function columnIn({ columns, aliases = {}, pattern }: TableForm, header: string): string | null {
  // Kolibri writes `Full name (FULL_NAME)`, with the words before in the language of the user.
  const [, code = header] = /\(([A-Z_]+)\)$/.exec(header) ?? []
  const plain = code.toLowerCase()
  const meant = aliases[plain]?.toLowerCase() ?? plain
  const column = columns.find((each) => each.toLowerCase() === meant)
  return column ?? (pattern?.test(plain) ? plain : null)
}

/** True if a header shows a table. */
export function isShownBy(form: TableForm, header: readonly string[]): boolean {
  const columns = new Set(header.map((name) => columnIn(form, name)))
  if (form.unless?.some((column) => header.some((name) => name.toLowerCase() === column))) return false
  return form.shownBy.some((set) => set.every((column) => columns.has(column)))
}

/** Opens a file of a table; unknown and oddly spelled columns become notes. Throws a UsageError without a key column. */
export async function openTable(
  file: ImportFile,
  form: TableForm,
  findings: FindingsCollector,
): Promise<OpenTable> {
  const { header, records, close } = await csvTable(file)
  const places = new Map<string, number>()
  for (const [index, text] of header.entries()) {
    const column = columnIn(form, text)
    if (column === null)
      findings.addLeniency(file.name, 'unknown columns are left out', text || 'without a name')
    else if (places.has(column)) findings.addLeniency(file.name, 'columns occur twice; read the first', text)
    else {
      places.set(column, index)
      if (column !== text && !/\([A-Z_]+\)$/.test(text)) {
        findings.addLeniency(file.name, 'columns are not spelled as specified', text)
      }
    }
  }
  const missing = form.key.filter((column) => !places.has(column))
  if (missing.length > 0) {
    await close()
    throw new UsageError(`${file.name} has no column ${missing.join(', ')}`, {
      code: 'missing_column',
      why: [`Columns: ${header.join(', ')}`],
    })
  }
  const isKnown = (name: string) => columnIn(form, name) !== null
  return { placeOf: (column) => places.get(column), header, isKnown, rows: records }
}
