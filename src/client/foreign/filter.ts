import { splitReferences } from '../../codec/reference.ts'
import { isDay } from '../../codec/time-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { AnyInput, Page } from '../call.ts'
import type { Caller } from '../caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../errors.ts'
import { listParameters, publishedApi } from '../published-api.ts'
import {
  createFilterCheck,
  type FilterCheck,
  isApplied,
  openReferences,
  type ReadFirst,
  unbounded,
  type Verdict,
} from './asked.ts'
import { createReferences } from './references.ts'

/** A list that is requested with filters. */
export interface Filtering {
  readonly operation: Operation
  readonly params?: AnyInput['params']
  readonly query: Readonly<Record<string, unknown>>
  /** The query as sent, if it requests more rows than wanted. */
  readonly sent?: Readonly<Record<string, unknown>>
  /** Reads the first rows in another form, for a platform that has no pages of JSON. */
  readonly readOtherwise?: ReadFirst
}

/** Access to the rows of a batch. */
export interface BatchForm<Batch> {
  /** Returns the rows to check; none for a batch to pass on unchanged. */
  readonly rows: (batch: Batch) => readonly unknown[]
  /** Returns the batch with only the admitted rows, marked by index. */
  readonly keep: (batch: Batch, admitted: readonly boolean[]) => Batch
}

/** How a platform treated the filters that it was sent. */
export interface FilterFacts {
  /** Parameters that it ignored: it sent rows that do not match them. */
  readonly ignored: readonly string[]
  /** Parameters that rows could not be checked by, with the reason: `without status`. */
  readonly unchecked: ReadonlyMap<string, string>
  /** Number of rows left out because they could not be checked; 0 if the platform applies the filters. */
  readonly leftOut: number
}

/** Removes rows that do not match the query, in case a platform ignores filters. */
export interface RowFilter {
  /** Creates the check of items; null if the query has no filters. Resolves references that items do not show. */
  check(): Promise<FilterCheck | null>
  /** Yields the batches with matching rows only. Keeps a row that cannot be checked only if the platform filters. */
  batches<Batch>(batches: AsyncIterable<Batch>, form: BatchForm<Batch>): AsyncGenerator<Batch>
  /** Yields the pages with matching items only. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /** Returns the facts, complete after the last row. */
  facts(): FilterFacts
}

/** Maximum rows to hold back until another row shows the date format. */
const maxWaitingRows = 2000

/** Creates the filter of one list. */
export function createRowFilter(
  caller: Caller,
  { operation, params, query, sent = query, readOtherwise }: Filtering,
  signal: AbortSignal,
): RowFilter {
  const { host } = new URL(caller.request(operation, { params, query: {} }).url)
  const resolved = createReferences(host, (read, input) => caller.call(read, input))
  const appliedByParameter = new Map<string, Promise<boolean>>()
  const whyByParameter = new Map<string, string>()
  let leftOut = 0
  let opened: Promise<FilterCheck | null> | null = null
  let ignored: FilterCheck['ignored'] = () => []

  async function open(): Promise<FilterCheck | null> {
    const references = openReferences(operation, query)
    const ids = new Map<string, string>()
    for (const { to, reference } of references) {
      const id = await resolved.idOf(to, reference, signal)
      if (id !== null) ids.set(reference, id)
    }
    const check = createFilterCheck(operation, query, ids)
    if (check) ignored = check.ignored
    return check
  }

  function check(): Promise<FilterCheck | null> {
    opened ??= open()
    return opened
  }

  const readFirst: ReadFirst = async (asked) =>
    (await unlessRefused(() => firstPage(caller, operation, { params, query: asked, signal }))) ??
    (await unlessRefused(async () => (await readOtherwise?.(asked)) ?? null))

  /** True if the platform filters by a parameter that its rows do not show. */
  async function filtersBy(parameter: string, check: FilterCheck): Promise<boolean> {
    if (check.ignored().includes(parameter)) return false
    const known = appliedByParameter.get(parameter)
    const applied = known ?? isApplied(operation, sent, parameter, readFirst)
    appliedByParameter.set(parameter, applied)
    return applied
  }

  async function isAdmitted(verdict: Verdict, check: FilterCheck): Promise<boolean> {
    if (typeof verdict === 'boolean') return verdict
    let doubtful = false
    for (const { parameter, why } of verdict) {
      if (!whyByParameter.has(parameter)) whyByParameter.set(parameter, why)
      if (!(await filtersBy(parameter, check))) doubtful = true
    }
    if (doubtful) leftOut += 1
    return !doubtful
  }

  /** True if rows cannot be checked yet, but a later row may show the date format. */
  async function isWaiting(rows: readonly unknown[], check: FilterCheck): Promise<boolean> {
    if (!check.isOpen()) return false
    for (const verdict of rows.map(check.judge)) {
      const open = typeof verdict === 'object' ? verdict.filter((each) => each.open) : []
      for (const { parameter } of open) if (!(await filtersBy(parameter, check))) return true
    }
    return false
  }

  async function* batches<Batch>(
    source: AsyncIterable<Batch>,
    { rows, keep }: BatchForm<Batch>,
  ): AsyncGenerator<Batch> {
    let waiting: Batch[] = []
    let waitingRows = 0
    for await (const batch of source) {
      const judged = rows(batch)
      const checked = judged.length === 0 ? null : await check()
      for (const row of judged) checked?.learn(row)
      waiting.push(batch)
      waitingRows += judged.length
      if (checked && waitingRows < maxWaitingRows && (await isWaiting(waiting.flatMap(rows), checked)))
        continue
      for (const each of waiting) yield await kept(each)
      waiting = []
      waitingRows = 0
    }
    for (const each of waiting) yield await kept(each)

    async function kept(batch: Batch): Promise<Batch> {
      const judged = rows(batch)
      const checked = judged.length === 0 ? null : await check()
      if (!checked) return batch
      const admitted: boolean[] = []
      for (const verdict of judged.map(checked.judge)) {
        admitted.push(typeof verdict === 'boolean' ? verdict : await isAdmitted(verdict, checked))
      }
      return keep(batch, admitted)
    }
  }

  return {
    check,
    batches,
    pages: (pages) =>
      batches(pages, {
        rows: ({ data, strict }) => (strict ? [] : data),
        keep: (page, admitted) => ({ ...page, data: page.data.filter((_, index) => admitted[index]) }),
      }),
    facts: () => ({
      // Rows that only match the wider query sent are not the platform's fault.
      ignored: ignored().filter((name) => sent[name] === query[name]),
      unchecked: whyByParameter,
      leftOut,
    }),
  }
}

/** Reads the first page of a list. */
export async function firstPage(
  caller: Caller,
  operation: Operation,
  input: AnyInput,
): Promise<readonly unknown[]> {
  for await (const { data } of caller.pages(operation, input)) return data
  return []
}

/** Returns the response; null if the platform refuses the request or sends something else. */
export async function unlessRefused<Answer>(read: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await read()
  } catch (error) {
    const refused =
      error instanceof ApiError || error instanceof NotOfferedError || error instanceof ProtocolError
    if (refused) return null
    throw error
  }
}

/** A list parameter that a platform may not take several references by. */
export interface UndeclaredList {
  readonly parameter: string
  /** True if the platform publishes an OpenAPI document, which does not declare the parameter as a list. */
  readonly isDocumented: boolean
}

/**
 * Returns a parameter of a query with several references that the platform's OpenAPI document does not declare as a list;
 * null for none. The platform could send the rows of another course, of none or of all.
 */
export async function undeclaredList(
  caller: Caller,
  { operation, query }: Pick<Filtering, 'operation' | 'query'>,
  signal: AbortSignal,
): Promise<UndeclaredList | null> {
  const several = Object.entries(operation.filters ?? {}).flatMap(([name, filter]) => {
    const isList = filter.by === 'reference' && filter.several
    return isList && splitReferences(String(query[name] ?? '')).length > 1 ? [name] : []
  })
  if (several.length === 0) return null
  const document = await publishedApi(caller, signal)
  const declared = listParameters(document, operation)
  const parameter = several.find((name) => !declared.includes(name))
  return parameter === undefined ? null : { parameter, isDocumented: document !== null }
}

const dayMs = 24 * 60 * 60 * 1000

/** A period in plain days. */
export interface Days {
  readonly start_date: string
  readonly end_date: string
}

/**
 * Returns the days around the period of a query that a platform refused because it takes plain dates, or requires both; null
 * if it refused the query for another reason. Without an end, they last until tomorrow in any time zone.
 */
export function plainDays(
  error: unknown,
  { start_date: start, end_date: end }: { readonly [Name in keyof Days]?: string | undefined },
  nowMs: number,
): Days | null {
  if (!(error instanceof ApiError) || error.coded || ![400, 422].includes(error.status)) return null
  if (!aboutDates.test(`${error.message} ${JSON.stringify(error.problem)}`)) return null
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const days = {
    start_date: start === undefined ? unbounded.start : dayOf(Date.parse(start)),
    // Some platforms exclude the last day.
    end_date:
      end !== undefined && isDay(end) ? end : dayOf((end === undefined ? nowMs : Date.parse(end)) + dayMs),
  }
  return days.start_date === start && days.end_date === end ? null : days
}

const aboutDates = /(?:\b|_)(?:start|end|from|to)?[_ ]?dates?(?:\b|_)|(?:start|end)Date/i
