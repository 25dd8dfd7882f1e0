import { type KnownIds, keyIn, keyText, plainReference, referencesTo } from '../records/identity.ts'
import { type Declared, type Entry, nouns } from './entry.ts'
import { loadPart } from './load-part.ts'
import type { Problems } from './problems.ts'
import type { Reader } from './reader.ts'

/**
 * Replaces each reference to a declared record by its key, whichever form it has: `ext:42`, `42`, or the e-mail
 * address with or without `email:`. Other references stay as they are.
 */
export async function nameByKeys(declared: Declared): Promise<void> {
  const keys = {
    courses: new Map((declared.get('courses') ?? []).flatMap(namesOf)),
    users: new Map((declared.get('users') ?? []).flatMap(namesOf)),
  }
  for (const [part, entries] of declared) {
    const references = Object.entries((await loadPart(part)).references)
    for (const entry of references.length > 0 ? entries : []) {
      const named = references.map(([field, to]) => {
        const reference = String(entry.record[field])
        return [field, keys[to].get(reference) ?? keys[to].get(plainReference(reference)) ?? reference]
      })
      entry.record = { ...entry.record, ...Object.fromEntries(named) }
      entry.key = keyIn(part, entry.record) ?? entry.key
    }
  }
}

/** Returns all names of a declared record with its key; prefixed names are unambiguous. */
function namesOf({ key, record: { externalId, email } }: Entry): [name: string, key: string][] {
  const names = referencesTo({ externalId, email })
  return names.flatMap((name) => [name.slice(name.indexOf(':') + 1), name]).map((name) => [name, key])
}

/**
 * Looks up each reference to an undeclared record once and replaces it by one key everywhere. A reference that the
 * academy does not have either is a problem of its entry.
 */
export async function lookUpReferences(
  { names }: Pick<Reader, 'names'>,
  declared: Declared,
  ids: KnownIds,
  problems: Problems,
): Promise<void> {
  /** Key of each reference; null for an unknown one. */
  const known = { courses: keysIn(declared, 'courses'), users: keysIn(declared, 'users') }

  async function keyOf(to: 'courses' | 'users', reference: string): Promise<string | null> {
    const before = known[to].get(reference)
    if (before !== undefined) return before
    const shown = await (to === 'courses' ? names.course(reference) : names.user(reference))
    const key = shown && (ids.keyOf(to, shown['id']) ?? reference)
    known[to].set(reference, key)
    if (shown && key !== null) ids.add(to, shown['id'], key)
    return key
  }

  for (const [part, entries] of declared) {
    const references = Object.entries((await loadPart(part)).references)
    const renamed = new Set<Entry>()
    for (const entry of references.length > 0 ? entries : []) {
      for (const [field, to] of references) {
        const reference = String(entry.record[field])
        const key = await keyOf(to, reference)
        if (key === null) {
          const message = `${field}: ${nouns[to]} ${reference} is neither declared nor in the academy`
          problems.add(entry.place, message)
        } else if (key !== reference) {
          entry.record = { ...entry.record, [field]: key }
          renamed.add(entry)
        }
      }
    }
    const keys = new Set(
      (renamed.size > 0 ? entries : []).filter((entry) => !renamed.has(entry)).map(({ key }) => key),
    )
    for (const entry of renamed) {
      entry.key = keyIn(part, entry.record) ?? entry.key
      if (keys.has(entry.key)) {
        const message = `${nouns[part]} ${keyText(entry.key)} is declared twice, by other names`
        problems.add(entry.place, message)
      }
      keys.add(entry.key)
    }
  }
}

function keysIn(declared: Declared, to: 'courses' | 'users'): Map<string, string | null> {
  return new Map((declared.get(to) ?? []).map(({ key }) => [key, key]))
}
