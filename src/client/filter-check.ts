import { isMeant, parseReference } from '../codec/reference.ts'
import { splitReferences } from '../codec/reference-list.ts'
import { isDay, spanOf } from '../codec/time-text.ts'
import type { Filter } from '../contract/filter.ts'
import type { Operation } from '../contract/operation.ts'
import { memberOf } from './member.ts'
import { nounOf } from './nouns.ts'

/** Judges the items of a list by the query that they were asked for with. */
export interface FilterCheck {
  /** False for an item that a filter rules out; one that lacks what a filter is about is let through. */
  admits(item: unknown): boolean
  /** The parameters that the platform ignored: items came that they rule out. */
  ignored(): readonly string[]
  /** The parameters that some item could not be judged by, and why: it is `without status`, or `with status "live"`. */
  unjudged(): readonly (readonly [parameter: string, why: string])[]
}

/** Whether a filter asks for an item, or why that cannot be told. */
type Judge = (item: unknown) => boolean | string

/** References in a query that no field of an item may hold: only their ids can be compared. */
export interface OpenReference {
  readonly to: 'courseId' | 'userId'
  readonly reference: string
}

/** The references of a query that have to be resolved before items can be judged. */
export function openReferences({ filters = {} }: Operation, query: object): OpenReference[] {
  return filtersIn(filters, query).flatMap(([, filter, text]) => {
    if (filter.by !== 'reference') return []
    return referencesIn(filter, text).flatMap((reference) => {
      const { by } = parseReference(reference)
      return by === 'id' || filter[by] !== undefined ? [] : [{ to: filter.to, reference }]
    })
  })
}

/**
 * The check of a query; null where it filters nothing.
 *
 * @param ids the ids of open references, as far as they are known
 */
export function createFilterCheck(
  operation: Operation,
  query: object,
  ids: ReadonlyMap<string, string> = new Map(),
): FilterCheck | null {
  const noun = nounOf(operation)
  const judges = filtersIn(operation.filters ?? {}, query).map(
    ([parameter, filter, text]) => [parameter, judgeOf(filter, text, { noun, query, ids })] as const,
  )
  if (judges.length === 0) return null
  const ignored = new Set<string>()
  const unjudged = new Map<string, string>()
  return {
    admits(item) {
      let admitted = true
      for (const [parameter, judge] of judges) {
        const verdict = judge(item)
        if (typeof verdict === 'string') unjudged.set(parameter, verdict)
        if (verdict !== false) continue
        ignored.add(parameter)
        admitted = false
      }
      return admitted
    },
    ignored: () => [...ignored],
    unjudged: () => [...unjudged].filter(([parameter]) => !ignored.has(parameter)),
  }
}

function filtersIn(
  filters: Readonly<Record<string, Filter>>,
  query: object,
): (readonly [parameter: string, filter: Filter, text: string])[] {
  return Object.entries(query).flatMap(([parameter, value]) => {
    const filter = filters[parameter]
    return filter === undefined || value === undefined || value === null || value === ''
      ? []
      : [[parameter, filter, String(value)] as const]
  })
}

interface Judging {
  readonly noun: string
  readonly query: object
  readonly ids: ReadonlyMap<string, string>
}

function judgeOf(filter: Filter, text: string, judging: Judging): Judge {
  const { noun, query } = judging
  switch (filter.by) {
    case 'choice': {
      const { field, choices, names = {} } = filter
      const meant = (word: string) => names[word.trim().toLowerCase()] ?? word.trim().toLowerCase()
      const wanted = text.split(',').map(meant)
      const inOurWords = wanted.some((word) => choices.includes(word))
      return onField(field, noun, (value) => {
        const word = meant(String(value))
        if (wanted.includes(word)) return true
        // A platform may have its own word for what was asked for.
        return inOurWords && !choices.includes(word) ? withValue(field, value) : false
      })
    }
    case 'equal': {
      const same = filter.anyCase ? lower : String
      return onField(filter.field, noun, (value) => [value].flat().some((each) => same(each) === same(text)))
    }
    case 'search':
      return (item) => {
        const values = filter.fields.map((field) => memberOf(item, field, noun))
        const found = values.filter((value) => typeof value === 'string')
        if (lower(found.join(' ')).includes(lower(text))) return true
        return values.includes(undefined) ? `without ${filter.fields[0]}` : false
      }
    case 'start':
    case 'end': {
      const bounds = filter.by === 'start' ? spanOf(text, undefined) : spanOf(undefined, text)
      const { [filter.unlessSet as keyof object]: without } = query
      const withoutTime = String(without) === 'true'
      return (item) => {
        const value = memberOf(item, filter.field, noun)
        if (value === undefined) return `without ${filter.field}`
        if (value === null || value === '') return withoutTime
        const span = momentsOf(value)
        if (span === null) return withValue(filter.field, value)
        return (
          span.last >= (bounds.start ?? span.last) && span.first < (bounds.end ?? Number.POSITIVE_INFINITY)
        )
      }
    }
    case 'reference':
      return referenceJudge(filter, text, judging)
  }
}

function referenceJudge(
  filter: Extract<Filter, { by: 'reference' }>,
  text: string,
  { noun, ids }: Judging,
): Judge {
  const judges = referencesIn(filter, text).map((text): Judge => {
    const reference = parseReference(text)
    const { by } = reference
    const field = by === 'id' ? undefined : filter[by]
    if (field !== undefined) return onField(field, noun, (value) => isMeant(reference, value))
    const id = by === 'id' ? text : ids.get(text)
    return id === undefined
      ? () => `without ${filter.field}`
      : onField(filter.field, noun, (value) => String(value) === id)
  })
  return (item) => {
    const verdicts = judges.map((judge) => judge(item))
    if (verdicts.includes(true)) return true
    return verdicts.find((verdict) => typeof verdict === 'string') ?? false
  }
}

function referencesIn(filter: Extract<Filter, { by: 'reference' }>, text: string): string[] {
  return filter.several ? splitReferences(text) : [text]
}

/** A field that is there and empty is no value, which no filter asks for; one that is not there judges nothing. */
function onField(field: string, noun: string, holds: (value: unknown) => boolean | string): Judge {
  return (item) => {
    const value = memberOf(item, field, noun)
    return value === undefined ? `without ${field}` : value !== null && holds(value)
  }
}

function withValue(field: string, value: unknown): string {
  return `with ${field} ${JSON.stringify(String(value).slice(0, 40))}`
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}

/** So far a time without a zone may be from what it says (UTC−12 to UTC+14). */
const zoneMs = 14 * 60 * 60 * 1000
const dayMs = 24 * 60 * 60 * 1000

/**
 * The moments that a time of another platform may mean, in milliseconds: all of a day, either side of a time without
 * a zone; a number counts seconds or milliseconds. Null for what is no time.
 */
function momentsOf(value: unknown): { first: number; last: number } | null {
  if (typeof value === 'number') {
    const ms = value < 1e11 ? value * 1000 : value
    return { first: ms, last: ms }
  }
  if (typeof value !== 'string') return null
  const text = value.trim()
  const zoned = /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$/i.test(text)
  const ms = Date.parse(zoned || isDay(text) ? text : `${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(ms)) return null
  if (isDay(text)) return { first: ms - zoneMs, last: ms + dayMs + zoneMs - 1 }
  return zoned ? { first: ms, last: ms } : { first: ms - zoneMs, last: ms + zoneMs }
}
