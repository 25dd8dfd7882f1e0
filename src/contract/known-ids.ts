import { isJsonObject, type JsonObject } from '../codec/json-text.ts'

type NameOf = (item: JsonObject) => unknown

/** References to them survive: matched by name, else by place, each at most once. `inside` is a field with a nested list. */
export function withKnownIds(
  list: unknown,
  current: unknown,
  nameOf: NameOf,
  inside?: { readonly field: string; readonly nameOf: NameOf },
): unknown {
  if (!Array.isArray(list) || !Array.isArray(current)) return list
  const free = new Set(current.filter(isJsonObject))
  const take = (known: JsonObject | undefined) => (known && free.delete(known) ? known : undefined)
  const named = list.map((item: unknown) =>
    isJsonObject(item) ? take([...free].find((each) => isSame(item, each, nameOf))) : undefined,
  )
  return list.map((item: unknown, index) => {
    const known = named[index] ?? take(current[index])
    if (!isJsonObject(item) || !known) return item
    const things = inside && withKnownIds(item[inside.field], known[inside.field], inside.nameOf)
    return { id: known['id'], ...item, ...(inside && things !== undefined && { [inside.field]: things }) }
  })
}

function isSame(item: JsonObject, known: JsonObject, nameOf: NameOf): boolean {
  return item['id'] === undefined ? nameOf(item) === nameOf(known) : item['id'] === known['id']
}

export function contentWithKnownIds(
  { contentBlocks, assessments }: JsonObject,
  current: JsonObject,
): JsonObject {
  const title = ({ title }: JsonObject) => title
  return {
    ...(contentBlocks !== undefined && {
      contentBlocks: withKnownIds(contentBlocks, current['contentBlocks'], title),
    }),
    ...(assessments !== undefined && {
      assessments: withKnownIds(assessments, current['assessments'], title, {
        field: 'questions',
        nameOf: ({ prompt }) => prompt,
      }),
    }),
  }
}

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
