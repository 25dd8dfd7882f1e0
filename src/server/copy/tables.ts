import { tables } from '../database/schema/schema.ts'

/** A table to copy. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns of type text. */
  readonly texts: readonly string[]
  /** Primary key in order; all columns if there is none. */
  readonly key: readonly string[]
  /** True if equal rows may be repeated. */
  readonly repeats: boolean
}

/** All tables of an academy, each after those that it references. */
export const copiedTables: readonly CopiedTable[] = tables.map(({ name, columns, key }) => {
  const names = Object.keys(columns)
  return {
    name,
    columns: names,
    texts: names.filter((column) => ['text', 'json'].includes(columns[column]?.type ?? '')),
    key: key?.split(', ') ?? names,
    repeats: key === undefined,
  }
})
