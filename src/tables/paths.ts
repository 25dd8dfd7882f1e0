import { isJsonObject } from '../codec/json-text.ts'

/** Paths are dotted: `assessmentCriteria.passingScore`. */
export function valueAt(value: unknown, path: string): unknown {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  const dot = path.indexOf('.')
  return dot < 0 ? undefined : valueAt(value[path.slice(0, dot)], path.slice(dot + 1))
}

export interface LabelledPath {
  readonly path: string
  readonly label: string
}

/** Returns the paths without those that contain another one: `profile.firstName`, not `profile`. */
export function leavesOf(paths: readonly string[]): string[] {
  const above = new Set(paths.flatMap(ancestorsOf))
  return [...new Set(paths)].filter((path) => !above.has(path))
}

/** Returns the paths that contain a path: for `a.b.c`, `a` and `a.b`. */
export function ancestorsOf(path: string): string[] {
  const steps = path.split('.')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'))
}

/** Makes columns with short labels: the last step of a path, unless another valid path has the same. */
export function labelColumns(paths: readonly string[], valid: readonly string[]): LabelledPath[] {
  const leaf = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const alike = Map.groupBy(valid, leaf)
  return paths.map((path) => ({ path, label: alike.get(leaf(path))?.length === 1 ? leaf(path) : path }))
}
