import { type Setting, settings } from '../../config/setting.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { twoColumns } from '../terminal/two-columns.ts'
import { globalFlagRows } from './help-text.ts'

/** A text of `learnctl help <topic>`. */
export interface Topic {
  readonly summary: string
  readonly text: () => string
}

/** Every topic by name. */
export const topics: Readonly<Record<string, Topic>> = {
  flags: { summary: 'the flags of every command', text: flagsText },
  environment: { summary: 'the variables that are read', text: environmentText },
  configuration: { summary: 'profiles, files, and what overrides what', text: () => configuration },
  output: { summary: 'formats, columns, lists', text: () => output },
  'exit-codes': { summary: 'what each exit code means', text: exitCodesText },
}

/** The variables besides those of the global flags. */
export const otherVariables: Readonly<Record<string, string>> = {
  LEARNCTL_API_KEY: 'Sign in with this API key',
  LEARNCTL_ACCESS_TOKEN: 'Sign in with this OAuth access token; not together with a key',
  LEARNCTL_CLIENT_SECRET: 'The secret of the application that --client-id names',
  LEARNCTL_CONFIG_DIR: 'Keep profiles in this directory',
  LEARNCTL_TIMEZONE: 'Time zone of days and durations, as --timezone (default UTC)',
  CI: 'Never ask anything, as --no-input',
  NO_COLOR: 'No colour, whatever the terminal can',
  'FORCE_COLOR, CLICOLOR_FORCE': 'Colour, whatever the output is',
  'HTTPS_PROXY, HTTP_PROXY, NO_PROXY': 'Go through a proxy, but to these hosts',
  'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME': 'Where profiles, running servers and academies are kept',
}

function flagsText(): string {
  return `Flags of every command, before or after it:\n\n${twoColumns(globalFlagRows())}
Each has a variable: learnctl help environment
`
}

function environmentText(): string {
  const own = Object.values<Setting>(settings).map(({ variable, summary }) => [variable, summary] as const)
  return `Variables; an empty one counts as unset. A flag overrides its variable.

${twoColumns([...own, ...Object.entries(otherVariables)])}`
}

function exitCodesText(): string {
  const rows = Object.entries(exitCodes).map(([name, { code, when }]) => {
    const spaced = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return [`${String(code).padEnd(3)}  ${spaced}`, when] as const
  })
  return `Exit codes, the same for every command:\n\n${twoColumns(rows)}`
}

const configuration = `Which academy, and which credential

What is named most specifically counts: a flag, then a variable, then the
project file, then the active profile. \`learnctl auth status\` shows what counts
and what it overrides.

A profile is an address with a credential, or a local academy in a database of
this machine, served inside the command itself.

  learnctl auth login --url https://academy.example.org
  learnctl auth login --with-key --url https://academy.example.org < key.txt
  learnctl profiles list
  learnctl profiles use <name>

An access token is refreshed by itself, by one process at a time, until \`learnctl
auth logout\` ends the session. \`learnctl auth token\` prints it.

A stored credential goes only to the origin it was stored for. When a flag or a
variable changes the address, no stored credential is used.

Files
  profiles.json    in LEARNCTL_CONFIG_DIR, else in learnctl/ under
                   XDG_CONFIG_HOME, else at the platform's own place;
                   readable by you alone
  learnctl.json    in the working directory: profile, output, columns, limit,
                   and nothing else
`

const output = `Standard output carries the result alone; notes, questions and errors go to
standard error.

A command that creates or changes something says so in one line on standard
error: Created course Marine Biology (BIO-101). Standard output has its id when it
is no terminal, so that id=$(learnctl courses create …) works. With -o or
--columns it has the record instead. A secret is always printed with its record.

Formats (-o)
  table   aligned and fitted to a terminal: columns without room are left out
          and named on standard error, one thing shows what is set; in a pipe
          tab-separated, in full, without a header, with tab, line ends and
          backslash escaped
  json    one document: the resource, or the array of a list
  jsonl   one JSON value a line
  csv     RFC 4180 with a header, a column for each field of nested objects,
          lists as JSON in one cell. Text that a spreadsheet would take for a
          formula has one ' in front
  yaml    one document

  --columns email,firstName,id   choose and order; the end of a nested field's
                                 name will do: firstName is profile.firstName
  -q, --quiet                    ids only, one a line

Lists show 20 items; --limit 500 shows more, --all everything, page by page as
one valid document. A list that was cut says so on standard error.

Under -o json and jsonl an error is one line of JSON on standard error:
  {"error":{"code","exitCode","message","hint","status","requestId",
            "retryable","details"}}
`
