import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

/**
 * The field in which a record from a platform elsewhere without an external id has its URL there. Exports write it in the
 * place of the external id: unlike an id, it cannot be taken for the one of another platform.
 */
export const addressField = '@id'

/** True for an id as this API makes them: it is of one platform alone. */
export function isOwnId(value: unknown): boolean {
  return /^[a-z]{3}_[0-9A-Za-z]{20,}$/.test(String(value))
}

/** The external id by which files know a record: its own, else its URL on a platform elsewhere, else its id. */
export function externalKeyOf(shown: JsonObject): string {
  return String(shown['externalId'] ?? shown[addressField] ?? shown['id'])
}

/** The id in the URL of a record on the platform of a caller; null for any other text. */
export function idAtAddress(caller: Caller, list: Call, text: unknown): string | null {
  if (typeof text !== 'string' || !/^https?:/.test(text)) return null
  const base = `${addressOf(caller, list)}/`
  const rest = text.startsWith(base) ? text.slice(base.length) : ''
  try {
    return rest === '' || /[/?#]/.test(rest) ? null : decodeURIComponent(rest)
  } catch {
    return null
  }
}

/**
 * Records with their URL on the platform in the place of an external id, which they have not. Those of a platform that
 * confirms to be strict are known by their ids.
 *
 * @param list the list that such things are on, without a parameter in its path where they can have external ids
 */
export function shownRecords(
  caller: Caller,
  list: Call,
  { data, strict }: { readonly data: readonly unknown[]; readonly strict: boolean },
): readonly unknown[] {
  if (strict) return data
  const named = list.holds.answer.includes('externalId')
  return data.map((record) => {
    if (!isJsonObject(record)) return record
    const { id, externalId } = record
    if (!named || (externalId ?? '') !== '' || id === undefined || isOwnId(id)) return record
    const address = `${addressOf(caller, list)}/${encodeURIComponent(String(id))}`
    return { ...record, ...(externalId === '' && { externalId: null }), [addressField]: address }
  })
}

/** The same for one thing. */
export function shownRecord(
  caller: Caller,
  list: Call,
  { data, strict }: { readonly data: unknown; readonly strict: boolean },
): unknown {
  const [record] = shownRecords(caller, list, { data: [data], strict })
  return record
}

/** The same for the pages of a list. */
export async function* recordPages<P extends { readonly data: readonly unknown[]; readonly strict: boolean }>(
  caller: Caller,
  list: Call,
  pages: AsyncIterable<P>,
): AsyncGenerator<P> {
  for await (const page of pages) yield { ...page, data: shownRecords(caller, list, page) }
}

function addressOf(caller: Caller, list: Call): string {
  return caller.request<Operation>(list).url
}
