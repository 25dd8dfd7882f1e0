import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'
import type { CoarseTime, Pseudonymising } from './pseudonyms.ts'

const coarseTimes = ['day', 'week', 'month'] as const satisfies readonly CoarseTime[]
const defaultK = 5

export const pseudonymFlag = {
  name: 'pseudonymise',
  kind: 'switch',
  summary:
    'Replace ids of people by pseudonyms, and leave out names, addresses and free text (requires --pseudonym-key)',
} as const satisfies Flag

const keyFlag = {
  name: 'pseudonym-key',
  kind: 'text',
  placeholder: 'path',
  file: 'read',
  summary: 'Key of the pseudonyms: the same key gives the same ones (see analytics pseudonym-key)',
} as const satisfies Flag

/** A command that shows no times leaves this flag out. */
export const timesFlag = {
  name: 'coarsen-times',
  kind: 'text',
  placeholder: 'precision',
  summary: 'Reduce times to the first day of their day, week or month, in UTC (with --pseudonymise)',
  choices: coarseTimes,
  hasChoicesInSummary: true,
} as const satisfies Flag

const kFlag = {
  name: 'k',
  kind: 'number',
  summary: `Warn of groups of fewer people who share what they could be recognised by (with --pseudonymise; default ${defaultK}, 1 is off)`,
} as const satisfies Flag

const suppressFlag = {
  name: 'suppress-small',
  kind: 'switch',
  summary: 'Leave out the rows of these groups, and say how many (with --pseudonymise)',
} as const satisfies Flag

/** For exports whose rows are about learners, also those that write changes alone. */
export const changedPseudonymFlags = [pseudonymFlag, keyFlag, timesFlag, kFlag] as const

/** For exports of all rows about learners. */
export const pseudonymFlags = [...changedPseudonymFlags, suppressFlag] as const

const maxK = 1000

/** Null without `--pseudonymise`. Throws a UsageError. */
export async function pseudonymisingOf(
  { io }: Pick<Context, 'io'>,
  { flags }: Given,
): Promise<Pseudonymising | null> {
  checkChoices([timesFlag], flags)
  if (flags[pseudonymFlag.name] !== true) {
    const other = pseudonymFlags.find(({ name }) => flags[name] !== undefined)
    if (other) throw new UsageError(`--${other.name} requires --${pseudonymFlag.name}`)
    return null
  }
  const file = flags[keyFlag.name]
  if (file === undefined) {
    throw new UsageError(`--${pseudonymFlag.name} requires --${keyFlag.name} <path>`, {
      hint: 'Create a key with: learnctl analytics pseudonym-key --file pseudonym.key',
    })
  }
  const k = Number(flags[kFlag.name] ?? defaultK)
  if (!Number.isInteger(k) || k < 1 || k > maxK)
    throw new UsageError(`--${kFlag.name} must be an integer from 1 to ${maxK}`)
  const times = flags[timesFlag.name]
  const { readPseudonymKey, Pseudonyms } = await import('./pseudonyms.ts')
  return {
    pseudonyms: new Pseudonyms(readPseudonymKey(io.cwd, String(file))),
    times: times === undefined ? null : (String(times) as CoarseTime),
    k,
    suppressSmall: flags[suppressFlag.name] === true,
  }
}
