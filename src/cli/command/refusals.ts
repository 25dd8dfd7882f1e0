import type { SettingName } from '../../config/setting.ts'

/** Global flags that a command cannot honour, each with the reason or with what to do instead. */
export type Refusals = Readonly<Partial<Record<SettingName, string>>>

/** Of a command whose result is no list of pages. */
export const notAList = {
  limit: 'The result is not a paged list',
  all: 'The result is not a paged list',
} as const satisfies Refusals

/** Of a command whose result has no columns. */
export const noColumns = { ...notAList, columns: 'The result has no columns' } as const satisfies Refusals

/** Of a command whose result is a text as it stands. */
export const plainText = { ...noColumns, quiet: 'The result has no id' } as const satisfies Refusals

/** Of a command that uses neither a platform nor an academy. */
export const noTarget = {
  profile: 'This command does not use a platform',
  url: 'This command does not use a platform',
  database: 'This command does not use an academy',
} as const satisfies Refusals
