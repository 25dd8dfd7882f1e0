import { isJsonObject, jsonText } from '../../codec/json-text.ts'
import { type LabelledPath, labelColumns, valueAt } from '../../tables/column.ts'
import { UsageError } from '../terminal/errors.ts'

/** Keeps the order of the columns and the nesting of the API. */
export function pick(value: unknown, columns: readonly Column[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const column of columns) setAt(picked, column.path.split('.'), valueAt(value, column.path) ?? null)
  return picked
}

/** Creates the objects on the way. */
export function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let inner = target
  for (const [index, name] of path.entries()) {
    if (index === path.length - 1) {
      put(inner, name, value)
      return
    }
    const there = Object.hasOwn(inner, name) ? inner[name] : undefined
    const next = isJsonObject(there) ? there : {}
    if (next !== there) put(inner, name, next)
    inner = next
  }
}

function put(target: Record<string, unknown>, name: string, value: unknown): void {
  // Assigning __proto__ would set the prototype.
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Includes those of nested objects, each once. */
export function pathsIn(values: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const value of values) addPaths(paths, value, '')
  return [...paths]
}

function addPaths(paths: Set<string>, value: unknown, above: string): void {
  if (!isJsonObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    const path = above + name
    paths.add(path)
    if (isJsonObject(member)) addPaths(paths, member, `${path}.`)
  }
}

/** Formats a value as a cell: plain lists with commas, other nested values as JSON, null as empty. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  return typeof value === 'object' ? jsonText(value) : String(value)
}

export type Column = LabelledPath

/** Columns that no row has had, as another platform may not send them. */
export class AbsentColumns<C extends { readonly path: string }> {
  readonly #left: Set<C>
  #isEmpty = true

  constructor(columns: readonly C[]) {
    this.#left = new Set(columns)
  }

  see(rows: readonly unknown[]): void {
    this.#isEmpty &&= rows.length === 0
    for (const column of this.#left) {
      if (rows.some((row) => valueAt(row, column.path) !== undefined)) this.#left.delete(column)
    }
  }

  /** None without rows. */
  all(): readonly C[] {
    return this.#isEmpty ? [] : [...this.#left]
  }
}

/**
 * Returns the paths that a name matches: itself, else all that end with it, such as `profile.firstName` for
 * `firstName`.
 */
export function matchingPaths(name: string, valid: readonly string[]): readonly string[] {
  return valid.includes(name) ? [name] : valid.filter((path) => path.endsWith(`.${name}`))
}

/** Throws a UsageError that lists the valid or the matching ones. */
export function resolvePath(name: string, valid: readonly string[]): string {
  const matches = matchingPaths(name, valid)
  const [path] = matches
  if (path !== undefined && matches.length === 1) return path
  const shown = JSON.stringify(name)
  if (path !== undefined) {
    throw new UsageError(`${shown} matches ${matches.length} columns`, {
      code: 'ambiguous_column',
      why: [`Columns: ${matches.join(', ')}`],
      hint: `Use the full name: --columns ${path}`,
    })
  }
  const known = labelColumns(valid, valid)
  throw new UsageError(`Unknown column ${shown}`, {
    code: 'unknown_column',
    why: [`Columns: ${known.map(({ label }) => label).join(', ')}`],
    choice: { given: name, valid: known.flatMap(namesOf) },
  })
}

function namesOf({ path, label }: Column): string[] {
  return path === label ? [path] : [label, path]
}
