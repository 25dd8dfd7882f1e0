import type { Caller } from '../../client/caller.ts'
import { createRowFilter, type Filtering, type RowFilter } from '../../client/foreign/filter.ts'
import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'
import { ignoreFiltersFlag } from './operation-flags.ts'
import { referenceResolver } from './shown-things.ts'

/** A filter of rows that reports which filters the platform ignored. */
export interface PlatformFilter extends RowFilter {
  /** Notes which filters the platform ignored. */
  note(): Promise<void>
  /** Throws a CommandError if rows were left out that could not be judged. */
  assertJudged(): void
}

/**
 * Creates the filter of one run.
 *
 * @param flagOf returns the flag that a parameter was given by, such as `--status`
 */
export function platformFilter(
  context: Context,
  caller: Caller,
  filtering: Filtering,
  flagOf: (parameter: string) => string,
): PlatformFilter {
  const { io, output, session } = context
  const host = platformName(session.target())
  const filter = createRowFilter(caller, filtering, {
    signal: io.signal,
    resolve: referenceResolver(context, caller),
  })
  return {
    ...filter,
    note: async () => {
      const { ignored, unchecked, leftOut } = filter.facts()
      if (ignored.length > 0) {
        const flags = ignored.map(flagOf).join(', ')
        await output.note(`${host} ignored ${flags}; the rows were filtered by this command`)
      }
      for (const [parameter, why] of leftOut > 0 ? [] : unchecked) {
        await output.note(`${host} filters by ${flagOf(parameter)}, but sent rows ${why}`)
      }
    },
    assertJudged: () => {
      const { unchecked, leftOut } = filter.facts()
      if (leftOut === 0) return
      const flags = [...unchecked.keys()].map(flagOf).join(', ')
      const message = `Cannot check ${flags}: ${counted(leftOut, 'row')} left out`
      throw new CommandError('not_filtered', 'failure', message, {
        why: [`${host} sent rows ${[...new Set(unchecked.values())].join(' and ')}`],
        hint: `Use --${ignoreFiltersFlag.name} to get all rows that ${host} sends`,
      })
    },
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
