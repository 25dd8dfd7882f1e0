import { type Column, pick } from '../columns.ts'

/** A list on its way out: pieces that together make one valid document. */
export interface ListEncoder {
  rows(values: readonly unknown[]): string
  /** What closes the document; alone, the document of an empty list. */
  end(): string
  /** The heads of the columns that there was no room for. */
  hidden?(): readonly string[]
}

/** One way to write results as text. */
export interface Format {
  /** It may be coloured, and what a terminal would obey of a value is shown already. */
  readonly drawn?: true
  one(value: unknown): string
  list(): ListEncoder
}

/** The same list with each value reduced to some columns; null for all of it. */
export function narrowed(encoder: ListEncoder, columns: readonly Column[] | null): ListEncoder {
  if (columns === null) return encoder
  return { rows: (values) => encoder.rows(values.map((value) => pick(value, columns))), end: encoder.end }
}

/** What is said about columns that a list had no room for; null where all are shown. */
export function hiddenNote({ hidden }: ListEncoder): string | null {
  const labels = hidden?.() ?? []
  if (labels.length === 0) return null
  const count = labels.length === 1 ? '1 column' : `${labels.length} columns`
  return `${count} hidden: ${labels.join(', ')}; use --columns or a wider terminal`
}
