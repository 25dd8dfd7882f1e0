import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { matchesReference, parseReference, splitReferences } from '../../codec/reference.ts'
import { isDay, spanOf } from '../../codec/time-text.ts'
import { findTimeZone } from '../../codec/time-zone.ts'
import type { Filter } from '../../contract/lists.ts'
import { hostOf, PlatformError, type Target } from '../errors.ts'
import type { FoundCall } from './operations.ts'

/** False for a row outside of a filter; `hidden` is the field that it does not show. */
type Judge = (row: JsonObject) => boolean | { readonly hidden: string }

export class FilterCheck {
  readonly #judges: (readonly [parameter: string, judge: Judge])[]
  readonly #outside = new Map<string, number>()
  /** Numbers of rows by the parameter and the field that they do not show. */
  readonly #hidden = new Map<string, number>()
  readonly #found: FoundCall
  #rows = 0

  /** @param timeZone IANA zone of the days in filters (default UTC) */
  constructor(found: FoundCall, timeZone = 'UTC') {
    const { operation, query } = found
    this.#found = found
    const byParameter = Object.entries(operation.filters ?? {})
    this.#judges = byParameter.flatMap(([parameter, filter]) => {
      const text = query.get(parameter)
      return text === null || text === ''
        ? []
        : [[parameter, judgeOf(filter, text, query, timeZone)] as const]
    })
  }

  see(rows: readonly unknown[]): void {
    this.#rows += rows.length
    for (const row of rows.filter(isJsonObject)) {
      for (const [parameter, judge] of this.#judges) {
        const verdict = judge(row)
        if (verdict === false) count(this.#outside, parameter)
        else if (verdict !== true) count(this.#hidden, `${parameter} ${verdict.hidden}`)
      }
    }
  }

  /** Throws PlatformError if rows were outside of a filter, or could not be judged. */
  assert(target: Target): void {
    const { operation, noun } = this.#found
    const of = (rows: number) => `${hostOf(target)} did not filter: ${rows} of ${this.#rows} rows`
    for (const [parameter, rows] of this.#outside) {
      const line = `operations: { ${operation.id}: { parameters: { ${parameter}: … } } }`
      throw new PlatformError(target, `${of(rows)} are outside of ${parameter}`, line, 'not_filtered')
    }
    for (const [hidden, rows] of this.#hidden) {
      const [parameter, field] = hidden.split(' ')
      const message = `${of(rows)} cannot be judged by ${parameter}, as they do not show ${field}`
      throw new PlatformError(target, message, `records: { ${noun}: { ${field}: /… } }`, 'not_filtered')
    }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function judgeOf(filter: Filter, text: string, query: URLSearchParams, timeZone: string): Judge {
  switch (filter.by) {
    case 'choice': {
      const { choices, names = {} } = filter
      const meant = (text: string) => {
        const word = text.trim().toLowerCase()
        return (Object.hasOwn(names, word) ? names[word] : undefined) ?? word
      }
      const wanted = text.split(',').map(meant)
      return onField(filter.field, (value) => {
        const words = [value].flat().map((each) => meant(String(each)))
        if (words.some((word) => wanted.includes(word))) return true
        // A word that is none of ours may mean any of them.
        return words.every((word) => choices.includes(word)) ? false : { hidden: filter.field }
      })
    }
    case 'equal':
      return onField(filter.field, (value) => [value].flat().some((each) => lower(each) === lower(text)))
    case 'search':
      return (row) => {
        const values = filter.fields.map((field) => at(row, field))
        if (values.some((value) => lower(value ?? '').includes(lower(text)))) return true
        return values.includes(undefined) ? { hidden: filter.fields[0] ?? '' } : false
      }
    case 'start':
    case 'end': {
      const { start, end } = filter.by === 'start' ? spanOf(text, undefined) : spanOf(undefined, text)
      const zone = isDay(text) ? findTimeZone(timeZone) : null
      const [from, to] = [start, end].map((ms) => (ms === null || !zone ? ms : zone.instantOf(ms)))
      const withoutTime = query.get(filter.unlessSet ?? '') === 'true'
      return (row) => {
        const value = at(row, filter.field)
        if (value === undefined) return { hidden: filter.field }
        if (value === null) return withoutTime
        const ms = Date.parse(String(value))
        return ms >= (from ?? ms) && ms < (to ?? Number.POSITIVE_INFINITY)
      }
    }
    case 'reference':
      return referenceJudge(filter, text)
  }
}

function referenceJudge(filter: Extract<Filter, { by: 'reference' }>, text: string): Judge {
  const references = (filter.several ? splitReferences(text) : [text]).map(parseReference)
  return (row) => {
    const verdicts = references.map((reference) => {
      const field = reference.by === 'id' ? filter.field : filter[reference.by]
      const value = field === undefined ? undefined : at(row, field)
      return value === undefined ? { hidden: field ?? filter.field } : matchesReference(reference, value)
    })
    if (verdicts.includes(true)) return true
    return verdicts.find((verdict) => typeof verdict === 'object') ?? false
  }
}

function onField(field: string, holds: (value: unknown) => boolean | { readonly hidden: string }): Judge {
  return (row) => {
    const value = at(row, field)
    if (value === undefined) return { hidden: field }
    return value !== null && value !== '' && holds(value)
  }
}

function at(row: JsonObject, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), row)
}

function lower(value: unknown): string {
  return String(value).trim().toLowerCase()
}
