import { isDeepStrictEqual } from 'node:util'
import { matchesReference, parseReference, splitReferences } from '../../codec/reference.ts'
import { spanOf } from '../../codec/time-text.ts'
import type { Filter } from '../../contract/lists.ts'
import type { Operation } from '../../contract/operation.ts'
import { nounOf } from './names.ts'
import { idOf, memberOf } from './record.ts'
import { createTimeColumn, type Instants, type TimeColumn } from './times.ts'

/** A filter that could not be checked on an item. */
interface Unjudged {
  readonly parameter: string
  /** `without status`, or `with status "live"`. */
  readonly why: string
  /** True if a later item may show how to read this one, such as the order of day and month. */
  readonly open: boolean
}

/** True if an item matches all filters, false if it fails one; else the filters that could not be checked. */
export type Verdict = boolean | readonly Unjudged[]

/** Checks the items of a list against the filters of its query. */
export interface FilterCheck {
  /** Learns the date format from an item before others are checked. */
  learn(item: unknown): void
  judge(item: unknown): Verdict
  /** Returns the parameters that the platform ignored: items came that do not match them. */
  ignored(): readonly string[]
  /** True while items have ambiguous times that a later item may settle. */
  isOpen(): boolean
}

/** Returns whether an item matches a filter, or why that cannot be decided. */
type Judge = (item: unknown) => boolean | Doubt

type Doubt = Omit<Unjudged, 'parameter'>

/** A reference in a query that items show only by its id. */
export interface OpenReference {
  readonly to: 'courseId' | 'userId' | 'termId' | 'groupId'
  readonly reference: string
}

/** Returns the references of a query that must be resolved before items can be checked. */
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
 * Creates the check of a query; null if the query has no filters.
 *
 * @param ids known ids of open references
 */
export function createFilterCheck(
  operation: Operation,
  query: object,
  ids: ReadonlyMap<string, string> = new Map(),
): FilterCheck | null {
  const noun = nounOf(operation)
  const columns = new Map<string, TimeColumn>()
  const columnOf = (field: string) => {
    const column = columns.get(field) ?? createTimeColumn()
    columns.set(field, column)
    return column
  }
  const filters = filtersIn(operation.filters ?? {}, query)
  const bounds = filters.flatMap(([, filter, text]) =>
    filter.by === 'start' || filter.by === 'end'
      ? [[filter.field, filter.by, boundOf(filter, text)] as const]
      : [],
  )
  const judges = filters.map(
    ([parameter, filter, text]) =>
      [parameter, judgeOf(filter, text, { noun, query, ids, bounds, columnOf })] as const,
  )
  if (judges.length === 0) return null
  const ignored = new Set<string>()
  return {
    learn(item) {
      for (const [field, column] of columns) column.learn(memberOf(item, field, noun))
    },
    judge(item) {
      let admitted = true
      const unjudged: Unjudged[] = []
      for (const [parameter, judge] of judges) {
        const verdict = judge(item)
        if (typeof verdict === 'object') unjudged.push({ parameter, ...verdict })
        if (verdict !== false) continue
        ignored.add(parameter)
        admitted = false
      }
      return admitted && unjudged.length > 0 ? unjudged : admitted
    },
    ignored: () => [...ignored],
    isOpen: () => [...columns.values()].some((column) => column.isOpen()),
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
  /** Bounds of periods: the field, which end it is, and a test of a time. */
  readonly bounds: readonly (readonly [field: string, by: 'start' | 'end', isIn: IsIn])[]
  /** Returns the times of all items in a field. */
  readonly columnOf: (field: string) => TimeColumn
}

type IsIn = (instants: Instants) => boolean

function boundOf({ by }: Pick<Filter, 'by'>, text: string): IsIn {
  const { start, end } = by === 'start' ? spanOf(text, undefined) : spanOf(undefined, text)
  return ({ first, last }) => last >= (start ?? last) && first < (end ?? Number.POSITIVE_INFINITY)
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
        const words = [value].flat().map((each) => meant(String(each)))
        if (words.some((word) => wanted.includes(word))) return true
        // A platform may have its own word for the choice.
        return inOurWords && words.some((word) => !choices.includes(word))
          ? unclearValue(field, value)
          : false
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
        return values.includes(undefined) ? missingField(filter.fields[0] ?? '') : false
      }
    case 'start':
    case 'end': {
      const { [filter.unlessSet as keyof object]: unless } = query
      const withoutTime = String(unless) === 'true'
      const column = judging.columnOf(filter.field)
      const isIn = boundOf(filter, text)
      const others = judging.bounds.filter(([field, by]) => field === filter.field && by !== filter.by)
      const isInOthers = (instants: Instants) => others.every(([, , isIn]) => isIn(instants))
      return (item) => {
        const value = memberOf(item, filter.field, noun)
        if (value === undefined) return missingField(filter.field)
        if (value === null || value === '') return withoutTime
        const readings = column.read(value)
        // Ignore a reading that the other bound of the period excludes.
        const possible = readings.filter(isInOthers)
        const verdicts = new Set((possible.length > 0 ? possible : readings).map(isIn))
        const [verdict] = verdicts
        if (verdict === undefined) return unclearValue(filter.field, value)
        return verdicts.size === 1 ? verdict : { ...unclearValue(filter.field, value), open: true }
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
    if (field !== undefined) return onField(field, noun, (value) => matchesReference(reference, value))
    const id = by === 'id' ? text : ids.get(text)
    return id === undefined
      ? () => missingField(filter.field)
      : onField(filter.field, noun, (value) => String(value) === id)
  })
  return (item) => {
    const verdicts = judges.map((judge) => judge(item))
    if (verdicts.includes(true)) return true
    return verdicts.find((verdict) => typeof verdict === 'object') ?? false
  }
}

function referencesIn(filter: Extract<Filter, { by: 'reference' }>, text: string): string[] {
  return filter.several ? splitReferences(text) : [text]
}

/** Checks a field of an item: an empty field never matches, a missing one cannot be checked. */
function onField(field: string, noun: string, holds: (value: unknown) => boolean | Doubt): Judge {
  return (item) => {
    const value = memberOf(item, field, noun)
    if (value === undefined) return missingField(field)
    return value !== null && value !== '' && holds(value)
  }
}

function missingField(field: string): Doubt {
  return { why: `without ${field}`, open: false }
}

function unclearValue(field: string, value: unknown): Doubt {
  return { why: `with ${field} ${JSON.stringify(String(value).slice(0, 40))}`, open: false }
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}

/** Reads the first page of a list with this query; null if the platform refuses it. */
export type ReadFirst = (query: Readonly<Record<string, unknown>>) => Promise<readonly unknown[] | null>

/** Periods without bounds, for platforms that require both dates. */
export const unbounded = { start: '1970-01-01', end: '2999-12-31' } as const

/**
 * True if the platform applies a parameter: its first page differs without it. The page is read twice with the parameter,
 * since items may have been added in between.
 */
export async function isApplied(
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
  parameter: string,
  readFirst: ReadFirst,
): Promise<boolean> {
  const noun = nounOf(operation)
  // Analytics rows have the id of the learner or of the course, none of their own.
  const nameOf = (item: unknown) => (noun === 'row' ? null : idOf(item, noun, operation.identifier)) ?? item
  const first = async (asked: Readonly<Record<string, unknown>>) =>
    (await readFirst(asked))?.map(nameOf) ?? null
  const asked = await first(query)
  if (asked === null) return false
  const { [parameter]: _, ...others } = query
  const by = operation.filters?.[parameter]?.by
  const widest = by === 'start' || by === 'end' ? unbounded[by] : undefined
  const control =
    (await first(others)) ?? (widest === undefined ? null : await first({ ...others, [parameter]: widest }))
  if (control === null || isDeepStrictEqual(asked, control)) return false
  return isDeepStrictEqual(asked, await first(query))
}
