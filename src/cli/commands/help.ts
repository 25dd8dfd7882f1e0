import type { Command, Given, Host } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { topics } from '../help/help-topics.ts'
import { UsageError } from '../terminal/errors.ts'

/** `learnctl help [topic | command …]` */
export function helpCommand(host: Host): Command {
  return {
    name: 'help',
    summary: 'Show help for a command or topic',
    writes: [],
    prints: ['Help'],
    description: `Topics: ${Object.keys(topics).join(', ')}

--json describes commands as data, for programs and assistants: their arguments and flags with types, choices and
defaults, the JSON Schema of their output, their exit codes, and what they change.`,
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
  { output, io }: Context,
  { rest, flags }: Given,
  { helpOf, commandsAt, manual }: Host,
): Promise<void> {
  if (flags['man'] === true) return output.text(await manual(new Date(io.now()).toISOString().slice(0, 10)))
  if (flags['notices'] === true) return output.text(await readNotices())
  if (flags['json'] === true) {
    const commands = await commandsAt(rest)
    if (commands === null) throw noHelp(rest, 'command')
    const { helpDocument } = await import('../results/help-document.ts')
    return output.document(await helpDocument(commands))
  }
  const [first, ...more] = rest
  const topic = first !== undefined && more.length === 0 ? topics[first] : undefined
  const text = topic ? topic.text() : await helpOf(rest)
  if (text === null) throw noHelp(rest, 'help topic')
  return output.text(text)
}

/** Reads the licences that the build collects; those of Node too in the single-file executable. */
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
