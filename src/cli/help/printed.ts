/** A JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>

/**
 * Returns the schema of what a command prints: the names of schemas, with `[]` for a list; several are alternatives.
 *
 * @param place place of named schemas: `#/$defs/`
 */
export function schemaOfPrinted(printed: readonly string[], place: string): Schema {
  const schemas = printed.map((name) =>
    name.endsWith('[]')
      ? { type: 'array', items: { $ref: place + name.slice(0, -2) } }
      : { $ref: place + name },
  )
  const [first, ...others] = schemas
  return others.length === 0 && first ? first : { anyOf: schemas }
}

/** Returns the name of the schema of a dataset's records in files: `UserRecord` of `users`. */
export function recordName(dataset: string): string {
  return `${dataset.charAt(0).toUpperCase()}${dataset.slice(1).replace(/(?<!gres)s$/, '')}Record`
}
