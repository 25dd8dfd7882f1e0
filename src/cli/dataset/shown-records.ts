import type { Caller } from '../../client/caller.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Call } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'

/**
 * Field with the URL of a record that has no external id, on a remote platform. Exports write it as the external id:
 * unlike an id, it cannot match a record of another platform.
 */
export const addressField = '@id'

/** True for an id in this API's format, which is valid on one platform only. */
export function isOwnId(value: unknown): boolean {
  return /^[a-z]{3}_[0-9A-Za-z]{20,}$/.test(String(value))
}

/** Returns the external id of a record in files: its own, else its URL on a remote platform, else its id. */
export function externalKeyOf(shown: JsonObject): string {
  return String(shown['externalId'] ?? shown[addressField] ?? shown['id'])
}

/**
 * Returns the lookup of records by their external ids, which returns null for a record without one.
 *
 * @param parameter parameter of the path that shows a record
 */
export function byExternalId(parameter: string, query: Readonly<Record<string, string>> = {}) {
  return ({ externalId }: JsonObject) =>
    typeof externalId === 'string'
      ? {
          reference: { [parameter]: `ext:${externalId}` },
          query: { external_id: externalId, ...query },
          matches: (shown: JsonObject) => externalId === externalKeyOf(shown),
        }
      : null
}

/** Returns the id in a record's URL on the caller's platform; null for any other text. */
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
 * Adds the URL on the platform to records that have neither an external id nor an id in this API's format. Records of
 * a server of this API stay unchanged.
 *
 * @param list list that shows such records, without a path parameter if they can have external ids
 */
export function shownRecords(
  caller: Caller,
  list: Call,
  { data }: { readonly data: readonly unknown[] },
): readonly unknown[] {
  if (caller.isOurs()) return data
  const named = list.holds.answer.includes('externalId')
  return data.map((record) => {
    if (!isJsonObject(record)) return record
    const { id, externalId } = record
    if (!named || (externalId ?? '') !== '' || id === undefined || isOwnId(id)) return record
    const address = `${addressOf(caller, list)}/${encodeURIComponent(String(id))}`
    return { ...record, ...(externalId === '' && { externalId: null }), [addressField]: address }
  })
}

/** Does the same as `shownRecords` for a single record. */
export function shownRecord(caller: Caller, list: Call, { data }: { readonly data: unknown }): unknown {
  const [record] = shownRecords(caller, list, { data: [data] })
  return record
}

/** Does the same as `shownRecords` for the pages of a list. */
export async function* recordPages<P extends { readonly data: readonly unknown[] }>(
  caller: Caller,
  list: Call,
  pages: AsyncIterable<P>,
): AsyncGenerator<P> {
  for await (const page of pages) yield { ...page, data: shownRecords(caller, list, page) }
}

function addressOf(caller: Caller, list: Call): string {
  return caller.request<Operation>(list).url
}
