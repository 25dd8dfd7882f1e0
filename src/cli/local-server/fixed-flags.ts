import { existsSync } from 'node:fs'
import type { Given } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

const maxSeed = 2 ** 32 - 1

/** Flags that make runs on new academies reproducible. */
export const fixedFlags: readonly Flag[] = [
  {
    name: 'clock',
    kind: 'time',
    placeholder: 'time',
    summary: 'Time at which the clock of a new academy stands still (default the actual time)',
  },
  {
    name: 'seed-id',
    kind: 'number',
    summary: 'Number from which the ids of a new academy are made, the same in each run (default random ids)',
  },
]

/** The fixed clock and seed; undefined if not set. */
export interface Fixed {
  /** ISO 8601, UTC. */
  readonly fixedTime: string | undefined
  readonly seedId: number | undefined
}

/** Reads the flags. Throws a UsageError unless the seed is a 32-bit number. */
export function fixedOf({ flags }: Given): Fixed {
  const seedId = flags['seed-id'] === undefined ? undefined : Number(flags['seed-id'])
  if (seedId !== undefined && !(Number.isInteger(seedId) && seedId >= 0 && seedId <= maxSeed)) {
    throw new UsageError(`--seed-id must be a whole number from 0 to ${maxSeed}, not ${seedId}`)
  }
  return { fixedTime: flags['clock'] === undefined ? undefined : String(flags['clock']), seedId }
}

/**
 * Throws a CommandError if the clock or the seed is fixed for an existing academy: expired credentials would
 * become valid, and ids would repeat.
 */
export function assertNewAcademy({ fixedTime, seedId }: Fixed, database: string, isFile: boolean): void {
  const flag = seedId !== undefined ? '--seed-id' : fixedTime !== undefined ? '--clock' : null
  if (flag === null) return
  if (!isFile) throw new UsageError(`${flag} is not supported for a PostgreSQL database`)
  if (!existsSync(database)) return
  throw new CommandError(
    'academy_exists',
    'conflict',
    `${flag} requires a new academy: ${database} already exists`,
    {
      why: [
        flag === '--clock'
          ? 'Its expired keys and sessions would be accepted again'
          : 'Ids that it already has would be made again',
      ],
      hint: 'Choose another file with --database, or use `learnctl server exec`',
    },
  )
}
