import type { Host, Invocation, RunApart } from '../command/command.ts'
import { UsageError } from '../terminal/errors.ts'
import { commandsAt, helpAt, manualPage } from './help-at.ts'

/** Returns the width of help on an output of this width in characters. */
export function widthOf(columns = 80): number {
  return Math.max(40, Math.min(columns, 110))
}

/** The functions that parse load the parser. */
export function createHost(width: number, runApart: RunApart): Host {
  const parse = async (argv: readonly string[], execute: (invocation: Invocation) => Promise<void>) => {
    const { createProgram } = await import('./program.ts')
    await createProgram(host, width, execute).parse(argv)
  }
  const host: Host = {
    helpOf: (path) => helpAt(path, width, host),
    commandsAt: (path) => commandsAt(path, host),
    manual: (date) => manualPage(date, host),
    async runLine(argv, context) {
      const { runCommand } = await import('../command/run-command.ts')
      await parse(argv, (invocation) => runCommand(context, invocation))
    },
    async parseLine(argv) {
      const parsed: Invocation[] = []
      await parse(argv, async (invocation) => void parsed.push(invocation))
      const [invocation] = parsed
      if (!invocation) throw new UsageError('A command is required', { hint: 'See: learnctl --help' })
      return invocation
    },
    runApart,
  }
  return host
}
