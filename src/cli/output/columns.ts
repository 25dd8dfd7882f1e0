import { isJsonObject } from '../../codec/json-object.ts'
import { UsageError } from '../terminal/errors.ts'

/** What stands at a dotted path, `assessmentCriteria.passingScore`; undefined where there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  return dot < 0 ? undefined : valueAt(value[path.slice(0, dot)], path.slice(dot + 1))
}

/** The value reduced to some paths, in their order, nested as it was. */
export function pick(value: unknown, paths: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const path of paths) setAt(picked, path.split('.'), valueAt(value, path) ?? null)
  return picked
}

/** Puts a value at a path, making the objects on the way. */
export function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path
  if (name === undefined) return
  // defineProperty: a field called __proto__ is a field like any other.
  const put = (member: unknown) =>
    Object.defineProperty(target, name, {
      value: member,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  if (rest.length === 0) {
    put(value)
    return
  }
  const there = Object.hasOwn(target, name) ? target[name] : undefined
  const inner = isJsonObject(there) ? there : {}
  if (inner !== there) put(inner)
  setAt(inner, rest, value)
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
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Throws a UsageError that lists the valid names when one of `chosen` is not among them. */
export function assertColumns(chosen: readonly string[], valid: readonly string[]): void {
  const unknown = chosen.find((column) => !valid.includes(column))
  if (unknown === undefined) return
  throw new UsageError(`unknown column ${JSON.stringify(unknown)}`, {
    code: 'unknown_column',
    why: [`columns: ${valid.join(', ')}`],
    choice: { given: unknown, valid },
  })
}
