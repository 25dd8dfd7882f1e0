import type { Command, Noun } from '../command/command.ts'
import { exitCodes } from '../terminal/errors.ts'
import { flagRow, globalFlagRows, isListed, usageOf } from './help-text.ts'
import { aliasRows, environmentRows, fileRows } from './help-topics.ts'

/** A noun with its commands, or a noun that is a command. */
interface ManualPart {
  readonly name: string
  readonly noun: Noun
  readonly loaded: readonly Command[] | Command
}

/**
 * Formats the manual page learnctl(1) in man(7) macros that both mandoc and groff support.
 *
 * @param date ISO 8601, the date of the page
 */
export function manPage(parts: readonly ManualPart[], { version, date }: { version: string; date: string }) {
  const lines = [
    `.TH LEARNCTL 1 ${date} "learnctl ${version}" "User Commands"`,
    ...section('NAME', ['learnctl \\- the command line for learning platforms']),
    ...section('SYNOPSIS', ['.B learnctl', escapeRoff('<command> [flags]')]),
    ...section('DESCRIPTION', [
      escapeRoff(
        'Manages courses, lessons, users and enrolments, records progress and exports analytics, on a platform that you sign in to or on a local academy in a SQLite file.',
      ),
      '.PP',
      escapeRoff('Begin with: learnctl quickstart'),
    ]),
    ...section('COMMANDS', parts.flatMap(commandsOf)),
    ...section('GLOBAL FLAGS', globalFlagRows().flatMap(row)),
    ...section('ALIASES', aliasRows().flatMap(row)),
    ...section(
      'EXIT STATUS',
      Object.values(exitCodes).flatMap(({ code, when }) => row([`${code}`, when])),
    ),
    ...section('ENVIRONMENT', environmentRows().flatMap(row)),
    ...section('FILES', fileRows.flatMap(row)),
    ...section('SEE ALSO', [
      escapeRoff('learnctl help <topic>: output, configuration, environment, exit-codes'),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH ${title}`, ...lines]
}

function commandsOf({ name, noun, loaded }: ManualPart): string[] {
  // .SS already starts a paragraph.
  if (!('length' in loaded)) return [`.SS ${name}`, ...commandText('learnctl', loaded).slice(1)]
  return [
    `.SS ${name}`,
    escapeRoff(`${noun.summary}.`),
    ...loaded.filter(isListed).flatMap((command) => commandText(`learnctl ${name}`, command)),
  ]
}

function commandText(path: string, command: Command): string[] {
  const { summary, description, arguments: positions = [], flags = [], examples = [] } = command
  const paragraphs = [`${summary}.`, ...(description?.split('\n\n') ?? [])]
  return [
    '.PP',
    `.B ${escapeRoff(`${path} ${usageOf(command)}`)}`,
    '.RS 4',
    ...paragraphs.flatMap((paragraph, index) => [
      ...(index === 0 ? [] : ['.PP']),
      escapeRoff(paragraph.replaceAll('\n', ' ')),
    ]),
    ...positions.flatMap(({ name, summary }) => row([`<${name}>`, summary])),
    ...flags.flatMap((flag) => row(flagRow(flag))),
    ...(examples.length === 0
      ? []
      : ['.PP', '.nf', ...examples.map((line) => escapeRoff(`learnctl ${line}`)), '.fi']),
    '.RE',
  ]
}

function row([term, meaning]: readonly [term: string, meaning: string]): string[] {
  return ['.TP', `.B ${escapeRoff(term.trim())}`, escapeRoff(meaning)]
}

/** Escapes text: no requests, no escapes, no hyphens that become dashes. */
function escapeRoff(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/[^\x20-\x7e]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0
      return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`
    })
  // A quote would start a macro argument; a leading dot or apostrophe would be a request.
  return escaped.replaceAll('"', '\\(dq').replace(/^[.']/, '\\&$&')
}
