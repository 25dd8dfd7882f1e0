import type { Written } from '../../client/call.ts'
import { pluralise } from '../terminal/format-text.ts'

/** Counts written values that a platform does not show or shows differently, and collects its warnings. */
export interface WriteNotes {
  take(written: Written | null): void
  /** Adds a sentence about a record, such as a warning of the platform. */
  add(sentence: string): void
  /** Returns a sentence for each kind of difference. */
  sentences(host: string): readonly string[]
}

/** Maximum number of added sentences to print. */
const maxAdded = 20

/** Creates a counter without differences. */
export function createWriteNotes(): WriteNotes {
  const other = new Map<string, number>()
  const unshown = new Map<string, number>()
  const added: string[] = []
  let hidden = 0
  const count = (counts: Map<string, number>, field: string) =>
    counts.set(field, (counts.get(field) ?? 0) + 1)
  const fields = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([field, times]) => `${field} (${pluralise(times, 'record')})`).join(', ')
  return {
    take(written) {
      if (written === null) return
      if (!written.shown) hidden += 1
      for (const { field } of written.other) count(other, field)
      for (const field of written.unshown) count(unshown, field)
    },
    add: (sentence) => void added.push(sentence),
    sentences: (host) => [
      ...added.slice(0, maxAdded),
      ...(added.length > maxAdded ? [`${pluralise(added.length - maxAdded, 'more warning')}`] : []),
      ...(other.size > 0 ? [`${host} shows other values than were sent: ${fields(other)}`] : []),
      ...(unshown.size > 0 ? [`Cannot check what ${host} does not show: ${fields(unshown)}`] : []),
      ...(hidden > 0
        ? [`${host} confirmed ${pluralise(hidden, 'record')} without showing ${hidden === 1 ? 'it' : 'them'}`]
        : []),
    ],
  }
}

/** Returns the note on operations that only an attempt can confirm. */
export function unknownSupportNote(platform: string, operations: readonly string[]): string {
  return `${platform} does not say whether it supports ${operations.join(', ')}; without that, some changes will fail`
}
