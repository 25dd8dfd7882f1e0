/** The forms a result can be printed in. */
export const formats = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const
export type Format = (typeof formats)[number]
/** When to colour. */
export const colourModes = ['auto', 'always', 'never'] as const
export type ColourMode = (typeof colourModes)[number]

/** What a setting of each kind holds; durations are milliseconds, counts whole numbers. */
export interface Kinds {
  text: string
  names: readonly string[]
  format: Format
  colour: ColourMode
  count: number
  duration: number
  switch: boolean
}
/** What kind of value a setting has. */
export type Kind = keyof Kinds

/** One global setting: a flag, its variable, and what it means. */
export interface Setting {
  readonly kind: Kind
  readonly flag: string
  readonly short?: string
  readonly variable: string
  /** How its value is shown in help; a switch has none. */
  readonly placeholder?: string
  readonly summary: string
  /** May stand in the project file. */
  readonly project?: true
  readonly default: Kinds[Kind] | null
  /** The smallest count that makes sense. */
  readonly minimum?: number
}

/** Every global setting, in the order of help. The flags, the variables and the help are read from this table. */
export const settings = {
  profile: {
    kind: 'text',
    flag: 'profile',
    variable: 'LEARNCTL_PROFILE',
    placeholder: 'name',
    summary: 'Use this profile instead of the active one',
    project: true,
    default: null,
  },
  url: {
    kind: 'text',
    flag: 'url',
    variable: 'LEARNCTL_URL',
    placeholder: 'address',
    summary: 'Use the platform at this address',
    default: null,
  },
  database: {
    kind: 'text',
    flag: 'database',
    variable: 'LEARNCTL_DATABASE',
    placeholder: 'file',
    summary: 'Use the local academy in this SQLite file',
    default: null,
  },
  output: {
    kind: 'format',
    flag: 'output',
    short: 'o',
    variable: 'LEARNCTL_OUTPUT',
    placeholder: 'format',
    summary: `Print the result as ${formats.join(', ')}`,
    project: true,
    default: 'table',
  },
  columns: {
    kind: 'names',
    flag: 'columns',
    variable: 'LEARNCTL_COLUMNS',
    placeholder: 'a,b.c',
    summary: 'Choose and order the columns',
    project: true,
    default: null,
  },
  quiet: {
    kind: 'switch',
    flag: 'quiet',
    short: 'q',
    variable: 'LEARNCTL_QUIET',
    summary: 'Print ids only',
    default: false,
  },
  limit: {
    kind: 'count',
    flag: 'limit',
    variable: 'LEARNCTL_LIMIT',
    placeholder: 'number',
    summary: 'Show at most this many items of a list',
    project: true,
    default: 20,
    minimum: 1,
  },
  all: {
    kind: 'switch',
    flag: 'all',
    variable: 'LEARNCTL_ALL',
    summary: 'Show all items of a list',
    default: false,
  },
  timeout: {
    kind: 'duration',
    flag: 'timeout',
    variable: 'LEARNCTL_TIMEOUT',
    placeholder: 'duration',
    summary: 'Wait this long for an answer to begin, per attempt (30s)',
    default: 30_000,
  },
  retries: {
    kind: 'count',
    flag: 'retries',
    variable: 'LEARNCTL_RETRIES',
    placeholder: 'number',
    summary: 'Try a failed request this many times more (3)',
    default: 3,
    minimum: 0,
  },
  maxRetryWait: {
    kind: 'duration',
    flag: 'max-retry-wait',
    variable: 'LEARNCTL_MAX_RETRY_WAIT',
    placeholder: 'duration',
    summary: 'Obey a Retry-After of up to this long (60s)',
    default: 60_000,
  },
  dryRun: {
    kind: 'switch',
    flag: 'dry-run',
    variable: 'LEARNCTL_DRY_RUN',
    summary: 'Print the request and send nothing',
    default: false,
  },
  yes: {
    kind: 'switch',
    flag: 'yes',
    variable: 'LEARNCTL_YES',
    summary: 'Do not ask before something is destroyed',
    default: false,
  },
  noInput: {
    kind: 'switch',
    flag: 'no-input',
    variable: 'LEARNCTL_NO_INPUT',
    summary: 'Never ask anything',
    default: false,
  },
  color: {
    kind: 'colour',
    flag: 'color',
    variable: 'LEARNCTL_COLOR',
    placeholder: 'when',
    summary: `Colour the output: ${colourModes.join(', ')}`,
    default: 'auto',
  },
  debug: {
    kind: 'switch',
    flag: 'debug',
    variable: 'LEARNCTL_DEBUG',
    summary: 'Show each request and answer on standard error',
    default: false,
  },
  insecureHttp: {
    kind: 'switch',
    flag: 'insecure-http',
    variable: 'LEARNCTL_INSECURE_HTTP',
    summary: 'Allow plain http to another machine',
    default: false,
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings

/** The value of each setting once it is resolved; null where nothing sets it and there is no default. */
export type SettingValues = {
  readonly [Name in SettingName]:
    | Kinds[(typeof settings)[Name]['kind']]
    | ((typeof settings)[Name]['default'] extends null ? null : never)
}
