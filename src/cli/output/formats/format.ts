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
  one(value: unknown): string
  list(): ListEncoder
}
