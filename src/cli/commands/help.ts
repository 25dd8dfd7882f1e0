import { type Command, type Given, type Host, noTarget, plainText } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { topics } from '../help/help-topics.ts'
import { UsageError } from '../terminal/errors.ts'

export function helpCommand(host: Host): Command {
  return {
    name: 'help',
    summary: 'Show help for a command or topic',
    writes: [],
    prints: ['Help'],
    description: `Topics: ${Object.keys(topics).join(', ')}

--json describes commands as data, for programs and assistants: their arguments and flags with types, choices and
defaults, the JSON Schema of their output, their exit codes, and what they change; so does -o json or yaml.`,
    arguments: [
      { name: 'topic', summary: 'Topic, command or the beginning of commands', optional: true, rest: true },
    ],
    flags: [
      { name: 'json', kind: 'switch', summary: 'Describe the command, or all of them, as JSON' },
      { name: 'man', kind: 'switch', summary: 'Print the manual page of all commands, learnctl(1)' },
      {
        name: 'notices',
        kind: 'switch',
        summary: 'Print the licences of the software that learnctl contains',
      },
    ],
    refuses: { ...noTarget, ...plainText },
    examples: [
      'help exit-codes',
      'help courses create',
      'help --json courses list',
      'help --man > learnctl.1',
    ],
    run: (context, given) => showHelp(context, given, host),
  }
}

async function showHelp(
  { output, io, settings }: Context,
  { rest, flags }: Given,
  { helpOf, commandsAt, manual }: Host,
): Promise<void> {
  const { value: format, origin } = settings.output
  // A variable chooses the format of results, and help on a terminal is none.
  const isChosen = origin.source === 'flag' && format !== 'table'
  const asData = flags['json'] === true || isChosen
  const text = ['man', 'notices'].find((name) => flags[name] === true)
  if (text !== undefined && asData) {
    throw new UsageError(`--${text} and ${isChosen ? `-o ${format}` : '--json'} cannot be used together`)
  }
  if (text === 'man') return output.text(await manual(new Date(io.now()).toISOString().slice(0, 10)))
  if (text === 'notices') return output.text(await readNotices())
  if (asData) return output.document(await describe(rest, commandsAt))
  const [first, ...more] = rest
  const topic = first !== undefined && more.length === 0 ? topics[first] : undefined
  const help = topic ? topic.text() : await helpOf(rest)
  if (help === null) throw noHelp(rest, 'help topic')
  return output.text(help)
}

async function describe(words: readonly string[], commandsAt: Host['commandsAt']): Promise<unknown> {
  const commands = await commandsAt(words)
  const [first = ''] = words
  if (commands === null && words.length === 1 && Object.hasOwn(topics, first)) {
    throw new UsageError(`The topic ${first} is text, not data`, {
      hint: '`learnctl help --json` has exit codes, global flags, variables and aliases with all commands',
    })
  }
  if (commands === null) throw noHelp(words, 'command')
  const { helpDocument } = await import('../results/output-schemas.ts')
  return helpDocument(commands)
}

/** Includes those of Node in the single-file executable. */
async function readNotices(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const folder = import.meta.url.endsWith('.ts') ? '../../../dist' : '../..'
  return readFile(new URL(`${folder}/THIRD-PARTY-NOTICES.txt`, import.meta.url), 'utf8')
}

function noHelp(words: readonly string[], what: 'command' | 'help topic'): UsageError {
  const valid = what === 'command' ? [] : Object.keys(topics)
  return new UsageError(`No ${what} ${JSON.stringify(words.join(' '))}`, {
    ...(valid.length === 0
      ? { hint: 'See: learnctl --help' }
      : { why: [`Topics: ${valid.join(', ')}`], choice: { given: words[0] ?? '', valid } }),
  })
}
