import type { Command, Host } from '../command/command.ts'
import { topics } from '../help/help-topics.ts'
import { UsageError } from '../terminal/errors.ts'

/** `learnctl help [topic | command …]` */
export function helpCommand({ helpOf, manual }: Host): Command {
  return {
    name: 'help',
    summary: 'Show help for a command or topic',
    description: `Topics: ${Object.keys(topics).join(', ')}`,
    arguments: [{ name: 'topic', summary: 'Topic or command', optional: true, rest: true }],
    flags: [{ name: 'man', kind: 'switch', summary: 'Print the manual page of all commands, learnctl(1)' }],
    examples: ['help exit-codes', 'help courses create', 'help --man > learnctl.1'],
    run: async ({ output, io }, { rest, flags }) => {
      if (flags['man'] === true)
        return output.text(await manual(new Date(io.now()).toISOString().slice(0, 10)))
      const [first, ...more] = rest
      const topic = first !== undefined && more.length === 0 ? topics[first] : undefined
      const text = topic ? topic.text() : await helpOf(rest)
      if (text !== null) return output.text(text)
      const valid = Object.keys(topics)
      throw new UsageError(`No help topic ${JSON.stringify(rest.join(' '))}`, {
        why: [`Topics: ${valid.join(', ')}`],
        choice: { given: first ?? '', valid },
      })
    },
  }
}
