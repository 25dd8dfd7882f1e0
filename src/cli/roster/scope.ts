import { suggestionText } from '../../contract/validation-issues.ts'
import type { Declared, Entry, Part } from '../records/entries.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { type RosterPart, rosterPartOf } from './roster.ts'

/** Part of a roster to compare or apply. */
export interface Scope {
  /** Empty for all. */
  readonly only: readonly RosterPart[]
  /** By external id or title; empty for all. */
  readonly courses: readonly string[]
  /** By external id or name; empty for all. */
  readonly terms: readonly string[]
}

/**
 * Returns the records within a scope: of some courses their terms, users, groups, enrolments and grades. Throws a
 * UsageError if `name`, which has the records, has no such course or term.
 */
export function inScope(name: string, declared: Declared, scope: Scope) {
  const isWanted = (part: Part) =>
    scope.only.length === 0 || scope.only.some((only) => only === rosterPartOf(part))
  const onlyWanted = (from: Declared) => new Map([...from].filter(([part]) => isWanted(part)))
  if (scope.courses.length === 0 && scope.terms.length === 0) {
    return { declared: onlyWanted(declared) }
  }
  const terms = keysOf(name, declared, 'terms', scope.terms)
  const named = keysOf(name, declared, 'courses', scope.courses)
  const courses = new Set<string>()
  const usedTerms = new Set(terms)
  for (const { key, record } of declared.get('courses') ?? []) {
    const term = termOf(record)
    if (scope.terms.length > 0 && (term === null || !terms.has(term))) continue
    if (scope.courses.length > 0 && !named.has(key)) continue
    courses.add(key)
    if (term !== null) usedTerms.add(term)
  }
  const users = new Set<string>()
  // Groups name their course as files do.
  const inCourses = ({ record }: Entry) => courses.has(String(record['courseId'] ?? record['course']))
  const groups = (declared.get('groups') ?? []).filter(inCourses)
  const groupKeys = new Set(groups.map(({ key }) => key))
  const inGroups = (entry: Entry) => groupKeys.has(String(entry.record['groupId']))
  const memberships = (declared.get('memberships') ?? []).filter(inGroups)
  for (const { record } of [...(declared.get('enrollments') ?? []).filter(inCourses), ...memberships]) {
    users.add(String(record['userId']))
  }
  for (const { record } of groups) {
    for (const user of Array.isArray(record['members']) ? record['members'] : []) users.add(String(user))
  }
  const kept = [...declared].map(([part, entries]) => {
    if (part === 'terms') return [part, entries.filter(({ key }) => usedTerms.has(key))] as const
    if (part === 'courses') return [part, entries.filter(({ key }) => courses.has(key))] as const
    if (part === 'users') return [part, entries.filter(({ key }) => users.has(key))] as const
    return [part, entries.filter(part === 'memberships' ? inGroups : inCourses)] as const
  })
  return { declared: onlyWanted(new Map(kept)), courses: [...courses] }
}

/** Null for none. */
function termOf({ term }: Entry['record']): string | null {
  return typeof term === 'string' ? term : null
}

/** Returns the keys of records that are named by external id, `ext:` and the external id, or title. */
function keysOf(
  where: string,
  declared: Declared,
  part: 'courses' | 'terms',
  wanted: readonly string[],
): ReadonlySet<string> {
  const entries = declared.get(part) ?? []
  return new Set(
    wanted.map((text) => {
      const exact = entries.find(({ key, record }) => key === text || record['externalId'] === text)
      if (exact) return exact.key
      const named = entries.filter(({ record }) => nameOf(record) === text).map(({ key }) => key)
      const [key, ...others] = named
      if (key !== undefined && others.length === 0) return key
      if (key !== undefined) throw ambiguous(part, text, named)
      const noun = part === 'courses' ? 'course' : 'term'
      const known = entries.flatMap(({ key, record }) => [String(nameOf(record)), key])
      throw new UsageError(`${where} has no ${noun} ${JSON.stringify(text)}${suggestionText(text, known)}`, {
        code: `unknown_${noun}`,
      })
    }),
  )
}

function nameOf({ title, name }: Entry['record']): unknown {
  return title ?? name
}

/** Returns the error for a title that several courses have, or a name of several terms. */
export function ambiguous(part: 'courses' | 'terms', name: string, ids: readonly string[]): CommandError {
  return new CommandError('ambiguous', 'usage', `${ids.length} ${part} are called ${name}`, {
    why: ids.toSorted().slice(0, 10),
    hint: 'Use the external id',
  })
}
