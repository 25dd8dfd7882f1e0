/** Where a record comes from that a platform sent under other names. */
interface Origin {
  /** As it came. */
  readonly sent: unknown
  /** The dotted paths in it of fields that the API names otherwise. */
  readonly places: readonly string[]
}

const origins = new WeakMap<object, Origin>()

/** Keeps what a record was made from, for as long as the record is there. */
export function keepSent(record: object, origin: Origin): void {
  origins.set(record, origin)
}

/** The thing as the platform sent it: JSON and YAML print that. The value itself where it was not made from another one. */
export function sentOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && origins.has(value) ? origins.get(value)?.sent : value
}

/** Where the fields of a record stand in what was sent, if not under the names of the API. */
export function otherPlacesOf(value: unknown): readonly string[] {
  return (typeof value === 'object' && value !== null && origins.get(value)?.places) || []
}
