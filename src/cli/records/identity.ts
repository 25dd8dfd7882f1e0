import type { JsonObject } from '../../codec/json-text.ts'
import { wholeCourse } from '../../contract/constants.ts'
import type { DatasetName } from '../dataset/dataset.ts'
import { externalKeyOf } from '../dataset/names.ts'

const separator = '\n'

/**
 * Returns the key of a record; null if it has none. A user's is `ext:` and the external id, else `email:` and the
 * address in lower case; a term's, a course's and a group's `ext:` and the external id; a lesson's the same, else its course, module and
 * title; enrolments and progress use the keys of their course and user, grades also their item and source.
 */
export function keyIn(dataset: DatasetName, record: JsonObject): string | null {
  const { externalId, email, title, module, courseId, groupId, userId, learnerId } = record
  const { role = 'learner', itemId = wholeCourse, source = 'manual' } = record
  const external = typeof externalId === 'string' ? `ext:${externalId}` : null
  switch (dataset) {
    case 'users':
      return external ?? (typeof email === 'string' ? valueName('email', email) : null)
    case 'terms':
    case 'courses':
    case 'groups':
      return external
    case 'memberships':
      return [groupId, userId].join(separator)
    case 'lessons':
      return external ?? [courseId, module ?? '', title].join(separator)
    case 'enrollments':
      return [courseId, userId, role].join(separator)
    case 'progress':
      return [courseId, learnerId].join(separator)
    case 'grades':
      return [courseId, learnerId, itemId, source].join(separator)
  }
}

/** Returns the key of a lesson without an external id among others with the same `key`; `place` counts from 1. */
export function keyAmongEquals(key: string, place: number): string {
  return place === 1 ? key : `${key}${separator}${place}`
}

export function courseIn(key: string): string {
  return key.split(separator, 1)[0] ?? ''
}

/** `ext:BIO-101, ext:42, learner`. */
export function keyText(key: string): string {
  return key
    .split(separator)
    .filter((part) => part !== '')
    .join(', ')
}

/** `username:ada`. E-mail addresses are compared without case. */
export function valueName(field: string, value: unknown): string {
  return `${field}:${field === 'email' ? String(value).trim().toLowerCase() : value}`
}

/** Returns the references by which files may name a course or user: the id, `ext:…` and `email:…`. */
export function referencesTo({ id, externalId, email }: JsonObject): readonly string[] {
  return [
    ...(id === undefined ? [] : [String(id)]),
    ...(typeof email === 'string' ? [valueName('email', email)] : []),
    ...(typeof externalId === 'string' ? [`ext:${externalId}`] : []),
  ]
}

/** Returns a reference by an e-mail address, with or without `email:`, in lower case; any other unchanged. */
export function plainReference(reference: string): string {
  return /^email:|^[^:]*@/i.test(reference) ? reference.toLowerCase() : reference
}

/** Ids are those of one platform: others number records on their own. */
export interface KnownIds {
  /** Undefined if no file mentions the record. */
  keyOf(dataset: DatasetName, id: unknown): string | undefined
  /** Undefined if the record does not exist yet. */
  idOf(dataset: DatasetName, key: string): string | undefined
  add(dataset: DatasetName, id: unknown, key: string): void
}

/** Datasets that no record refers to; they may have very many records. */
const leaves: ReadonlySet<DatasetName> = new Set(['memberships', 'enrollments', 'progress', 'grades'])

export function knownIds(): KnownIds {
  const known = new Map<
    DatasetName,
    { readonly keys: Map<unknown, string>; readonly ids: Map<string, string> }
  >()
  return {
    keyOf: (dataset, id) => known.get(dataset)?.keys.get(id),
    idOf: (dataset, key) => known.get(dataset)?.ids.get(key),
    add(dataset, id, key) {
      if (typeof id !== 'string' || leaves.has(dataset)) return
      const own = known.get(dataset) ?? { keys: new Map(), ids: new Map() }
      known.set(dataset, own)
      own.keys.set(id, key)
      own.ids.set(key, id)
    },
  }
}

interface Keyed {
  readonly dataset: DatasetName
  readonly key: string
  readonly record: JsonObject
}

/** Finds the entry that declares a record; all entries are those of one dataset. */
export function indexOf<Entry extends Keyed>(entries: readonly Entry[], ids: KnownIds) {
  const dataset = entries[0]?.dataset
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  const byEmail = new Map(
    (dataset === 'users' ? entries : []).map((entry) => [valueName('email', entry.record['email']), entry]),
  )
  return {
    /** Undefined if no entry declares the record. */
    of(shown: JsonObject): Entry | undefined {
      if (dataset === undefined) return undefined
      if (dataset === 'users') {
        return byKey.get(keyIn(dataset, shown) ?? '') ?? byKey.get(valueName('email', shown['email']))
      }
      // Lessons without an external id are matched by `lessonsMatched`.
      if (!leaves.has(dataset)) return byKey.get(`ext:${externalKeyOf(shown)}`)
      const { role, itemId, source } = shown
      const record = {
        courseId: ids.keyOf('courses', shown['courseId']),
        groupId: ids.keyOf('groups', shown['groupId']),
        userId: ids.keyOf('users', shown['userId']),
        learnerId: ids.keyOf('users', shown['learnerId']),
        role,
        itemId,
      }
      const known = byKey.get(keyIn(dataset, { ...record, source }) ?? '')
      if (known || dataset !== 'grades') return known
      // An entry without a source matches the existing grade of any source.
      const sourceless = byKey.get(keyIn(dataset, record) ?? '')
      return sourceless?.record['source'] === undefined ? sourceless : undefined
    },
    byAddress: (shown: JsonObject) => byEmail.get(valueName('email', shown['email'])),
  }
}
