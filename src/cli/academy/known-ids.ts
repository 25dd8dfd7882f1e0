import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-object.ts'
import { calls } from '../../contract/calls.ts'
import { type Declared, type Entry, keyIn, keyText, nouns } from './entry.ts'
import type { Problems } from './problems.ts'
import type { IdOf, Reader } from './reader.ts'
import { referencesOf } from './references.ts'

/** What files call the courses and users of an academy, by the ids that these have there. */
export interface KnownIds {
  /** The key of what has this id; undefined where no file speaks of it. */
  keyOf(id: unknown): string | undefined
  readonly idOf: IdOf
  add(id: unknown, key: string): void
}

/** An empty collection. */
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
 * Looks up what entries refer to and no file declares, each once, and names it alike everywhere. What is not in the academy
 * either is a problem of the entry that refers to it.
 */
export async function lookUpReferences(
  { caller, signal }: Reader,
  declared: Declared,
  ids: KnownIds,
  problems: Problems,
): Promise<void> {
  /** What each reference is called everywhere; null for what is nowhere. */
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
