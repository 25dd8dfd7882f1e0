import type { Command } from '../command/command.ts'
import { UsageError } from '../terminal/errors.ts'

const flag = 'deleted'

/**
 * Adds `--deleted` to a list, which then lists the trash: two operations, one command.
 *
 * @param noun plural noun for messages: `courses`
 */
export function withDeleted(noun: string, list: Command, deleted: Command): Command {
  const taken = new Set(deleted.flags?.map(({ name }) => name))
  const others = (list.flags ?? []).filter(({ name }) => !taken.has(name))
  return {
    ...list,
    flags: [
      ...(list.flags ?? []),
      {
        name: flag,
        kind: 'switch',
        summary: `List deleted ${noun}, which can be restored for 30 days; --since and --until are then about their deletion`,
      },
    ],
    run: async (context, given) => {
      if (given.flags[flag] !== true) return list.run(context, given)
      const refused = others.find(({ name }) => given.flags[name] !== undefined)
      if (refused) throw new UsageError(`--${refused.name} and --${flag} cannot be used together`)
      return deleted.run(context, given)
    },
  }
}
