import type { Result } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import type { ReadFirst } from '../../client/foreign/asked.ts'
import type { Filtering } from '../../client/foreign/filter.ts'
import { platformName } from '../../config/target.ts'
import type { LearnerPage } from '../../contract/analytics.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { ignoresFilters, type PlatformFilter, platformFilter } from '../operation/judge-list.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Learners, LearnersQuery } from './learner-export.ts'

/**
 * Returns the filter of learners for another platform; null for our own academies, without filters, and if
 * rows that cannot be checked are wanted.
 */
export async function learnerFilter(
  context: Context,
  caller: Caller,
  filtering: { readonly operation: Learners; readonly query: LearnersQuery } & Filtering,
  flags: Given['flags'],
  flagOf: (parameter: string) => string,
): Promise<PlatformFilter | null> {
  const { operation, query } = filtering
  const filtered = Object.keys(operation.filters).some((name) => name in query)
  if (!filtered || caller.isOurs()) return null
  if (await ignoresFilters(context, flags)) return null
  const readOtherwise: ReadFirst = (asked) => firstLines(caller, operation, asked, context.io.signal)
  return platformFilter(context, caller, { ...filtering, readOtherwise }, flagOf)
}

/** Bytes of CSV to compare to find out whether a platform filters. */
const comparedBytes = 64 * 1024

/** Returns the first lines of the platform's CSV. */
async function firstLines(
  caller: Caller,
  operation: Learners,
  query: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string[]> {
  const asked = { query: { ...query, format: 'csv' as const }, signal }
  const { body } = await caller.open(operation, asked, { accept: 'text/csv' })
  let text = ''
  // break closes the connection.
  for await (const piece of body ?? []) {
    text += Buffer.from(piece).toString('latin1')
    if (text.length >= comparedBytes) break
  }
  return text.slice(0, comparedBytes).split('\n')
}

/**
 * Throws a CommandError if the rows show that the platform ignored a filter, because a summary cannot be
 * filtered afterwards. Notes that it may have.
 */
export async function assertFiltered(
  { output, session }: Context,
  { data, strict }: Result<LearnerPage>,
  filter: PlatformFilter,
  flagOf: (parameter: string) => string,
): Promise<void> {
  if (strict) return
  const host = platformName(session.target())
  const check = await filter.rows.check()
  for (const row of data.data) check?.judge(row)
  const ignored = (check?.ignored() ?? []).map(flagOf)
  if (ignored.length > 0) {
    throw new CommandError(
      'filter_ignored',
      'failure',
      `${host} ignored ${ignored.join(', ')} in its summary`,
      {
        hint: 'Use the export, which filters the rows itself: learnctl analytics export',
      },
    )
  }
  await output.note(`Cannot check that ${host} applied the filters to its summary`)
}

/**
 * Requests learners from a platform. If its response says that it takes plain dates, or requires both,
 * requests them again for the days around the period; the caller filters out the rest of those days.
 *
 * @param send sends the query
 */
export async function withPlainDates<Result>(
  { io, output, session }: Pick<Context, 'io' | 'output' | 'session'>,
  query: LearnersQuery,
  send: (query: LearnersQuery) => Promise<Result>,
): Promise<Result> {
  try {
    return await send(query)
  } catch (error) {
    const { plainDays } = await import('../../client/foreign/filter.ts')
    const days = plainDays(error, query, io.now())
    if (days === null) throw error
    await output.note(
      `${platformName(session.target())} requires a start and an end date; retrying with ${days.start_date} to ${days.end_date}`,
    )
    return send({ ...query, ...days })
  }
}
