import type { SettingName } from '../../config/setting.ts'

/** Unsupported global flags of a command, each with the reason or an alternative. */
export type Refusals = Readonly<Partial<Record<SettingName, string>>>

/** For a command whose result is not a paged list. */
export const notAList = {
  limit: 'The result is not a paged list',
  all: 'The result is not a paged list',
} as const satisfies Refusals

/** For a command whose result has no columns. */
export const noColumns = { ...notAList, columns: 'The result has no columns' } as const satisfies Refusals

/** For a command whose result is plain text. */
export const plainText = { ...noColumns, quiet: 'The result has no id' } as const satisfies Refusals

/** For a command that uses neither a platform nor an academy. */
export const noTarget = {
  profile: 'This command does not use a platform',
  url: 'This command does not use a platform',
  database: 'This command does not use an academy',
} as const satisfies Refusals
