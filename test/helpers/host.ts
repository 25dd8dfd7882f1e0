import type { Command, Host } from '../../src/cli/command/command.ts'
import { isListed } from '../../src/cli/help/help-text.ts'
import { nouns } from '../../src/cli/program/nouns.ts'

/** Host of commands that are inspected and never run. */
export const host: Host = {
  helpOf: async () => null,
  commandsAt: async () => null,
  manual: async () => '',
  runLine: async () => {},
  parseLine: async () => Promise.reject(new TypeError('this host runs no command')),
  runApart: async () => 0,
}

/** Returns the commands in help, with their words. */
export async function allCommands(): Promise<(readonly [path: string, command: Command])[]> {
  const loaded = Object.entries(nouns).map(async ([noun, { load }]) => {
    const commands = await load(host)
    const named = 'length' in commands ? commands : [commands]
    return named
      .filter(isListed)
      .map((each) => [each.name === noun || each.isDefault ? noun : `${noun} ${each.name}`, each] as const)
  })
  return (await Promise.all(loaded)).flat()
}
