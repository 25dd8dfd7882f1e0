import { isJsonObject, type JsonObject } from '../codec/json-text.ts'

/** Returns the unique names of modules for lessons: the title, or the module's number if the title is ambiguous. */
export function moduleNames(modules: unknown): readonly string[] {
  const titles = titlesOf(modules)
  const counts = countsOf(titles)
  const numbered = new Set(titles.flatMap((title, index) => ((counts.get(title) ?? 0) > 1 ? [index] : [])))
  // A title that equals the number of a numbered module is ambiguous, too.
  for (let size = -1; size !== numbered.size; ) {
    size = numbered.size
    for (const [index, title] of titles.entries()) if (numbered.has(placeIn(title))) numbered.add(index)
  }
  return titles.map((title, index) => (numbered.has(index) ? String(index + 1) : title))
}

/** Returns the index of the named module; -1 for none, null if several have that title. */
export function moduleNamed(modules: unknown, name: string): number | null {
  const named = moduleNames(modules).indexOf(name)
  if (named >= 0) return named
  const titles = titlesOf(modules)
  if ((countsOf(titles).get(name) ?? 0) > 1) return null
  const titled = titles.indexOf(name)
  if (titled >= 0) return titled
  const place = placeIn(name)
  return place < titles.length ? place : -1
}

function titlesOf(modules: unknown): readonly string[] {
  const all: readonly JsonObject[] = Array.isArray(modules) ? modules.filter(isJsonObject) : []
  return all.map(({ title }) => String(title))
}

function countsOf(titles: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1)
  return counts
}

/** Returns the index for a number in text; -1 for other text. */
function placeIn(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) - 1 : -1
}
