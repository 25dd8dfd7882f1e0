import type { CellForm } from '../dataset/cell.ts'
import { csvTable } from '../records/sources/csv.ts'
import type { ImportFile } from '../records/sources/file.ts'
import type { ColumnMap, ValueMap } from '../records/sources/header.ts'
import type { Mapping } from '../records/sources/mapping.ts'
import { UsageError } from '../terminal/errors.ts'
import { isRoleColumn, type RosterFindings, type RosterPart, roleField } from './roster.ts'

export interface TableForm {
  /** Name of the table, and of its file without `.csv`. */
  readonly name: string
  /** Null for a table that only others refer to. */
  readonly part: RosterPart | null
  readonly noun: string
  readonly columns: readonly string[]
  /** Sets of columns that show the table: a header with all of one set. */
  readonly shownBy: readonly (readonly string[])[]
  /** Columns of other formats, which the header must not have, in lower case. */
  readonly unless?: readonly string[]
  readonly required: readonly string[]
  readonly key: readonly string[]
  readonly references?: readonly TableReference[]
  /** Other spellings of columns, in lower case. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** Matches columns that are read or left out as specified, but not in `columns`. */
  readonly pattern?: RegExp
}

export interface TableReference {
  readonly column: string
  readonly to: string
  /** True for several keys with commas between them. */
  readonly isList?: true
  /** True if a missing row keeps nothing from being read. */
  readonly isWarning?: true
}

export type OpenTable = Awaited<ReturnType<typeof openTable>>

/** Null for an unknown one. Case and spaces do not matter. */
function columnIn({ columns, aliases = {}, pattern }: TableForm, header: string): string | null {
  // Kolibri writes `Full name (FULL_NAME)`, with the words before in the language of the user.
  const [, code = header] = /\(([A-Z_]+)\)$/.exec(header) ?? []
  const plain = code.toLowerCase()
  const meant = aliases[plain]?.toLowerCase() ?? plain
  const column = columns.find((each) => each.toLowerCase() === meant)
  return column ?? (pattern?.test(plain) ? plain : null)
}

export function isShownBy(form: TableForm, header: readonly string[]): boolean {
  const columns = new Set(header.map((name) => columnIn(form, name)))
  if (form.unless?.some((column) => header.some((name) => name.toLowerCase() === column))) return false
  return form.shownBy.some((set) => set.every((column) => columns.has(column)))
}

/** Ignored columns have no name. */
export function mappedHeader(header: readonly string[], map: ColumnMap): readonly string[] {
  return map.size === 0 ? header : header.map((name) => (map.has(name) ? (map.get(name) ?? '') : name))
}

/** Opens a file of a table; unknown and oddly spelled columns become notes. Throws a UsageError without a key column. */
export async function openTable(
  file: ImportFile,
  form: TableForm,
  findings: RosterFindings,
  { map, values, delimiter, dateFormat }: Mapping,
) {
  const { header, records, close, delimiter: separator } = await csvTable(file, delimiter)
  const named = mappedHeader(header, map)
  const places = new Map<string, number>()
  for (const [index, text] of named.entries()) {
    const column = columnIn(form, text)
    const isIgnored = map.get(header[index] ?? '') === null
    if (isIgnored) continue
    if (column === null)
      findings.addLeniency(file.name, 'unknown columns are left out', text || 'without a name')
    else if (places.has(column)) findings.addLeniency(file.name, 'columns occur twice; read the first', text)
    else {
      places.set(column, index)
      if (column !== text && !map.has(header[index] ?? '') && !/\([A-Z_]+\)$/.test(text)) {
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
  const meanings = meaningsByPlace(places, values)
  return {
    placeOf: (column: string) => places.get(column),
    /** Returns the text of a cell without space around it, or the meaning that the mapping gives it. */
    textAt(cells: readonly string[], place: number): string {
      const text = cells[place]?.trim() ?? ''
      return meanings?.get(place)?.get(text.toLowerCase()) ?? text
    },
    /** Returns the name of a column for messages: that in the file, if the mapping gave it another. */
    nameOf(column: string): string {
      const name = header[places.get(column) ?? -1] ?? ''
      return map.has(name) ? name : column
    },
    header,
    cellForm: { now: Number.NaN, dateFormat, decimalComma: separator !== ',' } satisfies CellForm,
    isKnown: (name: string) => mappedHeader([name], map).some((each) => columnIn(form, each) !== null),
    rows: records,
  }
}

/** By place of a column, for texts in lower case; null without any. */
function meaningsByPlace(
  places: ReadonlyMap<string, number>,
  values: ValueMap,
): ReadonlyMap<number, ReadonlyMap<string, string>> | null {
  const found = [...places].flatMap(([column, place]) => {
    const path = column.toLowerCase()
    const fields = [...(isRoleColumn(path) ? [roleField] : []), path.replace(/\d+$/, ''), path]
    const pairs = fields.flatMap((field) => [...(values.get(field) ?? [])])
    const meanings = new Map(pairs.map(([text, meaning]) => [text.toLowerCase(), meaning]))
    return meanings.size === 0 ? [] : [[place, meanings] as const]
  })
  return found.length === 0 ? null : new Map(found)
}
