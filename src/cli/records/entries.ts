import type { JsonObject } from '../../codec/json-text.ts'
import {
  type Dataset,
  type DatasetName,
  isAboutPeople,
  type ReferredName,
  referencesIn,
} from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { users } from '../dataset/people.ts'
import { maxFindings } from '../output/github.ts'
import { type Finding, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { keyAmongEquals, keyIn, keyText, plainReference, referencesTo, valueName } from './identity.ts'

/** Parts of an academy, in the order in which their records are written: each refers to earlier parts. */
export const parts = [
  'terms',
  'users',
  'courses',
  'lessons',
  'groups',
  'memberships',
  'enrollments',
  'progress',
  'grades',
] as const satisfies readonly DatasetName[]
export type Part = (typeof parts)[number]

export const nouns = {
  terms: 'term',
  users: 'user',
  courses: 'course',
  lessons: 'lesson',
  groups: 'group',
  memberships: 'group member',
  enrollments: 'enrolment',
  progress: 'progress record',
  grades: 'grade',
} as const satisfies Readonly<Record<Part, string>>

/** Returns a count in words: `1 course`. */
export function countText(dataset: Part, count: number): string {
  return pluralise(count, nouns[dataset])
}

/** Lines count from 1, and 0 stands for the file as a whole. */
export interface Place {
  readonly file: string
  readonly line: number
}

export interface Entry {
  readonly dataset: Part
  /** Unique within its dataset: see `keyIn` in records/identity.ts. */
  key: string
  /** Complete for courses and lessons, otherwise only the declared fields; references have the form of keys. */
  record: JsonObject
  readonly place: Place
  readonly steps?: readonly JsonObject[]
  /** True for a record that must be gone, such as one with `status` `tobedeleted`. */
  readonly isRemoved?: boolean
  /** True for a record that is left out (`lacksPeople`) if neither its source nor the academy shows its person. */
  readonly mayLackPeople?: boolean
  lacksPeople?: boolean
  /** Times of which the file gives only the day, in UTC: any time of that day is equal. */
  readonly days?: readonly string[]
  /** True for a group with no members but the declared ones. */
  readonly listsMembers?: true
  /** Password as written in the file, with `${NAME}` for environment variables. */
  readonly password?: string
}

export type Declared = ReadonlyMap<Part, readonly Entry[]>

/** `academy.yaml:12`. */
export function placeText({ file, line }: Place): string {
  return line === 0 ? file : `${file}:${line}`
}

/** True for datasets whose records are always sent as wholes, new or not; they have no label. */
export function isSentWhole({ operations }: Pick<Dataset, 'operations'>): boolean {
  return operations.update === undefined
}

const maxReported = 1000

/** Collects problems of files, so that all are reported at once. */
export interface Problems {
  /** @param shown the message without values of people (default the message, which has none) */
  add(place: Place, message: string, shown?: string): void
  throwIfAny(hint?: string): void
}

/** Its error lists the first thousand problems and counts the others. */
export function createProblems(): Problems {
  const reported: { place: Place; message: string; shown: string }[] = []
  let count = 0
  return {
    add(place, message, shown = message) {
      count += 1
      if (reported.length < maxReported) reported.push({ place, message, shown })
    },
    throwIfAny(hint) {
      if (count === 0) return
      const files = new Set(reported.map(({ place }) => place.file))
      const [file] = files
      throw new UsageError(
        `${pluralise(count, 'problem')} found in ${files.size === 1 ? file : pluralise(files.size, 'file')}`,
        {
          code: 'invalid_document',
          ...(hint && { hint }),
          why: [
            ...reported.map(({ place, message }) => `${placeText(place)}: ${message}`),
            ...(count > reported.length ? [`and ${count - reported.length} more`] : []),
          ],
          findings: {
            list: reported.slice(0, maxFindings).map(({ place, shown }) => errorAt(place, shown)),
            more: Math.max(0, count - maxFindings),
          },
        },
      )
    },
  }
}

/** Returns a record in words for all readers of a repository: `course ext:BIO-1`, but `user`. */
export function recordText({ dataset, key }: Pick<Entry, 'dataset' | 'key'>): string {
  const noun = nouns[dataset]
  return isAboutPeople({ name: dataset }) ? noun : `${noun} ${keyText(key)}`
}

export function errorAt({ file, line }: Place, text: string): Finding {
  return { level: 'error', file, line, text }
}

export interface PartDataset extends Dataset {
  readonly name: Part
}

export async function loadPart(name: Part): Promise<PartDataset> {
  // loadDataset returns the dataset with that name.
  return (await loadDataset(name)) as PartDataset
}

/** Progress entries with one key become its steps, sorted by time. Other duplicates, and a lack of keys, are problems. */
export function distinct(declared: Declared, problems: Problems): Declared {
  return new Map(
    [...declared].map(([dataset, entries]) => {
      if (dataset === 'progress') return [dataset, joined(entries)]
      if (dataset === 'lessons') numberEquals(entries)
      const seen = new Map<string, Entry>()
      for (const entry of entries) {
        for (const name of namesIn(entry)) {
          const before = seen.get(name)
          if (before) {
            problems.add(
              entry.place,
              `${nouns[dataset]} ${keyText(name)} is declared twice; first in ${placeText(before.place)}`,
              `${recordText(entry)} is declared twice; first in ${placeText(before.place)}`,
            )
          } else seen.set(name, entry)
        }
        if (entry.record['status'] === 'deleted') {
          problems.add(
            entry.place,
            `${nouns[dataset]} ${keyText(entry.key)} cannot be declared as deleted; leave it out`,
            `${recordText(entry)} cannot be declared as deleted; leave it out`,
          )
        }
      }
      return [dataset, entries]
    }),
  )
}

export function withMemberships(declared: Declared): Declared {
  const groups = declared.get('groups') ?? []
  if (!groups.some(({ record }) => Array.isArray(record['members']))) return declared
  const memberships = [...(declared.get('memberships') ?? [])]
  const own = groups.map((entry) => {
    const { members, ...record } = entry.record
    if (!Array.isArray(members)) return entry
    for (const userId of new Set(members.map(String))) {
      const member = { groupId: entry.key, userId }
      const key = keyIn('memberships', member) ?? ''
      const { place, mayLackPeople = false } = entry
      memberships.push({ dataset: 'memberships', key, record: member, place, mayLackPeople })
    }
    return { ...entry, record, listsMembers: true as const }
  })
  const all = new Map([...declared, ['groups', own], ['memberships', memberships]])
  return new Map(parts.flatMap((part) => (all.has(part) ? [[part, all.get(part) ?? []]] : [])))
}

/** Lessons with the same module and title and no external ids. */
function numberEquals(entries: readonly Entry[]): void {
  const counts = new Map<string, number>()
  for (const entry of entries) {
    if (entry.record['externalId'] !== undefined) continue
    const place = (counts.get(entry.key) ?? 0) + 1
    counts.set(entry.key, place)
    entry.key = keyAmongEquals(entry.key, place)
  }
}

function namesIn({ dataset, key, record }: Entry): string[] {
  const others = (dataset === 'users' ? (users.unique ?? []) : []).flatMap((field) => {
    const value = record[field]
    return typeof value === 'string' ? [valueName(field, value)] : []
  })
  return [...new Set([key, ...others])]
}

function joined(entries: readonly Entry[]): Entry[] {
  const steps = new Map<string, Entry[]>()
  for (const entry of entries) {
    const before = steps.get(entry.key)
    if (before) before.push(entry)
    else steps.set(entry.key, [entry])
  }
  return [...steps.values()].map((all) => {
    const ordered = all.toSorted((one, other) => timeOf(one) - timeOf(other))
    const last = ordered.at(-1) ?? all[0]
    if (!last) throw new TypeError('no steps')
    return ordered.length === 1 ? last : { ...last, steps: ordered.map(({ record }) => record) }
  })
}

/** Returns the time of a step; a step without one counts as now. */
function timeOf({ record: { lastAccessed } }: Entry): number {
  return typeof lastAccessed === 'string' ? Date.parse(lastAccessed) : Number.MAX_SAFE_INTEGER
}

/** References are `ext:42`, `42`, an e-mail address with or without `email:`, or the name of a term. */
export async function nameByKeys(declared: Declared): Promise<void> {
  const keys = {
    terms: new Map([...termNames(declared), ...keyNames(declared, 'terms')]),
    courses: new Map(keyNames(declared, 'courses')),
    users: new Map(keyNames(declared, 'users')),
    groups: new Map(keyNames(declared, 'groups')),
  }
  for (const [part, entries] of declared) {
    const dataset = await loadPart(part)
    for (const entry of entries) {
      const named = referencesIn(dataset, entry.record).map(({ field, to, reference }) => {
        const key = keys[to].get(reference) ?? keys[to].get(plainReference(reference))
        return [field, key ?? reference] as const
      })
      if (named.length === 0) continue
      entry.record = { ...entry.record, ...Object.fromEntries(named) }
      entry.key = keyIn(part, entry.record) ?? entry.key
    }
  }
}

/** Returns all names of the declared records of a part with their keys; prefixed names are unambiguous. */
function keyNames(declared: Declared, part: ReferredName): [name: string, key: string][] {
  return (declared.get(part) ?? []).flatMap(({ key, record: { externalId, email } }) => {
    const names = referencesTo({ externalId, email })
    return names
      .flatMap((name) => [name.slice(name.indexOf(':') + 1), name])
      .map((name): [string, string] => [name, key])
  })
}

function termNames(declared: Declared): [name: string, key: string][] {
  const byName = Map.groupBy(declared.get('terms') ?? [], ({ record }) => String(record['name']))
  return [...byName].flatMap(([name, [term, ...others]]) =>
    term && others.length === 0 ? [[name, term.key]] : [],
  )
}
