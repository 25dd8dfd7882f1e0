import {
  binaryFormats,
  colourModes,
  formats,
  type Kind,
  type Setting,
  settings,
  textFormats,
} from '../../config/setting.ts'
import type { Argument, Command } from '../command/command.ts'
import {
  type Effect,
  type FileUse,
  type Flag,
  isRepeatable,
  kebab,
  placeholders,
  timeZoneFlag,
} from '../command/flag.ts'
import { type ExitName, exitCode } from '../terminal/errors.ts'
import { positionsOf } from './help-text.ts'
import { type Schema, schemaOfPrinted } from './printed.ts'

/** A `time` is a day, a time with zone or a duration. */
type ValueType = 'string' | 'number' | 'boolean' | 'time' | 'duration'

export interface ArgumentDescription {
  readonly name: string
  readonly meaning: string
  readonly type: ValueType
  readonly required: boolean
  readonly repeatable?: true
  readonly choices?: readonly string[]
  readonly file?: FileUse
  readonly replacedBy?: readonly string[]
}

export interface FlagDescription {
  /** With its dashes: `--title`. */
  readonly name: string
  readonly short?: string
  readonly meaning: string
  readonly type: ValueType
  /** The value as help names it; absent for a switch. */
  readonly placeholder?: string
  readonly required: boolean
  /** Flag that makes a required one optional. */
  readonly requiredWithout?: string
  readonly repeatable?: true
  readonly commas?: true
  readonly choices?: readonly string[]
  readonly default?: string
  /** Flag that turns a switch off. */
  readonly off?: string
  /** Word that stands for null. */
  readonly null?: string
  readonly file?: FileUse
  /** Kinds of change that this flag adds to those of the command. */
  readonly writes?: readonly Effect[]
  readonly destructive?: true
  readonly variable?: string
  readonly inProjectFile?: true
  /** Former names and synonyms that work as well. */
  readonly alsoAccepted?: readonly string[]
}

export interface CommandDescription {
  /** Words after `learnctl`: `courses list`. */
  readonly command: string
  readonly aliases: readonly string[]
  readonly usage: string
  readonly summary: string
  readonly description?: string
  readonly arguments: readonly ArgumentDescription[]
  readonly flags: readonly FlagDescription[]
  readonly refusedFlags: readonly string[]
  readonly usesAcademy: boolean
  /** Kinds of change that it makes without further flags; empty if it only reads. */
  readonly writes: readonly Effect[]
  readonly destructive: boolean
  /** True if it may ask for confirmation, which `--yes` gives. */
  readonly confirms: boolean
  /** The operation of the API that it calls, if it is one. */
  readonly operation: { readonly id: string; readonly method: string; readonly path: string } | null
  readonly formats: readonly string[]
  /** JSON Schema of what it prints with `-o json`; null if that is no JSON. */
  readonly output: Schema | null
  readonly exitCodes: readonly number[]
  readonly examples: readonly string[]
}

/** Place of the schemas in the document of `help --json`. */
export const schemaPlace = '#/schemas/'

const usualExits = [
  ...(['ok', 'failure', 'usage', 'notFound', 'auth', 'forbidden', 'conflict', 'unavailable'] as const),
  ...(['interrupted', 'terminated'] as const),
] satisfies readonly ExitName[]

/** `path` is its words without `learnctl`, `aliases` are other words for it. */
export async function describeCommand(
  path: string,
  command: Command,
  aliases: readonly string[] = [],
): Promise<CommandDescription> {
  const { summary, description, arguments: positions = [], flags = [], refuses = {} } = command
  const operation = (await command.calls?.operation()) ?? null
  const printed = await printedBy(command)
  const isList = command.hasRows !== undefined || /(^| )list$/.test(command.name) || operation?.list === true
  const all: readonly ExitName[] = [...usualExits, ...(command.exits ?? [])]
  return {
    command: path,
    aliases,
    usage: ['learnctl', path, ...positionsOf(command), '[flags]'].join(' '),
    summary,
    ...(description !== undefined && { description }),
    arguments: positions.map(describeArgument),
    flags: flags.map(describeFlag),
    refusedFlags: Object.entries<Setting>(settings).flatMap(([name, { flag }]) =>
      name in refuses ? [`--${flag}`] : [],
    ),
    usesAcademy: !('profile' in refuses && 'url' in refuses && 'database' in refuses),
    writes: command.writes ?? (operation?.method === 'GET' ? [] : ['academy']),
    destructive: command.destructive === true || operation?.method === 'DELETE',
    confirms: command.confirms === true,
    operation: operation && { id: operation.id, method: operation.method, path: operation.path },
    output: printed.length === 0 ? null : schemaOfPrinted(printed, schemaPlace),
    formats: 'output' in refuses ? [] : [...textFormats, ...(isList ? binaryFormats : [])],
    exitCodes: all.map(exitCode).toSorted((one, other) => one - other),
    examples: (command.examples ?? []).map((line) => `learnctl ${line}`),
  }
}

export async function printedBy(command: Command): Promise<readonly string[]> {
  const { prints, alsoPrints = [], calls, arguments: positions = [] } = command
  if (prints) return prints
  const { shows = null, list } = (await calls?.operation()) ?? {}
  if (shows === null) return alsoPrints
  const isSeveral = positions.some(({ rest }) => rest)
  return [...new Set([...(list ? [] : [shows]), ...(list || isSeveral ? [`${shows}[]`] : []), ...alsoPrints])]
}

function describeArgument({
  name,
  summary,
  optional,
  choices,
  whole,
  rest,
  file,
  instead,
}: Argument): ArgumentDescription {
  return {
    name,
    meaning: summary,
    type: whole ? 'number' : 'string',
    required: !optional,
    ...(rest && { repeatable: true }),
    ...(choices && { choices }),
    ...(file && { file }),
    ...(instead && { replacedBy: instead.map((flag) => `--${flag}`) }),
  }
}

const typeByKind = {
  text: 'string',
  time: 'time',
  number: 'number',
  switch: 'boolean',
  texts: 'string',
  words: 'string',
} as const satisfies Record<Flag['kind'], ValueType>

function describeFlag(flag: Flag): FlagDescription {
  const { name, short, kind, choices, required, unless, negatable, none, never, file, unlisted = [] } = flag
  const writes = flag.writes ?? (file === 'write' || file === 'both' ? ['files' as const] : undefined)
  const placeholder = flag.placeholder ?? placeholders[kind]
  return {
    name: `--${name}`,
    ...(short !== undefined && { short: `-${short}` }),
    meaning: flag.summary,
    type: typeByKind[kind],
    ...(kind !== 'switch' && { placeholder }),
    required: required === true,
    ...(unless !== undefined && { requiredWithout: `--${kebab(unless)}` }),
    ...(isRepeatable(flag) && { repeatable: true }),
    ...(kind === 'words' && { commas: true }),
    ...(choices && { choices }),
    ...(flag.default !== undefined && { default: flag.default }),
    ...(negatable && { off: `--no-${name}` }),
    ...((none || never) && { null: none ? 'none' : 'never' }),
    ...(file && { file }),
    ...(writes && { writes }),
    ...(flag.destructive && { destructive: true }),
    ...(flag === timeZoneFlag && { variable: 'LEARNCTL_TIMEZONE' }),
    ...(unlisted.length > 0 && { alsoAccepted: unlisted }),
  }
}

const typeBySetting = {
  text: 'string',
  names: 'string',
  format: 'string',
  colour: 'string',
  count: 'number',
  duration: 'duration',
  switch: 'boolean',
} as const satisfies Record<Kind, ValueType>

export function describeGlobalFlags(): FlagDescription[] {
  return Object.values<Setting>(settings).map((setting) => ({
    name: `--${setting.flag}`,
    ...(setting.short !== undefined && { short: `-${setting.short}` }),
    meaning: setting.summary,
    type: typeBySetting[setting.kind],
    ...(setting.placeholder !== undefined && { placeholder: setting.placeholder }),
    required: false,
    ...(setting.kind === 'names' && { commas: true as const }),
    ...(setting.kind === 'format' && { choices: formats }),
    ...(setting.kind === 'colour' && { choices: colourModes }),
    variable: setting.variable,
    ...(setting.project && { inProjectFile: true as const }),
  }))
}
