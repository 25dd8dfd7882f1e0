export const textFormats = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const
/** Output formats of lists and exports that no terminal shows. */
export const binaryFormats = ['parquet', 'xlsx'] as const
export type BinaryFormat = (typeof binaryFormats)[number]
export const formats = [...textFormats, ...binaryFormats] as const
export type Format = (typeof formats)[number]

export function isBinaryFormat(format: string): format is BinaryFormat {
  return format === 'parquet' || format === 'xlsx'
}

export const colourModes = ['auto', 'always', 'never'] as const
export type ColourMode = (typeof colourModes)[number]

/** Durations are in milliseconds. */
export interface Kinds {
  text: string
  names: readonly string[]
  format: Format
  colour: ColourMode
  count: number
  duration: number
  switch: boolean
}
export type Kind = keyof Kinds

export interface Setting {
  readonly kind: Kind
  readonly flag: string
  readonly short?: string
  readonly placeholder?: string
  readonly summary: string
  readonly project?: true
  readonly default: Kinds[Kind] | null
  readonly minimum?: number
}

/** `LEARNCTL_DRY_RUN` for `--dry-run`. */
export function variableOf({ flag }: Pick<Setting, 'flag'>): string {
  return `LEARNCTL_${flag.toUpperCase().replaceAll('-', '_')}`
}

/** In the order of help. Flags, variables and help are derived from this table. */
export const settings = {
  profile: {
    kind: 'text',
    flag: 'profile',
    placeholder: 'name',
    summary: 'Profile to use (default the active one)',
    project: true,
    default: null,
  },
  url: {
    kind: 'text',
    flag: 'url',
    placeholder: 'url',
    summary: 'URL of the platform to use',
    default: null,
  },
  database: {
    kind: 'text',
    flag: 'database',
    placeholder: 'file',
    summary: 'SQLite file of the local academy to use',
    default: null,
  },
  output: {
    kind: 'format',
    flag: 'output',
    short: 'o',
    placeholder: 'format',
    summary: `Output format: ${textFormats.join(', ')} (default table); lists and exports also ${binaryFormats.join(', ')}`,
    project: true,
    default: 'table',
  },
  columns: {
    kind: 'names',
    flag: 'columns',
    placeholder: 'a,b.c',
    summary: 'Columns to show, in order',
    project: true,
    default: null,
  },
  quiet: {
    kind: 'switch',
    flag: 'quiet',
    short: 'q',
    summary: 'Print only the ids of what is listed, made or changed',
    default: false,
  },
  limit: {
    kind: 'count',
    flag: 'limit',
    placeholder: 'number',
    summary: 'Maximum number of items to list (default 20)',
    project: true,
    default: 20,
    minimum: 1,
  },
  all: {
    kind: 'switch',
    flag: 'all',
    summary: 'List all items',
    default: false,
  },
  timeout: {
    kind: 'duration',
    flag: 'timeout',
    placeholder: 'duration',
    summary: 'Time to wait for a response, per attempt (default 30s)',
    default: 30_000,
  },
  retries: {
    kind: 'count',
    flag: 'retries',
    placeholder: 'number',
    summary: 'Maximum retries (default 3)',
    default: 3,
  },
  maxRetryWait: {
    kind: 'duration',
    flag: 'max-retry-wait',
    placeholder: 'duration',
    summary: 'Longest Retry-After to honour (default 60s)',
    default: 60_000,
  },
  dryRun: {
    kind: 'switch',
    flag: 'dry-run',
    summary: 'Print the request without sending it',
    default: false,
  },
  yes: {
    kind: 'switch',
    flag: 'yes',
    summary: 'Skip confirmation prompts',
    default: false,
  },
  noInput: {
    kind: 'switch',
    flag: 'no-input',
    summary: 'Disable all prompts',
    default: false,
  },
  color: {
    kind: 'colour',
    flag: 'color',
    placeholder: 'when',
    summary: `When to use colour: ${colourModes.join(', ')} (default auto)`,
    default: 'auto',
  },
  debug: {
    kind: 'switch',
    flag: 'debug',
    summary: 'Log requests to standard error, with stack traces of errors',
    default: false,
  },
  insecureHttp: {
    kind: 'switch',
    flag: 'insecure-http',
    summary: 'Allow unencrypted http to other machines',
    default: false,
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings

/** Null if a setting without a default is not set. */
export type SettingValues = {
  readonly [Name in SettingName]:
    | Kinds[(typeof settings)[Name]['kind']]
    | ((typeof settings)[Name]['default'] extends null ? null : never)
}
