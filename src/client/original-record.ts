/** Origin of a record that a platform sent with other field names. */
interface Origin {
  /** The value as received. */
  readonly sent: unknown
  /** Dotted paths in it of fields that have other names in the API. */
  readonly places: readonly string[]
}

const origins = new WeakMap<object, Origin>()

/** Remembers the origin of a record as long as the record exists. */
export function keepOriginal(record: object, origin: Origin): void {
  origins.set(record, origin)
}

/** Returns a record as the platform sent it, which JSON and YAML output print; any other value unchanged. */
export function originalOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && origins.has(value) ? origins.get(value)?.sent : value
}

/** Returns the paths of a record's fields in the received value, if they differ from the names of the API. */
export function originalPathsOf(value: unknown): readonly string[] {
  return (typeof value === 'object' && value !== null && origins.get(value)?.places) || []
}
