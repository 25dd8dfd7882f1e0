import type { Declared, Entry } from './entry.ts'
import { emailKey, keyIn } from './entry.ts'

/** Datasets that records refer to, by field. */
const fields = {
  users: [],
  courses: [],
  lessons: [['courseId', 'courses']],
  enrollments: [
    ['courseId', 'courses'],
    ['userId', 'users'],
  ],
  progress: [
    ['courseId', 'courses'],
    ['learnerId', 'users'],
  ],
  grades: [
    ['courseId', 'courses'],
    ['learnerId', 'users'],
  ],
} as const satisfies Readonly<Record<Entry['dataset'], readonly (readonly [string, 'courses' | 'users'])[]>>

/** Returns the reference fields of an entry and their datasets. */
export function referencesOf({
  dataset,
}: Pick<Entry, 'dataset'>): readonly (readonly [string, 'courses' | 'users'])[] {
  return fields[dataset]
}

/**
 * Replaces each reference to a declared record by its key, whichever form it has: `ext:42`, `42`, or the e-mail
 * address with or without `email:`. Other references stay as they are.
 */
export function nameByKeys(declared: Declared): void {
  const courses = new Map((declared.get('courses') ?? []).flatMap(namesOf))
  const users = new Map((declared.get('users') ?? []).flatMap(namesOf))
  for (const entries of declared.values()) {
    for (const entry of entries) {
      const named = referencesOf(entry).map(([field, to]) => {
        const reference = String(entry.record[field])
        const known = to === 'courses' ? courses : users
        return [field, known.get(reference) ?? known.get(asAddress(reference)) ?? reference]
      })
      if (named.length === 0) continue
      entry.record = { ...entry.record, ...Object.fromEntries(named) }
      entry.key = keyIn(entry.dataset, entry.record) ?? entry.key
    }
  }
}

/** Returns all names of a declared record with its key; prefixed names are unambiguous. */
function namesOf({ key, record }: Entry): [name: string, key: string][] {
  const { externalId, email } = record
  return [
    ...(typeof email === 'string' ? [[email.trim().toLowerCase(), key] as [string, string]] : []),
    ...(typeof email === 'string' ? [[emailKey(email), key] as [string, string]] : []),
    ...(typeof externalId === 'string' ? [[externalId, key] as [string, string]] : []),
    ...(typeof externalId === 'string' ? [[`ext:${externalId}`, key] as [string, string]] : []),
  ]
}

/** Returns an e-mail reference in lower case, any other unchanged. */
function asAddress(reference: string): string {
  return /^email:|^[^:]*@/i.test(reference) ? reference.toLowerCase() : reference
}
