import { isJsonObject, type JsonObject } from '../codec/json-text.ts'

/** Returns the name of a thing in a list, such as the title of a module. */
type NameOf = (item: JsonObject) => unknown

/**
 * Returns the things with their ids in the current list, so that references to them survive: matched by name, else by
 * place, each current thing at most once.
 *
 * @param inside field of each thing with a nested list
 */
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

/** Returns the content of a lesson with its existing ids. */
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
