import { type Setting, settings } from '../../config/setting.ts'
import { mayDiffer, type Target } from '../../config/target.ts'
import type { DateFormat } from '../dataset/cell.ts'
import { UsageError } from '../terminal/errors.ts'

export const effects = {
  academy: 'Creates, changes or deletes what the platform or academy holds',
  elsewhere: 'Changes another system, or sends to it: a spreadsheet, Google Classroom, a receiver of events',
  files: 'Writes files that the command line names',
  machine: 'Changes what learnctl keeps on this machine: profiles, credentials, snapshots, running servers',
} as const

export type Effect = keyof typeof effects

export type FileUse = 'read' | 'write' | 'both'

/** `texts` is repeated once per text, `words` accepts commas as well; `time` is a day, a time or a duration. */
export interface Kinds {
  text: string
  time: string
  number: number
  switch: boolean
  texts: readonly string[]
  words: readonly string[]
}

/** `past` is that long ago, `future` that far ahead, `end` includes its day, and `ago` accepts only a duration. */
type TimeUse = 'past' | 'future' | 'start' | 'end' | 'ago'

export interface Flag {
  /** In kebab-case, without dashes. */
  readonly name: string
  readonly short?: string
  /** Accepted but not listed, as typed: `--former`, `-f`. */
  readonly unlisted?: readonly string[]
  readonly kind: keyof Kinds
  readonly placeholder?: string
  readonly summary: string
  /** Use of a time (default `past`). */
  readonly time?: TimeUse
  /** Nullable: `never` is null. */
  readonly never?: true
  /** Nullable: `none` is null. */
  readonly none?: true
  /** A switch with a `--no-…` form, since its default may be on. */
  readonly negatable?: true
  /** Values that the contract knows. Checked here only for the local academy: other platforms may have more. */
  readonly choices?: readonly string[]
  readonly hasChoicesInSummary?: true
  /** Prompted for on a terminal, refused without one. */
  readonly required?: true
  /** Field that makes a required one optional. */
  readonly unless?: string
  /** Prompted for when the command prompts anyway; an empty answer is the default. */
  readonly asked?: true
  /** Set if its value names a file or folder: what is done with it. */
  readonly file?: FileUse
  readonly writes?: readonly Effect[]
  readonly destructive?: true
  readonly default?: string
}

export type FieldFlag = Omit<Flag, 'kind' | 'name' | 'negatable'> & {
  readonly name?: string
  /** Default `text`. */
  readonly kind?: Flag['kind']
}

/** By field of a body, with a dotted path if it is nested, or by query parameter. */
export type FieldFlags = Readonly<Record<string, FieldFlag>>

/** A dotted path in a body, or a query parameter. */
export interface BoundFlag {
  readonly place: string
  readonly flag: Flag
}

const settingFlags = new Set(Object.values<Setting>(settings).map(({ flag }) => flag))

export function bindQueryFlags(table: FieldFlags = {}): BoundFlag[] {
  const bound = Object.entries(table).map(([place, flag]) => {
    const own = kebab(place)
    return { place, flag, own, name: flag.name ?? own }
  })
  const names = new Set(bound.map(({ name }) => name))
  // A name shared by several fields, or used for something else, is ambiguous.
  const isFree = (own: string) =>
    !names.has(own) && !settingFlags.has(own) && bound.filter((each) => each.own === own).length === 1
  return bound.map(({ place, flag, own, name }) => {
    const unlisted = [...(flag.unlisted ?? []), ...(isFree(own) ? [`--${own}`] : [])]
    return { place, flag: { kind: 'text', ...flag, name, ...(unlisted.length > 0 && { unlisted }) } }
  })
}

/** Returns the flags of a body's fields, each named after the last part of its path; switches are negatable. */
export function bindFieldFlags(table: FieldFlags = {}): BoundFlag[] {
  return bindQueryFlags(table).map(({ place, flag }) => ({
    place,
    flag: flag.kind === 'switch' ? { ...flag, negatable: true } : flag,
  }))
}

/** `assessmentCriteria.passingScore` and `passing_score` become `passing-score`. */
export function kebab(place: string): string {
  const leaf = place.slice(place.lastIndexOf('.') + 1)
  return leaf.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

export const placeholders: Readonly<Record<keyof Kinds, string>> = {
  text: 'text',
  time: 'time',
  number: 'number',
  switch: '',
  texts: 'text',
  words: 'a,b',
}

export const noneText = 'none'

export type FlagValues = Readonly<Record<string, unknown>>

export function textsIn(values: FlagValues, name: string): string[] {
  const texts = values[name]
  return Array.isArray(texts) ? texts.map(String) : []
}

export function isRepeatable({ kind }: Pick<Flag, 'kind'>): boolean {
  return kind === 'texts' || kind === 'words'
}

/** `previous` holds the earlier values of a repeated flag. Throws a UsageError. */
export function parseFlag(flag: Flag, text: string, previous: unknown): unknown {
  const before = Array.isArray(previous) ? previous : []
  switch (flag.kind) {
    case 'number':
      // The command line parser does not accept null as a value.
      if (flag.none && text === noneText) return noneText
      return parseExactNumber(text, `--${flag.name}`)
    case 'texts':
      return [...before, text]
    case 'words':
      return [
        ...before,
        ...text
          .split(',')
          .map((word) => word.trim())
          .filter((word) => word !== ''),
      ]
    default:
      return text
  }
}

/**
 * Parses a finite decimal number; returns a bigint for an integer beyond the exact range of a number. Throws as
 * parseNumber does.
 */
export function parseExactNumber(text: string, name: string): number | bigint {
  const number = parseNumber(text, name)
  const exact = !Number.isInteger(number) || Number.isSafeInteger(number) || !/^[+-]?\d+$/.test(text)
  return exact ? number : BigInt(text.replace('+', ''))
}

function parseNumber(text: string, name: string): number {
  const number = Number(text)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(number)) return number
  const near = text.replace(/%$/, '').replace(',', '.')
  const hint = near !== text && Number.isFinite(Number(near)) ? { hint: `${name} ${near}` } : {}
  throw new UsageError(`${name} must be a number, not ${JSON.stringify(text)}`, hint)
}

export function checkChoices(flags: readonly Flag[], values: FlagValues): void {
  for (const { name, choices } of flags) {
    const value = values[name]
    if (!choices || value === undefined) continue
    const wrong = (Array.isArray(value) ? value : [value]).map(String).find((each) => !choices.includes(each))
    if (wrong === undefined) continue
    throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(wrong)}`, {
      code: 'invalid_choice',
      choice: { given: wrong, valid: choices },
    })
  }
}

export function checkOwnChoices(target: Target, flags: readonly BoundFlag[], values: FlagValues): void {
  if (mayDiffer(target)) return
  checkChoices(
    flags.map(({ flag }) => flag),
    values,
  )
}

export const timeZoneFlag: Flag = {
  name: 'timezone',
  kind: 'text',
  placeholder: 'zone',
  summary: 'Time zone for days and durations, such as Europe/Berlin (default UTC)',
}

/** A period that ends now, for every command whose period has a start. */
export const lastFlag: Flag = {
  name: 'last',
  kind: 'time',
  time: 'ago',
  placeholder: 'duration',
  summary: 'Only the time from this long ago until now: 24h, 30d, 2w, 3mo or 1y; instead of the dates',
}

export function withTimeZone(flags: readonly Flag[]): readonly Flag[] {
  if (!flags.some(({ kind }) => kind === 'time')) return flags
  return [...flags, ...(flags.some(({ time }) => time === 'start') ? [lastFlag] : []), timeZoneFlag]
}

export const planFlags = [
  {
    name: 'plan-out',
    kind: 'text',
    placeholder: 'path',
    file: 'write',
    summary: 'Save the plan to this file and change nothing',
  },
  {
    name: 'plan',
    kind: 'text',
    placeholder: 'path',
    file: 'read',
    summary: 'Carry out a saved plan; refused if its records have changed since (exit 6)',
  },
] as const satisfies readonly Flag[]

export function requirePlanAlone(flags: FlagValues, others: readonly string[], hasFiles: boolean): void {
  if (flags['plan'] === undefined) return
  const other = [...others, 'plan-out'].find((name) => flags[name] !== undefined && flags[name] !== false)
  if (other === undefined && !hasFiles) return
  const what = other === undefined ? 'files' : `--${other}`
  throw new UsageError(`--plan and ${what} cannot be used together`, {
    why: ['A saved plan has everything that it was made with'],
  })
}

export const googleClientIdFlag = {
  name: 'client-id',
  kind: 'text',
  placeholder: 'id',
  summary: 'Client id of your OAuth client',
} as const satisfies Flag

/** Redirect URI of such a client, if it is not of the type Desktop app. */
export const googleRedirectUriFlag = {
  name: 'redirect-uri',
  kind: 'text',
  placeholder: 'uri',
  summary: 'Redirect URI of a client of the type Web application, on this machine',
} as const satisfies Flag

export const browserFlag = {
  name: 'browser',
  kind: 'switch',
  negatable: true,
  summary: 'Open the browser (--no-browser prints the URL)',
} as const satisfies Flag

const dateFormats = [
  'DD.MM.YYYY',
  'DD/MM/YYYY',
  'DD-MM-YYYY',
  'MM/DD/YYYY',
  'YYYY-MM-DD',
  'excel',
] as const satisfies readonly DateFormat[]

export const mappingFlags = [
  {
    name: 'map',
    kind: 'texts',
    placeholder: 'column=field',
    summary:
      'Column of the file that holds a field, such as "Given name=firstName"; nothing after = ignores the column',
  },
  {
    name: 'map-value',
    kind: 'texts',
    placeholder: 'field:value=meaning',
    summary: 'Value of the file and what to read for it, such as role:Lehrer=instructor',
  },
  {
    name: 'mapping',
    kind: 'text',
    placeholder: 'file',
    file: 'read',
    summary: 'Read columns, values, date format, delimiter and encoding from this YAML or JSON file',
  },
  {
    name: 'save-mapping',
    kind: 'text',
    placeholder: 'file',
    file: 'write',
    summary: 'Write the mapping to a new file, for --mapping; adds to the file that --mapping names',
  },
] as const satisfies readonly Flag[]

export const fileFormFlags = [
  {
    name: 'delimiter',
    kind: 'text',
    placeholder: 'character',
    summary: 'Character between cells (default detected)',
  },
  {
    name: 'encoding',
    kind: 'text',
    placeholder: 'name',
    summary: 'Encoding of the file, such as shift_jis or macintosh (default detected)',
  },
  {
    name: 'date-format',
    kind: 'text',
    summary:
      'Format of dates in the file, besides ISO 8601; YYYY-MM-DD for times without a zone, excel for serial numbers such as 45900',
    choices: dateFormats,
  },
] as const satisfies readonly Flag[]
