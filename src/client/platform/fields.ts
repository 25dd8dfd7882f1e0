import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { isDay, isInstant } from '../../codec/time-text.ts'
import { findTimeZone, utc } from '../../codec/time-zone.ts'
import { hostOf, PlatformError, RequestError, type Target } from '../errors.ts'
import type { FoundCall } from './operations.ts'
import type { Place, PlatformFile } from './platform-schema.ts'

export interface Fields {
  /** Members that are no field of ours stay as they are. */
  read(target: Target, theirs: JsonObject): JsonObject
  /** Undefined for a member that is none of ours. */
  nameOf(theirs: string): string | undefined
  /** Throws RequestError for a value without a word of theirs. */
  write(ours: JsonObject): JsonObject
}

/** Returns a name without case, `_` and `-`: fields with the same letters are the same. */
export function letters(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase()
}

export function createFields({ operation, noun }: FoundCall, file: PlatformFile | null): Fields {
  const described = Object.entries(file?.records?.[noun] ?? {}).map(([field, place]) => ({
    field,
    steps: stepsOf(typeof place === 'string' ? place : place.at),
    place: typeof place === 'string' ? { at: place } : place,
  }))
  const own = operation.holds.answer.filter((path) => !path.startsWith(`${noun}.`))
  const paths = own.length === operation.holds.answer.length ? own : [...own, ...pathsInside(operation, noun)]
  const idNames = new Set(['id', letters(`${noun}Id`)])
  const idField = paths.includes('id') ? 'id' : paths.includes(`${noun}Id`) ? `${noun}Id` : null
  const byLetters = new Map(paths.map((path) => [letters(path), path] as const).reverse())

  /** Undefined for a member that is none of ours. */
  function ownName(parent: string, name: string): string | undefined {
    return byLetters.get(letters(parent + name))?.slice(parent.length)
  }

  function readObject(target: Target, theirs: JsonObject, parent: string): JsonObject {
    const ours: JsonObject = {}
    for (const [name, value] of Object.entries(theirs)) {
      const known = ownName(parent, name)
      if (known === undefined) ours[name] ??= value
      else if (known === name || !Object.hasOwn(theirs, known)) {
        const path = parent + known
        ours[known] = isJsonObject(value)
          ? readObject(target, value, `${path}.`)
          : readValue(target, path, { at: `/${name}` }, value)
      }
    }
    return ours
  }

  function readValue(target: Target, field: string, place: Exclude<Place, string>, value: unknown): unknown {
    if (value === undefined || value === null) return value
    const { at, values, of, time, zone } = place
    if (values) {
      const word = String(value)
      if (Object.hasOwn(values, word)) return values[word]
      throw differs(target, field, `one of ${Object.keys(values).join(', ')}`, value, {
        place: `{ at: ${at}, values: { ${String(value)}: … } }`,
      })
    }
    if (isTime(field)) {
      const found = timeOf(value, time ?? 'iso', zone ?? file?.timeZone)
      if (found !== undefined) return found
      throw differs(target, field, time ?? 'an ISO 8601 time', value, {
        place: `{ at: ${at}, time: unix-seconds }`,
      })
    }
    if (/percent/i.test(field)) {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      const percent = typeof number === 'number' ? scaled(number, 100 / (of ?? 100)) : Number.NaN
      // Grades may be above 100.
      const maximum = field === 'completionPercentage' ? 100 : Number.MAX_VALUE
      if (percent >= 0 && percent <= maximum) return percent
      const expected = `a number from 0 to ${of ?? 100}`
      throw differs(target, field, expected, value, { place: `{ at: ${at}, of: … }` })
    }
    return /(^|\.|\w)id$/i.test(field) && isIdentifier(value) ? String(value) : value
  }

  function differs(
    target: Target,
    field: string,
    expected: string,
    found: unknown,
    { place }: { readonly place: string },
  ): PlatformError {
    const line = `records: { ${noun}: { ${field}: ${place} } }`
    const what = `${noun} ${field} ${JSON.stringify(found)}`
    return new PlatformError(target, `${hostOf(target)} sent ${what}, expected ${expected}`, line)
  }

  return {
    read(target, theirs) {
      const taken = new Set(described.flatMap(({ steps }) => (steps.length === 1 ? steps : [])))
      const rest = Object.fromEntries(Object.entries(theirs).filter(([name]) => !taken.has(name)))
      const ours = readObject(target, rest, '')
      for (const { field, steps, place } of described) {
        const value = readValue(target, field, place, memberAt(theirs, steps))
        if (value !== undefined) setAt(ours, field.split('.'), value)
      }
      if (idField !== null && ours[idField] === undefined) {
        const [id] = Object.entries(theirs).filter(([name]) => idNames.has(letters(name)))
        if (id && isIdentifier(id[1])) {
          delete ours[id[0]]
          ours[idField] = String(id[1])
        }
      }
      return ours
    },
    nameOf(name) {
      const placed = described.find(({ steps }) => steps.length === 1 && steps[0] === name)
      return placed?.field ?? ownName('', name)
    },
    write(ours) {
      const theirs: JsonObject = structuredClone(ours)
      const placed: (readonly [steps: readonly string[], value: unknown])[] = []
      for (const { field, steps, place } of described) {
        const value = takeAt(theirs, field.split('.'))
        if (value !== undefined) placed.push([steps, writtenValue(field, place, value)])
      }
      for (const [steps, value] of placed) setAt(theirs, steps, value)
      return theirs
    },
  }

  function writtenValue(
    field: string,
    { values, of, time }: Exclude<Place, string>,
    value: unknown,
  ): unknown {
    if (value === null) return null
    if (values) {
      const [word] = Object.entries(values).find(([, ours]) => ours === value) ?? []
      if (word !== undefined) return word
      const message = `The platform file has no word for ${noun} ${field} ${JSON.stringify(value)}`
      throw new RequestError('invalid_body', message, {
        why: [`Its words are for ${Object.values(values).join(', ')}`, 'Nothing was sent'],
      })
    }
    if (of !== undefined && typeof value === 'number') return scaled(value, of / 100)
    if (time === undefined || time === 'iso') return value
    const ms = Date.parse(String(value))
    return time === 'unix-seconds' ? Math.floor(ms / 1000) : ms
  }
}

/** Returns the paths inside the record that an answer holds under its noun, such as `course` after an update. */
function pathsInside({ holds: { answer } }: FoundCall['operation'], noun: string): string[] {
  return answer.flatMap((path) => (path.startsWith(`${noun}.`) ? [path.slice(noun.length + 1)] : []))
}

export function isTime(field: string): boolean {
  return /(At|Until|lastAccessed)$/.test(field)
}

export function isIdentifier(value: unknown): value is string | number | bigint {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint'
}

function scaled(value: number, factor: number): number {
  // Without the last digits of a double: 0.07 × 100 is 7.
  return Number((value * factor).toPrecision(12))
}

const isoTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:\.\d+)?))?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** Null for an empty text; undefined for anything that is no such time. */
function timeOf(value: unknown, unit: string, zoneName = 'UTC'): string | null | undefined {
  if (value === '') return null
  if (unit !== 'iso') {
    const number = Number(value)
    const ms = unit === 'unix-seconds' ? number * 1000 : number
    return Number.isFinite(ms) && Math.abs(ms) < 8e15 ? new Date(ms).toISOString() : undefined
  }
  if (typeof value === 'string' && value.endsWith('Z') && isInstant(value)) return value
  const [, day, clock = '00:00', seconds = '00', zone] = isoTime.exec(String(value).trim()) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const local = Date.parse(`${day}T${clock}:${seconds}Z`)
  if (Number.isNaN(local)) return undefined
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? []
  const offsetMs = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const ms = zone === undefined ? (findTimeZone(zoneName) ?? utc).instantOf(local) : local - offsetMs
  return new Date(ms).toISOString()
}

export function stepsOf(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function memberAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (at, step) => (typeof at === 'object' && at !== null ? (at as JsonObject)[step] : undefined),
    value,
  )
}

export function memberOf(value: unknown, name: string): unknown {
  if (!isJsonObject(value)) return undefined
  if (Object.hasOwn(value, name)) return value[name]
  return Object.entries(value).find(([key]) => letters(key) === letters(name))?.[1]
}

function setAt(object: JsonObject, [head = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[head] = value
  else {
    const present = object[head]
    const empty = /^\d+$/.test(rest[0] ?? '') ? [] : {}
    const inner = (typeof present === 'object' && present !== null ? present : empty) as JsonObject
    object[head] = inner
    setAt(inner, rest, value)
  }
}

/** Removes objects that are empty after that, too. */
function takeAt(object: JsonObject, [head = '', ...rest]: readonly string[]): unknown {
  const value = object[head]
  if (rest.length > 0 && !isJsonObject(value)) return undefined
  const taken = isJsonObject(value) && rest.length > 0 ? takeAt(value, rest) : value
  if (rest.length === 0 || (isJsonObject(value) && Object.keys(value).length === 0)) delete object[head]
  return taken
}
