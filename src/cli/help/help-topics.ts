import { type Setting, settings, variableOf } from '../../config/setting.ts'
import { nounSynonyms, shortcuts, verbAliases } from '../command/aliases.ts'
import type { Command, Noun } from '../command/command.ts'
import { exitCodes } from '../terminal/errors.ts'
import { twoColumns } from '../terminal/format-text.ts'
import { flagRow, globalFlagRows, isListed, usageOf } from './help-text.ts'

export interface Topic {
  readonly summary: string
  readonly text: () => string
}

export const topics: Readonly<Record<string, Topic>> = {
  flags: { summary: 'Global flags', text: flagsText },
  environment: { summary: 'Environment variables', text: environmentText },
  configuration: { summary: 'Profiles, files and precedence', text: configurationText },
  output: { summary: 'Output formats, columns and lists', text: () => output },
  aliases: { summary: 'Short and other words for commands', text: aliasesText },
  'exit-codes': { summary: 'Exit codes', text: exitCodesText },
}

export const otherVariables: Readonly<Record<string, string>> = {
  LEARNCTL_API_KEY: 'API key to use',
  LEARNCTL_ACCESS_TOKEN: 'OAuth access token to use instead of an API key',
  LEARNCTL_PLATFORM: 'Platform file that describes another platform, instead of that of the profile',
  LEARNCTL_CLIENT_SECRET: 'Client secret of the application given by --client-id',
  LEARNCTL_WEBHOOK_SECRET: 'Webhook secret that webhooks send signs with',
  LEARNCTL_CONFIG_DIR: 'Directory for profiles',
  LEARNCTL_STATE_DIR: 'Directory for logs, the list of running servers and states of exports',
  LEARNCTL_TIMEZONE: 'Time zone for days and durations, as --timezone (default UTC)',
  LEARNCTL_ANNOTATIONS: 'never: no annotations and summaries for GitHub, where GITHUB_ACTIONS is true',
  CI: 'Disable all prompts, as --no-input',
  NO_COLOR: 'Disable colour',
  'FORCE_COLOR, CLICOLOR_FORCE': 'Force colour',
  'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY': 'Proxies to use, and hosts to reach without them',
  NODE_EXTRA_CA_CERTS: 'PEM file of more certificate authorities to trust',
  'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME':
    'Base directories of profiles, state (running servers, logs) and academies',
  XDG_CACHE_HOME: 'Base directory of the files that the single-file executable unpacks',
}

function flagsText(): string {
  return `Global flags, accepted before or after a command:\n\n${twoColumns(globalFlagRows())}
A flag that a command cannot honour is refused (exit 2). Each flag has a
variable: learnctl help environment
`
}

export function environmentRows(): (readonly [name: string, meaning: string])[] {
  const own = Object.values<Setting>(settings).map(
    (setting) => [variableOf(setting), setting.summary] as const,
  )
  return [...own, ...Object.entries(otherVariables)]
}

function environmentText(): string {
  return `Environment variables. A flag overrides its variable; an empty variable counts
as unset.

${twoColumns(environmentRows())}`
}

export function aliasRows(): (readonly [alias: string, command: string])[] {
  const whole = Object.entries(shortcuts).map(([word, path]) => [word, path.join(' ')] as const)
  const verbs = Object.entries(verbAliases).map(([word, aliased]) => [word, aliased.join(', ')] as const)
  return [...whole, ['version', '--version'], ...Object.entries(nounSynonyms), ...verbs]
}

function aliasesText(): string {
  return `Aliases, understood wherever the command itself is. Where several commands are
named, an alias stands for the first that exists: \`keys rm\` is \`keys revoke\`.
Nouns can be singular: \`course list\`, \`webhook endpoint create\`.

${twoColumns(aliasRows())}`
}

function exitCodesText(): string {
  const rows = Object.entries(exitCodes).map(([name, { code, when }]) => {
    const spaced = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return [`${String(code).padEnd(3)}  ${spaced}`, when] as const
  })
  return `Exit codes, the same for every command:\n\n${twoColumns(rows)}`
}

export const fileRows: readonly (readonly [path: string, meaning: string])[] = [
  [
    'profiles.json',
    'profiles and credentials, readable only by you: in LEARNCTL_CONFIG_DIR, else $XDG_CONFIG_HOME/learnctl, else the default directory of the operating system',
  ],
  ['learnctl.json', 'project file in the working directory; can set profile, output, columns and limit'],
  ['local.db', 'the local academy that quickstart creates: in $XDG_DATA_HOME/learnctl, else the default'],
]

function configurationText(): string {
  return `Platform and credential

The most specific setting wins: a flag, then an environment variable, then the
project file, then the active profile. \`learnctl auth status\` shows what is used
and what it overrides.

A profile is the URL of a platform with a credential, or a local academy in a
SQLite file on this machine, which needs no server.

  learnctl auth login --url https://academy.example.org
  learnctl auth login --with-key --url https://academy.example.org < key.txt
  learnctl profiles list
  learnctl profiles use <name>

Access tokens are refreshed automatically until \`learnctl auth logout\` ends the
session. \`learnctl auth token\` prints the current one.

A stored credential is sent only to the origin it was stored for. When a flag or
variable changes the URL, no stored credential is used.

Files
${twoColumns(fileRows)}`
}

const output = `Standard output carries only the result; notes, prompts and errors go to
standard error.

A command that changes something reports it in one line on standard error, such
as: Created course Marine Biology (BIO-101). When standard output is not a
terminal, it gets the id, so that id=$(learnctl courses create …) works; with -o
or --columns it gets the record. A secret is always printed with its record.

Formats (-o)
  table   on a terminal, aligned and wrapped to its width: columns that do not
          fit are left out and named on standard error, and a single item shows
          only what is set. In a pipe, tab-separated with full values and no
          header; tabs, line breaks and backslashes are escaped
  json    one document: the resource, or an array of them
  jsonl   one JSON value per line
  csv     RFC 4180 with a header; nested objects have a column for each field,
          lists are JSON in one cell. Text that a spreadsheet would run as a
          formula is prefixed with '
  yaml    one document

  --columns email,firstName,id   choose and order columns; the last part of a
                                 nested name is enough: firstName for
                                 profile.firstName
  -q, --quiet                    print only the ids of what is listed, made or
                                 changed, one per line; nothing without any

Lists show 20 items; --limit 500 shows more, --all everything, page by page as
one valid document. A note on standard error says when there are more.

With -o json or jsonl, an error is one line of JSON on standard error:
  {"error":{"code","exitCode","message","hint","status","requestId",
            "retryable","details"}}
`

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
