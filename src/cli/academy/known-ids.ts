import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import { type Declared, type Entry, keyIn, keyText, nouns } from './entry.ts'
import type { Problems } from './problems.ts'
import type { IdOf, Reader } from './reader.ts'
import { referencesOf } from './references.ts'

/** Maps ids of the academy's courses and users to the keys that files use. */
export interface KnownIds {
  /** Returns the key for an id; undefined if no file mentions the record. */
  keyOf(id: unknown): string | undefined
  readonly idOf: IdOf
  add(id: unknown, key: string): void
}

/** Creates an empty map. */
export function knownIds(): KnownIds {
  const keys = new Map<string, string>()
  const known = new Map<string, string>()
  return {
    keyOf: (id) => (typeof id === 'string' ? keys.get(id) : undefined),
    idOf: (key) => known.get(key),
    add: (id, key) => {
      if (typeof id !== 'string') return
      keys.set(id, key)
      known.set(key, id)
    },
  }
}

/**
 * Looks up each reference to an undeclared record once and replaces it by one key everywhere. A reference that the
 * academy does not have either is a problem of its entry.
 */
export async function lookUpReferences(
  { caller, signal }: Reader,
  declared: Declared,
  ids: KnownIds,
  problems: Problems,
): Promise<void> {
  /** Key of each reference; null for an unknown one. */
  const names = { courses: namesIn(declared, 'courses'), users: namesIn(declared, 'users') }

  async function nameOf(to: 'courses' | 'users', reference: string): Promise<string | null> {
    const known = names[to].get(reference)
    if (known !== undefined) return known
    const id = await idOf(to, reference)
    const name = id === null ? null : (ids.keyOf(id) ?? reference)
    names[to].set(reference, name)
    if (name !== null) ids.add(id, name)
    return name
  }

  async function idOf(to: 'courses' | 'users', reference: string): Promise<unknown> {
    try {
      const { data } =
        to === 'courses'
          ? await caller.call(calls.courses.get, { params: { courseId: reference }, signal })
          : await caller.call(calls.users.get, { params: { userId: reference }, signal })
      return isJsonObject(data) ? data['id'] : null
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  }

  for (const entries of declared.values()) {
    const renamed: Entry[] = []
    for (const entry of entries) {
      for (const [field, to] of referencesOf(entry)) {
        const reference = String(entry.record[field])
        const name = await nameOf(to, reference)
        if (name === null) {
          const noun = to === 'courses' ? 'course' : 'user'
          problems.add(entry.place, `${field}: ${noun} ${reference} is neither declared nor in the academy`)
        } else if (name !== reference) {
          entry.record = { ...entry.record, [field]: name }
          renamed.push(entry)
        }
      }
    }
    if (renamed.length === 0) continue
    const keys = new Set(entries.filter((entry) => !renamed.includes(entry)).map(({ key }) => key))
    for (const entry of new Set(renamed)) {
      entry.key = keyIn(entry.dataset, entry.record) ?? entry.key
      if (keys.has(entry.key)) {
        problems.add(
          entry.place,
          `${nouns[entry.dataset]} ${keyText(entry.key)} is declared twice, by other names`,
        )
      }
      keys.add(entry.key)
    }
  }
}

function namesIn(declared: Declared, to: 'courses' | 'users'): Map<string, string | null> {
  return new Map((declared.get(to) ?? []).map(({ key }) => [key, key]))
}
