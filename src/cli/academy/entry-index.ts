import type { JsonObject } from '../../codec/json-object.ts'
import { type Entry, emailKey, keyIn } from './entry.ts'
import type { KnownIds } from './known-ids.ts'

/** Finds the entry that a record is declared by. */
export interface EntryIndex {
  /** Undefined for a record that is not declared. */
  of(shown: JsonObject): Entry | undefined
  /** The user who is declared with this record's e-mail address, and with another external id. */
  byAddress(shown: JsonObject): Entry | undefined
}

/** An index of the entries of one dataset. */
export function indexOf(entries: readonly Entry[], ids: KnownIds): EntryIndex {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const addressed = new Map(
    entries.flatMap((entry) => {
      const { email } = entry.record
      return entry.dataset === 'users' && typeof email === 'string' ? [[emailKey(email), entry] as const] : []
    }),
  )
  const dataset = entries[0]?.dataset

  return {
    of(shown) {
      switch (dataset) {
        case undefined:
          return undefined
        case 'users':
          return byKey.get(keyIn(dataset, shown) ?? '') ?? byKey.get(emailKey(String(shown['email'])))
        case 'courses':
          return byKey.get(`ext:${shown['externalId'] ?? shown['id']}`)
        case 'lessons': {
          const { id, title, externalId } = shown
          const known = byKey.get(`ext:${externalId ?? id}`)
          // One that has an external id is not called by its title.
          if (known || typeof externalId === 'string') return known
          return byKey.get(keyIn(dataset, { courseId: ids.keyOf(shown['courseId']), title }) ?? '')
        }
        default:
          return byKey.get(
            keyIn(dataset, {
              courseId: ids.keyOf(shown['courseId']),
              userId: ids.keyOf(shown['userId']),
              learnerId: ids.keyOf(shown['learnerId']),
              role: shown['role'],
              itemId: shown['itemId'],
              source: shown['source'],
            }) ?? '',
          )
      }
    },
    byAddress: (shown) => (dataset === 'users' ? addressed.get(emailKey(String(shown['email']))) : undefined),
  }
}
