import type { AnyInput, Page } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import {
  createFilterCheck,
  type FilterCheck,
  isApplied,
  openReferences,
  type ReadFirst,
  type Verdict,
} from '../../client/foreign/asked.ts'
import { platformName } from '../../config/target.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'
import { ignoreFiltersFlag } from './operation-flags.ts'
import { shownThings } from './shown-things.ts'

/** What a platform elsewhere is asked for, and in which words. */
export interface Filtering {
  readonly operation: Operation
  readonly params?: AnyInput['params']
  readonly query: Readonly<Record<string, unknown>>
  /** The query that is sent, if it asks for more than is wanted. */
  readonly sent?: Readonly<Record<string, unknown>>
  /** Reads the first rows in another form, for a platform that has no pages of JSON. */
  readonly readOtherwise?: ReadFirst
  /** The flag that a parameter was given by, such as `--status`. */
  readonly flagOf: (parameter: string) => string
}

/** Rows in batches, and how the rows of a batch are seen and left out. */
export interface BatchForm<Batch> {
  /** The rows of a batch that are judged; none for a batch that is passed on as it is. */
  readonly rows: (batch: Batch) => readonly unknown[]
  /** The same batch with the rows that are admitted, each by its place. */
  readonly keep: (batch: Batch, admitted: readonly boolean[]) => Batch
}

/** Keeps to what was asked for, whatever a platform makes of the filters that it was sent. */
export interface PlatformFilter {
  /**
   * The check of items that came without a word that the filters were obeyed; null where there is nothing to check.
   * Reads the ids of references that items do not show otherwise. Throws a UsageError where the platform shows none.
   */
  check(): Promise<FilterCheck | null>
  /** The same batches, with the rows that were asked for. A row that cannot be judged is left out, unless the platform filters. */
  batches<Batch>(batches: AsyncIterable<Batch>, form: BatchForm<Batch>): AsyncGenerator<Batch>
  /** The same pages, with the items that were asked for. */
  pages<P extends Pick<Page<Operation>, 'data' | 'strict'>>(pages: AsyncIterable<P>): AsyncGenerator<P>
  /** Says which filters the platform ignored. */
  note(): Promise<void>
  /** Throws a CommandError if rows were left out that could not be judged. */
  assertJudged(): void
}

/** Maximum rows that wait for one that shows how their times are written. */
const maxWaitingRows = 2000

/** The filter of one run. */
export function platformFilter(
  context: Context,
  caller: Caller,
  { operation, params, query, sent = query, readOtherwise, flagOf }: Filtering,
): PlatformFilter {
  const { io, output, session } = context
  const host = platformName(session.target())
  const appliedByParameter = new Map<string, Promise<boolean>>()
  const whyByParameter = new Map<string, string>()
  let leftOut = 0
  let opened: Promise<FilterCheck | null> | null = null

  async function open(): Promise<FilterCheck | null> {
    const references = openReferences(operation, query)
    const ids = new Map<string, string>()
    if (references.length > 0) {
      const things = await shownThings(context, caller)
      for (const { to, reference } of references) {
        const id = await things.idBehind(to, reference)
        if (id !== null) ids.set(reference, id)
      }
    }
    return createFilterCheck(operation, query, ids)
  }

  function check(): Promise<FilterCheck | null> {
    opened ??= open()
    return opened
  }

  const readFirst: ReadFirst = async (asked) =>
    (await unlessRefused(() => firstPage(caller, operation, { params, query: asked, signal: io.signal }))) ??
    (await unlessRefused(async () => (await readOtherwise?.(asked)) ?? null))

  /** True if the platform filters by a parameter, though its rows do not show it. */
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

  /** True if a row of these may be judged once a later one shows how its times are written. */
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

  /** The parameters that the platform ignored, as flags. */
  async function ignored(): Promise<string[]> {
    const names = (await opened)?.ignored() ?? []
    // What a wider query brings beside is no fault of the platform.
    return names.filter((name) => sent[name] === query[name]).map(flagOf)
  }

  return {
    check,
    batches,
    pages: (pages) =>
      batches(pages, {
        rows: ({ data, strict }) => (strict ? [] : data),
        keep: (page, admitted) => ({ ...page, data: page.data.filter((_, index) => admitted[index]) }),
      }),
    note: async () => {
      const flags = await ignored()
      if (flags.length > 0) {
        await output.note(`${host} ignored ${flags.join(', ')}; the rows were filtered by this command`)
      }
      if (leftOut > 0) return
      for (const [parameter, why] of whyByParameter) {
        await output.note(`${host} filters by ${flagOf(parameter)}, but sent rows ${why}`)
      }
    },
    assertJudged: () => {
      if (leftOut === 0) return
      const reasons = [...whyByParameter]
      throw new CommandError(
        'not_filtered',
        'failure',
        `Cannot check ${reasons.map(([parameter]) => flagOf(parameter)).join(', ')}: ${counted(leftOut, 'row')} left out`,
        {
          why: [`${host} sent rows ${[...new Set(reasons.map(([, why]) => why))].join(' and ')}`],
          hint: `Use --${ignoreFiltersFlag.name} to get all rows that ${host} sends`,
        },
      )
    },
  }
}

/** The first page of a list. */
export async function firstPage(
  caller: Caller,
  operation: Operation,
  input: AnyInput,
): Promise<readonly unknown[]> {
  for await (const { data } of caller.pages(operation, input)) return data
  return []
}

/** Null where the platform refuses, or sends something else. */
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

/** True if the rows are wanted as the platform sends them; says so. */
export async function filtersIgnored(
  { output }: Pick<Context, 'output'>,
  flags: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (flags[ignoreFiltersFlag.name] !== true) return false
  await output.note(`Rows are not checked against the filters (--${ignoreFiltersFlag.name})`)
  return true
}
