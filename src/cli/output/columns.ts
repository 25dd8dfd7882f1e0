import { memberOf } from '../../client/foreign/record.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { jsonText } from '../../codec/json-text.ts'
import { UsageError } from '../terminal/errors.ts'

/** What stands at a dotted path, `assessmentCriteria.passingScore`; undefined where there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  return dot < 0 ? undefined : valueAt(value[path.slice(0, dot)], path.slice(dot + 1))
}

/** What stands in a column, also where a platform has it under another name; undefined where there is nothing. */
export function cellAt(value: unknown, { path, noun }: Column): unknown {
  return memberOf(value, path, noun)
}

/** The value reduced to some columns, in their order, nested as the API has them. */
export function pick(value: unknown, columns: readonly Column[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const column of columns) setAt(picked, column.path.split('.'), cellAt(value, column) ?? null)
  return picked
}

/** Puts a value at a path, making the objects on the way. */
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
  // A field called __proto__ is a field like any other.
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Every path in a value that a column can show: fields, and the fields of objects in them. */
export function pathsIn(value: unknown): string[] {
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => [
    name,
    ...pathsIn(member).map((path) => `${name}.${path}`),
  ])
}

/** A value as one cell of a table: lists of plain values with commas, other nested ones as JSON, nothing as nothing. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  return typeof value === 'object' ? jsonText(value) : String(value)
}

/** One column of a result: where its values stand, and what its head says. */
export interface Column {
  readonly path: string
  readonly label: string
  /** What the things are: their id may be called after it. */
  readonly noun?: string | undefined
}

/** The paths of which no other one is inside: `profile.firstName`, not `profile`. */
export function leavesOf(paths: readonly string[]): string[] {
  const above = new Set(paths.flatMap(ancestorsOf))
  return [...new Set(paths)].filter((path) => !above.has(path))
}

/** The paths that one is inside of: for `a.b.c`, `a` and `a.b`. */
export function ancestorsOf(path: string): string[] {
  const steps = path.split('.')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'))
}

/** Columns whose heads say no more than is needed: the last step of a path where no other one of `valid` ends so. */
export function labelled(paths: readonly string[], valid: readonly string[]): Column[] {
  const leaf = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const alike = Map.groupBy(valid, leaf)
  return paths.map((path) => ({ path, label: alike.get(leaf(path))?.length === 1 ? leaf(path) : path }))
}

/** The paths that a name may mean: itself, else all that end with it, such as `profile.firstName` for `firstName`. */
export function pathsMeant(name: string, valid: readonly string[]): readonly string[] {
  return valid.includes(name) ? [name] : valid.filter((path) => path.endsWith(`.${name}`))
}

/** The one path that a name means. Throws a UsageError that lists the valid or the possible ones. */
export function pathMeant(name: string, valid: readonly string[]): string {
  const meant = pathsMeant(name, valid)
  const [path] = meant
  if (path !== undefined && meant.length === 1) return path
  const shown = JSON.stringify(name)
  if (path !== undefined) {
    throw new UsageError(`${shown} matches ${meant.length} columns`, {
      code: 'ambiguous_column',
      why: [`Columns: ${meant.join(', ')}`],
      hint: `Use the full name: --columns ${path}`,
    })
  }
  const known = labelled(valid, valid)
  throw new UsageError(`Unknown column ${shown}`, {
    code: 'unknown_column',
    why: [`Columns: ${known.map(({ label }) => label).join(', ')}`],
    choice: { given: name, valid: known.flatMap(namesOf) },
  })
}

function namesOf({ path, label }: Column): string[] {
  return path === label ? [path] : [label, path]
}
