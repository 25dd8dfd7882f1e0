import {
  binaryFormats,
  colourModes,
  formats,
  type Kind,
  type Setting,
  settings,
  textFormats,
  variableOf,
} from '../../config/setting.ts'
import type { Argument, Command } from '../command/command.ts'
import { type Flag, isRepeatable, kebab, placeholders, timeZoneFlag } from '../command/flag.ts'
import { type ExitName, exitCode } from '../terminal/errors.ts'
import { positionsOf } from './help-text.ts'

export const schemaPlace = '#/schemas/'

const usualExits = [
  ...(['ok', 'failure', 'usage', 'notFound', 'auth', 'forbidden', 'conflict', 'unavailable'] as const),
  ...(['interrupted', 'terminated'] as const),
] satisfies readonly ExitName[]

/** `path` is its words without `learnctl`, `aliases` are other words for it. */
export async function describeCommand(path: string, command: Command, aliases: readonly string[] = []) {
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

function describeArgument({ name, summary, optional, choices, whole, rest, file, instead }: Argument) {
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
} as const satisfies Record<Flag['kind'], string>

function describeFlag(flag: Flag) {
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
} as const satisfies Record<Kind, string>

export function describeGlobalFlags() {
  return Object.values<Setting>(settings).map((setting) => ({
    name: `--${setting.flag}`,
    ...(setting.short !== undefined && { short: `-${setting.short}` }),
    meaning: setting.summary,
    type: typeBySetting[setting.kind],
    ...(setting.placeholder !== undefined && { placeholder: setting.placeholder }),
    required: false,
    ...(setting.kind === 'names' && { commas: true }),
    ...(setting.kind === 'format' && { choices: formats }),
    ...(setting.kind === 'colour' && { choices: colourModes }),
    variable: variableOf(setting),
    ...(setting.project && { inProjectFile: true }),
  }))
}

/** A JSON Schema (draft 2020-12). */
export type Schema = Readonly<Record<string, unknown>>

/**
 * Returns the schema of what a command prints: the names of schemas, with `[]` for a list; several are alternatives.
 *
 * @param place place of named schemas: `#/$defs/`
 */
export function schemaOfPrinted(printed: readonly string[], place: string): Schema {
  const schemas = printed.map((name) =>
    name.endsWith('[]')
      ? { type: 'array', items: { $ref: place + name.slice(0, -2) } }
      : { $ref: place + name },
  )
  const [first, ...others] = schemas
  return others.length === 0 && first ? first : { anyOf: schemas }
}
