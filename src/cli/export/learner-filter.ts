import type { Result } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import { platformName } from '../../config/target.ts'
import type { LearnerPage } from '../../contract/analytics.ts'
import type { Context } from '../command/context.ts'
import { type PlatformFilter, platformFilter } from '../operation/platform-filter.ts'
import { CommandError } from '../terminal/errors.ts'
import type { Learners, LearnersQuery } from './learner-rows.ts'

/** What keeps to the filters, whatever a platform elsewhere makes of them; null for an academy of ours and without filters. */
export function learnerFilter(
  context: Context,
  caller: Caller,
  operation: Learners,
  query: LearnersQuery,
  flagOf: (parameter: string) => string,
): PlatformFilter | null {
  const filtered = Object.keys(operation.filters).some((name) => name in query)
  if (!filtered || context.session.target().kind === 'local') return null
  return platformFilter(context, caller, { operation, query, flagOf })
}

/**
 * A summary cannot be filtered afterwards. Throws a CommandError where the rows beside it show that the platform ignored
 * a filter; notes that nothing shows it did not.
 */
export async function assertFiltered(
  { output, session }: Context,
  { data, strict }: Result<LearnerPage>,
  filter: PlatformFilter,
  flagOf: (parameter: string) => string,
): Promise<void> {
  if (strict) return
  const host = platformName(session.target())
  const check = await filter.check()
  for (const row of data.data) check?.admits(row)
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
