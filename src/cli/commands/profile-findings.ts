import { letters, memberAt, stepsOf } from '../../client/platform/fields.ts'
import type { Place } from '../../client/platform/platform-file.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { isDay, isInstant } from '../../codec/time-text.ts'

export interface Finding {
  readonly operation: string
  readonly field: string
  /** JSON Pointer; null for a field that was not found. */
  readonly found: string | null
  /** Kind of its value, never the value: it may be that of a person. */
  readonly value: string | null
  /** `guess`: found under another name, which a platform file has to say. */
  readonly fits: 'yes' | 'guess' | 'missing'
}

/** By their letters. A person reads what is found by them. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  id: [
    'uuid',
    'guid',
    'key',
    'courseid',
    'coursekey',
    'courseno',
    'userid',
    'personid',
    'personno',
    'lessonid',
    'no',
  ],
  title: ['name', 'displayname', 'fullname', 'coursename', 'coursetitle', 'lessonname', 'label'],
  externalId: ['ref', 'reference', 'sisid', 'sourcedid', 'code', 'shortname', 'idnumber'],
  status: ['state', 'visibility', 'published', 'workflowstate'],
  email: ['mail', 'emails', 'emailaddress', 'primaryemail', 'login', 'username'],
  role: ['type', 'kind', 'roles', 'usertype'],
  userId: ['learnerid', 'studentid', 'personid', 'personno', 'user', 'student'],
  courseId: ['course', 'coursekey', 'courseno', 'classid'],
  learnerId: ['userid', 'studentid', 'personid', 'personno', 'user', 'student', 'id'],
  completionPercentage: ['percent', 'percentage', 'progress', 'ratio', 'completion', 'percentcomplete'],
  lastAccessed: ['lastaccess', 'lastseen', 'lastactivity', 'lastactivityat', 'timestamp', 'ts', 'updated'],
}

const optional: ReadonlySet<string> = new Set(['externalId', 'status', 'role'])

/** True if no line of a platform file is needed for it. */
export function isDescribed({ field, fits }: Finding): boolean {
  return fits === 'yes' || (fits === 'missing' && optional.has(field))
}

/** Finds a field in records: where the file says, by the letters of its name, or under another name. */
export function findField(
  rows: readonly unknown[],
  kind: string,
  field: string,
  described: Place | undefined,
): Pick<Finding, 'found' | 'value' | 'fits'> {
  const kindAt = (place: string) => kindOf(rows.map((row) => memberAt(row, stepsOf(place))))
  if (described !== undefined) {
    const found = typeof described === 'string' ? described : described.at
    const value = kindAt(found)
    return { found, value, fits: value === null ? 'missing' : 'yes' }
  }
  const own = [
    letters(field),
    ...(field === 'id' ? [letters(`${kind}Id`)] : field === 'learnerId' ? ['id'] : []),
  ]
  const find = (names: readonly string[], depth: number) =>
    names.flatMap((name) => rows.map((row) => placeNamed(row, name, depth))).find((place) => place !== null)
  const usual = find(own, 0)
  const found = usual ?? find([...own, ...(otherNames[field] ?? [])], 1)
  if (found === undefined) return { found: null, value: null, fits: 'missing' }
  const value = kindAt(found)
  const isUsual = usual !== undefined && !(field in otherForms && otherForms[field]?.test(value ?? ''))
  return { found, value, fits: isUsual ? 'yes' : 'guess' }
}

/** Kinds of values that the rules do not read, by field. */
const otherForms: Readonly<Record<string, RegExp>> = {
  lastAccessed: /^Unix/,
  completionPercentage: /^ratio$/,
}

/** Returns the place of a member by the letters of its name; the first item of a list, and the `value` inside of it. */
function placeNamed(row: unknown, name: string, depth: number): string | null {
  if (!isJsonObject(row)) return null
  const key = Object.keys(row).find((each) => letters(each) === name)
  if (key !== undefined) return innermost(`/${stepText(key)}`, row[key])
  if (depth === 0) return null
  for (const [outer, value] of Object.entries(row)) {
    const inner = placeNamed(value, name, depth - 1)
    if (inner) return `/${stepText(outer)}${inner}`
  }
  return null
}

function innermost(place: string, value: unknown): string {
  const [first] = Array.isArray(value) ? value : []
  if (first === undefined) return place
  return isJsonObject(first) && 'value' in first ? `${place}/0/value` : `${place}/0`
}

export function stepText(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function kindOf(values: readonly unknown[]): string | null {
  const set = values.filter((value) => value !== undefined && value !== null)
  const [value] = set
  if (value === undefined) return values.includes(null) ? 'null' : null
  if (set.every((each) => typeof each === 'number')) {
    if (set.every((each) => each > 1e11)) return 'Unix time in milliseconds'
    if (set.every((each) => each > 1e8)) return 'Unix time'
    return set.every((each) => each >= 0 && each <= 1) && set.some((each) => each % 1 > 0)
      ? 'ratio'
      : 'number'
  }
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'string') return typeof value
  return isDay(value.slice(0, 10)) ? (isInstant(value) ? 'time' : 'time without a zone') : 'text'
}

/** How a place describes values of a kind. */
export const formsByKind: Readonly<Record<string, Omit<Exclude<Place, string>, 'at'>>> = {
  'Unix time': { time: 'unix-seconds' },
  'Unix time in milliseconds': { time: 'unix-milliseconds' },
  ratio: { of: 1 },
}
