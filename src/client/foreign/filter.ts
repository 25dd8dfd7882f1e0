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
interface FilterFacts {
  /** Parameters that it ignored: it sent rows that do not match them. */
  readonly ignored: readonly string[]
  /** Parameters that rows could not be checked by, with the reason: `without status`. */
  readonly unchecked: ReadonlyMap<string, string>
  /** Number of rows left out because they could not be checked; 0 if the platform applies the filters. */
  readonly leftOut: number
}

/** Maximum rows to hold back until another row shows the date format. */
const maxWaitingRows = 2000

/** Removes rows that do not match the query of a list, in case the platform ignores filters. */
export class RowFilter {
  readonly #caller: Caller
  readonly #filtering: Filtering
  readonly #sent: NonNullable<Filtering['sent']>
  readonly #signal: AbortSignal
  readonly #isAppliedByParameter = new Map<string, Promise<boolean>>()
  readonly #whyByParameter = new Map<string, string>()
  #leftOut = 0
  #check: Promise<FilterCheck | null> | null = null
  #ignored: FilterCheck['ignored'] = () => []

  constructor(caller: Caller, filtering: Filtering, signal: AbortSignal) {
    this.#caller = caller
    this.#filtering = filtering
    this.#sent = filtering.sent ?? filtering.query
    this.#signal = signal
  }

  /** Creates the check of items; null if the query has no filters. Resolves references that items do not show. */
  check(): Promise<FilterCheck | null> {
    this.#check ??= this.#openCheck()
    return this.#check
  }

  /** Yields the batches with matching rows only. Keeps a row that cannot be checked only if the platform filters. */
  async *batches<Batch>(source: AsyncIterable<Batch>, form: BatchForm<Batch>): AsyncGenerator<Batch> {
    let waiting: Batch[] = []
    let waitingRows = 0
    for await (const batch of source) {
      const rows = form.rows(batch)
      const check = rows.length === 0 ? null : await this.check()
      for (const row of rows) check?.learn(row)
      waiting.push(batch)
      waitingRows += rows.length
      const isHeld =
        check && waitingRows < maxWaitingRows && (await this.#isWaiting(waiting.flatMap(form.rows), check))
      if (isHeld) continue
      for (const each of waiting) yield await this.#keepAdmitted(each, form)
      waiting = []
      waitingRows = 0
    }
    for (const each of waiting) yield await this.#keepAdmitted(each, form)
  }

  /** Yields the pages with matching items only. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P> {
    return this.batches(pages, {
      rows: ({ data, strict }) => (strict ? [] : data),
      keep: (page, admitted) => ({ ...page, data: page.data.filter((_, index) => admitted[index]) }),
    })
  }

  /** Returns the facts, complete after the last row. */
  facts(): FilterFacts {
    const { query } = this.#filtering
    return {
      // Rows that only match the wider query sent are not the platform's fault.
      ignored: this.#ignored().filter((name) => this.#sent[name] === query[name]),
      unchecked: this.#whyByParameter,
      leftOut: this.#leftOut,
    }
  }

  async #openCheck(): Promise<FilterCheck | null> {
    const { operation, params, query } = this.#filtering
    const caller = this.#caller
    const { host } = new URL(caller.request(operation, { params, query: {} }).url)
    const references = createReferences(host, (read, input) => caller.call(read, input))
    const ids = new Map<string, string>()
    for (const { to, reference } of openReferences(operation, query)) {
      const id = await references.idOf(to, reference, this.#signal)
      if (id !== null) ids.set(reference, id)
    }
    const check = createFilterCheck(operation, query, ids)
    if (check) this.#ignored = check.ignored
    return check
  }

  async #keepAdmitted<Batch>(batch: Batch, { rows, keep }: BatchForm<Batch>): Promise<Batch> {
    const items = rows(batch)
    const check = items.length === 0 ? null : await this.check()
    if (!check) return batch
    const admitted: boolean[] = []
    for (const verdict of items.map(check.judge)) {
      admitted.push(typeof verdict === 'boolean' ? verdict : await this.#isAdmitted(verdict, check))
    }
    return keep(batch, admitted)
  }

  async #isAdmitted(verdict: Exclude<Verdict, boolean>, check: FilterCheck): Promise<boolean> {
    let isDoubtful = false
    for (const { parameter, why } of verdict) {
      if (!this.#whyByParameter.has(parameter)) this.#whyByParameter.set(parameter, why)
      if (!(await this.#isApplied(parameter, check))) isDoubtful = true
    }
    if (isDoubtful) this.#leftOut += 1
    return !isDoubtful
  }

  /** True if rows cannot be checked yet, but a later row may show the date format. */
  async #isWaiting(rows: readonly unknown[], check: FilterCheck): Promise<boolean> {
    if (!check.isOpen()) return false
    for (const verdict of rows.map(check.judge)) {
      const open = typeof verdict === 'object' ? verdict.filter((each) => each.open) : []
      for (const { parameter } of open) if (!(await this.#isApplied(parameter, check))) return true
    }
    return false
  }

  /** True if the platform filters by a parameter that its rows do not show. */
  #isApplied(parameter: string, check: FilterCheck): Promise<boolean> {
    if (check.ignored().includes(parameter)) return Promise.resolve(false)
    const { operation } = this.#filtering
    const known = this.#isAppliedByParameter.get(parameter)
    const applied = known ?? isApplied(operation, this.#sent, parameter, this.#readFirst)
    this.#isAppliedByParameter.set(parameter, applied)
    return applied
  }

  readonly #readFirst: ReadFirst = async (query) => {
    const { operation, params, readOtherwise } = this.#filtering
    const input = { params, query, signal: this.#signal }
    return (
      (await unlessRefused(() => firstPage(this.#caller, operation, input))) ??
      (await unlessRefused(async () => (await readOtherwise?.(query)) ?? null))
    )
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
interface UndeclaredList {
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
