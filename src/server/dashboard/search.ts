/** The query of a list that can be searched. */
type SearchQuery = Readonly<Record<string, string | undefined>> & {
  readonly q?: string | undefined
  readonly cursor?: string | undefined
}

interface FoundPage<Item> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

/**
 * Reads a page of a search that finds a record by its complete external id as well, which comes first. The index of
 * external ids finds it, so that the search itself is the one of the API.
 */
export async function readWithExternalId<Item extends { readonly id: string }>(
  query: SearchQuery,
  read: (query: SearchQuery) => Promise<FoundPage<Item>>,
): Promise<FoundPage<Item>> {
  const listed = await read(query)
  const externalId = query.q?.trim().replace(/^ext:/, '')
  if (!externalId) return listed
  const { q: _, cursor, ...others } = query
  const [found] = (await read({ ...others, external_id: externalId, limit: '1' })).data
  if (!found) return listed
  const rest = listed.data.filter(({ id }) => id !== found.id)
  return { ...listed, data: cursor === undefined ? [found, ...rest] : rest }
}
