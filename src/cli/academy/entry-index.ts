import type { JsonObject } from '../../codec/json-object.ts'
import { courseKeyOf } from '../dataset/names.ts'
import { externalKeyOf } from '../dataset/shown-records.ts'
import { type Entry, emailKey, keyIn } from './entry.ts'
import type { KnownIds } from './known-ids.ts'

/** Finds the entry that declares a record. */
export interface EntryIndex {
  /** Returns the entry of a record; undefined if it is not declared. */
  of(shown: JsonObject): Entry | undefined
  /** Returns the user entry with the record's e-mail address but another external id. */
  byAddress(shown: JsonObject): Entry | undefined
}

/** Indexes the entries of one dataset. */
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
          return byKey.get(courseKeyOf(shown))
        case 'lessons':
          // unnamed-lessons.ts matches lessons that have no external id.
          return byKey.get(`ext:${externalKeyOf(shown)}`)
        default: {
          const record = {
            courseId: ids.keyOf(shown['courseId']),
            userId: ids.keyOf(shown['userId']),
            learnerId: ids.keyOf(shown['learnerId']),
            role: shown['role'],
            itemId: shown['itemId'],
          }
          const known = byKey.get(keyIn(dataset, { ...record, source: shown['source'] }) ?? '')
          if (known || dataset !== 'grades') return known
          // An entry without a source matches the existing grade of any source.
          const sourceless = byKey.get(keyIn(dataset, record) ?? '')
          return sourceless?.record['source'] === undefined ? sourceless : undefined
        }
      }
    },
    byAddress: (shown) => (dataset === 'users' ? addressed.get(emailKey(String(shown['email']))) : undefined),
  }
}
