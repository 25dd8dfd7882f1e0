import { type Setting, settings } from '../../config/setting.ts'
import { type Command, type Noun, schemaFlag, showsSchema } from '../command/command.ts'
import { type Flag, kebab, placeholders } from '../command/flag.ts'
import { twoColumns, wrap, wrapWords } from '../terminal/format-text.ts'

type Row = readonly [term: string, meaning: string]

export const schemaMeaning = 'Show the JSON Schema of the output (-o json)'
const schemaRow: Row = [`    --${schemaFlag}`, schemaMeaning]
const helpFlag: Row = ['-h, --help', 'Show help']

/** Lists nouns by group. Fits a screen of 80 columns and 48 lines. */
export function programHelp(nouns: Readonly<Record<string, Noun>>, width: number): string {
  const groups = [...new Set(Object.values(nouns).map(({ group }) => group))].map((group) => {
    const rows = Object.entries(nouns).flatMap(([name, noun]): Row[] =>
      noun.group === group ? [[name, noun.summary]] : [],
    )
    return section(group, rows, width)
  })
  return page([
    'Usage: learnctl <command> [flags]',
    wrapParagraph('The command line for learning platforms: courses, users, progress, analytics.', width),
    ...groups,
    'More: learnctl <command> --help\n      learnctl help flags|environment|configuration|output|exit-codes|aliases',
  ])
}

export function nounHelp(path: string, summary: string, commands: readonly Command[], width: number): string {
  const rows = commands.filter(isListed).map((command): Row => [usageOf(command), command.summary])
  return page([
    `Usage: learnctl ${path} <command> [flags]`,
    wrapParagraph(`${summary}.`, width),
    section('Commands', rows, width),
    `More: learnctl ${path} <command> --help`,
  ])
}

export function groupHelp(
  path: string,
  summary: string,
  commands: readonly Command[],
  width: number,
): string {
  const word = `${path.split(' ')[1]} `
  const own = commands.filter(({ name }) => name.startsWith(word))
  const named = own.map((command) => ({ ...command, name: command.name.slice(word.length) }))
  return nounHelp(path, summary, named, width)
}

/** `path` includes `learnctl`. */
export function commandHelp(path: string, command: Command, width: number): string {
  const { summary, description, arguments: positions = [], flags = [], examples = [] } = command
  const given = positions.map(({ name, summary }): Row => [name, summary])
  return page([
    `Usage: ${[path, ...positionsOrFlagsOf(command), '[flags]'].join(' ')}`,
    wrapParagraph(`${summary}.`, width),
    ...(description?.split('\n\n').map((paragraph) => wrapParagraph(paragraph, width)) ?? []),
    ...(given.length > 0 ? [section('Arguments', given, width)] : []),
    section('Flags', [...flags.map(flagRow), ...(showsSchema(command) ? [schemaRow] : []), helpFlag], width),
    ...(examples.length > 0
      ? [`Examples:\n${examples.map((line) => exampleText(line, width)).join('\n')}`]
      : []),
    wrapParagraph(`Global flags: learnctl help flags${refusalsText(command)}`, width),
  ])
}

/** Wraps with line continuations. */
function exampleText(line: string, width: number): string {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  // Continuation lines are indented, and every line but the last ends in a backslash.
  return wrapWords(['learnctl', ...words], width - 6)
    .join(' \\\n    ')
    .replace(/^/, '  ')
}

function refusalsText({ refuses = {} }: Command): string {
  const flags = Object.entries<Setting>(settings).flatMap(([name, { flag }]) =>
    name in refuses ? [`--${flag}`] : [],
  )
  return flags.length === 0 ? '' : ` (not supported here: ${flags.join(', ')})`
}

function wrapParagraph(paragraph: string, width: number): string {
  return wrap(paragraph.replaceAll('\n', ' '), width).join('\n')
}

export function isListed({ unlisted }: Command): boolean {
  return unlisted !== true
}

/** `restore <course> <version>`. */
export function usageOf(command: Command): string {
  return [command.name, ...positionsOf(command)].join(' ')
}

export function positionsOf({ arguments: positions = [] }: Command): string[] {
  return positions.map(({ name, optional, rest }) => {
    const word = rest ? `${name}...` : name
    return optional ? `[${word}]` : `<${word}>`
  })
}

/** Returns the arguments; a file with the flags that can replace it: `(<file> | --plan <path>)`. */
function positionsOrFlagsOf(command: Command): string[] {
  const { arguments: positions = [], flags = [] } = command
  return positionsOf(command).map((word, index) => {
    const { name, instead = [] } = positions[index] ?? {}
    const others = name === 'file' ? flags.filter((flag) => instead.includes(flag.name)) : []
    return others.length === 0 ? word : `(${[word, ...others.map(flagText)].join(' | ')})`
  })
}

function flagText({ name, kind, placeholder, negatable }: Flag): string {
  const value = placeholder ?? placeholders[kind]
  return `--${negatable ? '[no-]' : ''}${name}${value === '' ? '' : ` <${value}>`}`
}

export function flagRow(flag: Flag): Row {
  const { short } = flag
  const long = flagText(flag)
  return [short === undefined ? `    ${long}` : `-${short}, ${long}`, meaningOf(flag)]
}

function meaningOf({
  kind,
  summary,
  choices = [],
  hasChoicesInSummary,
  required,
  unless,
  default: standard,
}: Flag): string {
  const values = choices.length > 0 && !hasChoicesInSummary ? `: ${choices.join(', ')}` : ''
  const marks = [
    ...(kind === 'texts' ? ['repeatable'] : []),
    ...(required ? [unless === undefined ? 'required' : `required without --${kebab(unless)}`] : []),
    ...(standard === undefined ? [] : [`default ${standard}`]),
  ]
  return `${summary}${values}${marks.map((mark) => ` (${mark})`).join('')}`
}

export function globalFlagRows(): Row[] {
  return Object.values<Setting>(settings).map(({ flag, short, placeholder, summary }) => {
    const long = placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`
    return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary]
  })
}

function section(title: string, rows: readonly Row[], width: number): string {
  return `${title}:\n${twoColumns(rows, width).trimEnd()}`
}

function page(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`
}
