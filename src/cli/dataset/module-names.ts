import { isJsonObject } from '../../codec/json-text.ts'
import { moduleNames, withKnownIds } from '../../contract/known-ids.ts'

/** Names of modules, by the ids of their course and their own. */
export type ModuleNames = Map<unknown, ReadonlyMap<unknown, string | undefined>>

/** Returns the names that the modules of a course get by a declaration, by id; a renamed module keeps its id. */
export function nextModuleNames(
  declared: unknown,
  current: unknown,
): ReadonlyMap<unknown, string | undefined> {
  const modules = withKnownIds(declared, current, ({ title }) => title)
  const names = moduleNames(modules)
  return new Map(
    (Array.isArray(modules) ? modules.filter(isJsonObject) : []).map(({ id }, index) => [id, names[index]]),
  )
}
