import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Noun } from '../src/cli/command/command.ts'
import { describeCommand } from '../src/cli/help/describe-command.ts'
import { isListed, usageOf } from '../src/cli/help/help-text.ts'
import { aliasRows, otherVariables } from '../src/cli/help/help-topics.ts'
import { nouns } from '../src/cli/program/nouns.ts'
import { exitCodes } from '../src/cli/terminal/errors.ts'
import { platformJsonSchema } from '../src/client/platform/platform-schema.ts'
import { type Setting, settings, variableOf } from '../src/config/setting.ts'
import { personalSections } from '../src/contract/constants.ts'
import { contract } from '../src/contract/index.ts'
import type { Operation } from '../src/contract/operation.ts'
import { tables } from '../src/tables/dictionary.ts'
import { apiText } from './api-reference.ts'
import { host } from './helpers/host.ts'
import { root } from './helpers/process.ts'
import { code, table, text } from './markdown.ts'

/** The skill for assistants. */
export const skill = 'packaging/skills/learnctl/SKILL.md'

/** Files of the manual, from the root. */
export const manual: readonly string[] = [
  'README.md',
  skill,
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => join('docs', name)),
]

interface Part {
  /** File that contains the part, between two markers with its name. */
  readonly file: string
  readonly make: () => Promise<string>
}

const parts: Readonly<Record<string, Part>> = {
  commands: {
    file: 'docs/commands.md',
    make: commandsText,
  },
  settings: { file: 'docs/configuration.md', make: async () => settingsText() },
  variables: {
    file: 'docs/configuration.md',
    make: async () => table(['Variable', 'Meaning'], Object.entries(otherVariables).map(variableRow)),
  },
  methods: { file: 'docs/client.md', make: async () => methodsText() },
  api: { file: 'docs/api.md', make: async () => apiText() },
  fields: { file: 'docs/data-dictionary.md', make: async () => fieldsText() },
  aliases: {
    file: 'docs/commands.md',
    make: async () =>
      table(
        ['Alias', 'Command'],
        aliasRows().map(([word, path]) => [code(word), code(path)]),
      ),
  },
  'personal-sections': {
    file: 'docs/concepts.md',
    make: async () =>
      table(
        ['Section', 'Has'],
        Object.entries(personalSections).map(([name, has]) => [code(name), text(has)]),
      ),
  },
  'skill-commands': { file: skill, make: skillText },
  'skill-exit-codes': { file: skill, make: async () => exitCodeLines() },
  'exit-codes': {
    file: 'README.md',
    make: async () =>
      table(
        ['Code', 'Name', 'When'],
        Object.entries(exitCodes).map(([name, { code, when }]) => [String(code), spaced(name), text(when)]),
      ),
  },
}

/** Returns a row for each group of methods of the client library. */
function methodsText(): string {
  const rows = Object.entries(contract).map(([group, operations]) => {
    const verbs = Object.entries<Operation>(operations).map(([verb, { path }]) => {
      const given = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      return code(`${verb}(${given.join(', ')})`)
    })
    return [code(group), verbs.join(', ')]
  })
  return table(['Group', 'Methods, with the parameters of their paths'], rows)
}

/** Returns a line for each exit code. */
function exitCodeLines(): string {
  return Object.values(exitCodes)
    .map(({ code, when }) => `- \`${code}\` ${text(when)}`)
    .join('\n')
}

/** Returns a line for each noun with its commands, marked by what they change. */
async function skillText(): Promise<string> {
  const lines = Object.entries(nouns).map(async ([name, { summary, load }]) => {
    const loaded = await load(host)
    const all = 'length' in loaded ? loaded.filter(isListed) : [loaded]
    const marked = await Promise.all(
      all.map(async (command) => {
        const { writes, destructive } = await describeCommand(name, command)
        return `${command.name}${destructive ? '!' : writes.length > 0 ? '*' : ''}`
      }),
    )
    const [only = ''] = marked
    return 'length' in loaded
      ? `- \`${name}\`: ${text(summary)}. ${marked.map(code).join(', ')}`
      : `- ${code(only)}: ${text(summary)}`
  })
  return (await Promise.all(lines)).join('\n')
}

/** Reads a file of the manual. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Returns a file with its generated parts made anew. Throws if the markers of a part are missing. */
export async function withReference(file: string): Promise<string> {
  let result = textOf(file)
  for (const [name, part] of Object.entries(parts).filter(([, part]) => part.file === file)) {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`]
    const [from, to] = [result.indexOf(begin), result.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${file} has no place for ${name}`)
    result = `${result.slice(0, from + begin.length)}${await part.make()}\n${result.slice(to)}`
  }
  return result
}

/** Returns a section for each table of the data dictionary. */
function fieldsText(): string {
  return tables
    .map(({ name, columns }) => {
      const rows = columns.map(({ name, type, unit, meaning, nullMeans, privacy }) => [
        ...[code(name), unit === null || unit === 'percent' || unit === 'UTC' ? type : `${type} (${unit})`],
        ...[text(meaning), text(nullMeans ?? ''), privacy === 'none' ? '' : privacy],
      ])
      return `## ${name}\n\n${table(['Column', 'Type', 'Meaning', 'Null means', 'Person'], rows)}`
    })
    .join('\n\n')
}

/** Returns an overview of the commands, then a section for each noun. */
async function commandsText(): Promise<string> {
  const groups = [...new Set(Object.values(nouns).map(({ group }) => group))].map((group) => {
    const rows = Object.entries(nouns)
      .filter(([, noun]) => noun.group === group)
      .map(([name, { summary }]) => [`[${name}](#${name})`, text(summary)])
    return table([group, 'What it does'], rows)
  })
  const sections = await Promise.all(Object.entries(nouns).map(([name, noun]) => nounText(name, noun)))
  return [...groups, ...sections].join('\n\n')
}

/** The commands of a noun; their flags and examples are in their help. */
async function nounText(name: string, noun: Noun): Promise<string> {
  const loaded = await noun.load(host)
  const listed = 'length' in loaded ? loaded.filter(isListed) : [loaded]
  const rows = listed.map((command) => {
    const path = 'length' in loaded ? [name, usageOf(command)] : [usageOf(command)]
    return [code(path.join(' ')), text(command.summary)]
  })
  return [`## ${name}`, `${text(noun.summary)}.`, table(['Command', 'What it does'], rows)].join('\n\n')
}

function settingsText(): string {
  const rows = Object.values<Setting>(settings).map(({ flag, short, placeholder, summary, project }) => {
    const variable = variableOf({ flag })
    const long = placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`
    return [
      code(short === undefined ? long : `-${short}, ${long}`),
      code(variable),
      text(summary),
      project ? 'yes' : '',
    ]
  })
  return table(['Flag', 'Variable', 'Meaning', 'In `learnctl.json`'], rows)
}

function variableRow([names, meaning]: [string, string]): string[] {
  return [names.split(', ').map(code).join(', '), text(meaning)]
}

function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** The JSON Schema of platform files, and its text. */
export const platformSchema = {
  file: 'docs/platform.schema.json',
  text: `${JSON.stringify(platformJsonSchema(), null, 2)}\n`,
}

if (import.meta.main) {
  writeFileSync(join(root, platformSchema.file), platformSchema.text)
  for (const file of manual) writeFileSync(join(root, file), await withReference(file))
}
