import type { Command } from '../command.ts'
import { UsageError } from '../errors.ts'
import { topics } from '../help-topics.ts'
import type { HelpOf } from '../nouns.ts'

/** `learnctl help [topic | command …]` */
export function helpCommand(helpOf: HelpOf): Command {
  return {
    name: 'help',
    summary: 'Explain a command or a topic',
    description: `Topics: ${Object.keys(topics).join(', ')}`,
    arguments: [{ name: 'topic', summary: 'Topic, or words of a command', optional: true, rest: true }],
    examples: ['help exit-codes', 'help courses create'],
    run: async ({ output }, { rest }) => {
      const [first, ...more] = rest
      const topic = first !== undefined && more.length === 0 ? topics[first] : undefined
      const text = topic ? topic.text() : await helpOf(rest)
      if (text !== null) return output.text(text)
      const valid = Object.keys(topics)
      throw new UsageError(`there is no help on ${JSON.stringify(rest.join(' '))}`, {
        why: [`topics: ${valid.join(', ')}`],
        choice: { given: first ?? '', valid },
      })
    },
  }
}
